"""What a notebook gets: the bundle of an explorer, under ipywidgets 7 and 8; no warnings."""

import ipywidgets
import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from attn_core import trace
from attn_core.views import explore


@pytest.mark.parametrize("asks_for_bundles", [True, False])
def test_a_stored_output_has_a_table_and_a_picture(monkeypatch, asks_for_bundles):
    """ipywidgets 7 displays the view alone, by a method that IPython asks before all others."""
    if not asks_for_bundles:
        monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", print, raising=False)
    x = torch.eye(3)
    data, _ = DisplayFormatter().format(explore(trace(x, x, x)))
    assert sorted(data) == ["image/png", "text/html", "text/plain"]


# Of scripts with and without a font, joined, of the private use area; what leaves no ink.
TOKENS = [
    "你",
    "한국",
    "עברית",
    "عربي",
    "हिन्दी",
    "ไทย",
    "👩‍💻",
    "\ue000",
    "$x$",
    "\x07",
    "\ud800",
    "",
]


@pytest.mark.gate
@pytest.mark.parametrize("token", TOKENS, ids=ascii)
def test_no_token_makes_a_picture_write_into_the_notebook(token, caplog):
    """Warnings are errors here; matplotlib says of fonts what it has to say in its log."""
    x = torch.eye(2)
    for select in ((0, 1), (1, 0)):
        view = explore(trace(x, x, x), tokens=[token, "word"], select=select, head_names=["头"])
        assert view.picture.png()
    assert caplog.records == []
