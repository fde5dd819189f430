"""What a live notebook pays for: no picture that nobody sees, no matplotlib before a picture."""

import json
import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

from attn_core import views

EXPLORE = """
import json, sys
from attn_core import toy, trace
from attn_core.views import explore

words = toy.journey()
view = explore(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
data, metadata = get_ipython().display_formatter.format(view)
print(json.dumps([sorted(data), "matplotlib" in sys.modules]))
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def printed(client, code, **options):
    """What a cell prints, sent as a front end sends it."""
    texts = []

    def hear(message):
        assert message["msg_type"] != "error", "\n".join(message["content"]["traceback"])
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])

    client.execute_interactive(code, output_hook=hear, **options)
    return "".join(texts)


@pytest.mark.parametrize("has_reader", [True, False])
def test_a_still_is_drawn_only_where_no_person_sees_the_explorer(kernel, has_reader):
    """A front end with a person says that it can be asked for input."""
    names, has_drawn = json.loads(printed(kernel, EXPLORE, allow_stdin=has_reader))
    stored = ["text/html", "text/plain"] if has_reader else ["image/png", "text/html", "text/plain"]
    assert names == [WIDGET, *stored]
    assert has_drawn == (not has_reader)


def test_importing_the_views_loads_no_matplotlib():
    code = "import sys, attn_core.views; print('matplotlib' in sys.modules, 'PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_figure_and_picture_are_there_when_asked_for():
    code = (
        "import attn_core.views.still; from attn_core.views import Picture, figure; "
        "print(callable(figure), Picture.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "Picture"]


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(AttributeError, match=r"module 'attn_core\.views' has no attribute 'maps'"):
        _ = views.maps
