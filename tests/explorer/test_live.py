"""What a live notebook pays for: no picture that nobody sees, no matplotlib before a picture."""

import subprocess
import sys

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from attn_core import views

pytestmark = pytest.mark.gate

EXPLORE = """
import sys
from attn_core import toy, trace
from attn_core.views import explore

words = toy.journey()
view = explore(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
"""
HAS_DRAWN = "print('matplotlib' in sys.modules)"
PAGE_IS_LIVE = "view._handle_custom_msg({'kind': 'live'}, [])"  # as widget.js says it
WIDGET = "application/vnd.jupyter.widget-view+json"
STORED = ["text/html", "text/plain"]


@pytest.fixture
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code, **options):
    """What a cell, sent as a front end sends it, prints or shows: the kinds of each output."""
    outputs = []

    def hear(message):
        content = message["content"]
        assert message["msg_type"] != "error", "\n".join(content["traceback"])
        if message["msg_type"] == "stream":
            outputs.append(content["text"])
        elif message["msg_type"] in ("display_data", "update_display_data", "execute_result"):
            outputs.append(sorted(content["data"]))

    client.execute_interactive(code, output_hook=hear, **options)
    return outputs


@pytest.mark.parametrize("has_reader", [True, False])
def test_a_still_is_drawn_only_where_no_person_sees_the_explorer(kernel, has_reader):
    """A front end with a person says that it can be asked for input."""
    shown = run(kernel, f"{EXPLORE}\nview", allow_stdin=has_reader)
    assert shown == [[WIDGET if has_reader else "image/png", *STORED]]
    assert run(kernel, HAS_DRAWN) == [f"{not has_reader}\n"]


def test_no_widget_view_is_stored_once_a_page_makes_elements_alive(kernel):
    """JupyterLab shows an error for a view that it finds in a notebook opened again."""
    run(kernel, f"{EXPLORE}\nview")
    assert run(kernel, PAGE_IS_LIVE) == [STORED]
    assert run(kernel, "view") == [STORED]


def test_a_page_of_nbconvert_has_the_table_in_place_of_a_view_that_needs_a_network():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"{EXPLORE}\nview")])
    NotebookClient(notebook, store_widget_state=True).execute()
    assert notebook.metadata["widgets"]
    html, _ = HTMLExporter().from_notebook_node(notebook)
    assert html.count(" bgcolor=") == 36
    assert f'<script type="{WIDGET}">' not in html


LARGE = """
import torch
from attn_core.views import stay_alive
q = torch.linspace(0, 9, 76_800).sin().view(1, 4, 300, 64)
large = explore(trace(q, q, q), name="large")
"""


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_page_of_nbconvert_stays_alive_offline_if_asked(is_alive, browser, tmp_path):
    cells = [f"{EXPLORE}{LARGE}\nstay_alive({is_alive})", "view", "large"]
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]
    notebook = nbformat.v4.new_notebook(cells=made)
    NotebookClient(notebook, store_widget_state=True).execute()
    html, _ = HTMLExporter().from_notebook_node(notebook)
    path = tmp_path / "exported.html"
    path.write_text(html, encoding="utf-8")
    page, heard = browser.new_context(offline=True).new_page(), []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    roots = page.locator("attention-explorer > .ax-root")
    if is_alive:
        page.locator('.ax-cell[data-row="2"][data-col="1"]').first.click()
        expect(page.locator(".ax-sentence").first).to_contain_text("Query starts gives")
        page.locator("attention-explorer").last.scroll_into_view_if_needed()
        expect(page.locator("canvas.ax-canvas")).to_be_visible()
    expect(roots).to_have_count(2 if is_alive else 0)
    assert [error for error in heard if "attention" in error] == []
    page.context.close()


def said(code):
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_views_loads_no_matplotlib():
    code = "import sys, attn_core.views; print('matplotlib' in sys.modules, 'PIL' in sys.modules)"
    assert said(code) == ["False", "False"]


def test_figures_leave_pyplot_alone():
    figure = "from attn_core.views import figure; figure(view.record).png()"
    assert said(f"{EXPLORE}\n{figure}; print('matplotlib.pyplot' in sys.modules)") == ["False"]


def test_figure_and_picture_are_there_when_asked_for():
    first = "import attn_core.views.still; from attn_core.views import Picture, figure; "
    assert said(f"{first}print(callable(figure), Picture.__name__)") == ["True", "Picture"]


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(AttributeError, match=r"module 'attn_core\.views' has no attribute 'maps'"):
        _ = views.maps
