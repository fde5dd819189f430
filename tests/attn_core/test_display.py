"""What IPython gets of an explorer under ipywidgets 7, as Colab has it, and 8."""

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
