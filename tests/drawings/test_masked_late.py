"""A row masked late and early: the bars are as long as the shares."""

import re

import torch

from attn_core.views import drawings

SEES = torch.tensor([True, True, False])


def lengths(drawing, name):
    rects = re.findall(rf'<rect [^>]*width="([\d.]+)"[^>]*class="{name}"', drawing.svg())
    return torch.tensor([float(wide) for wide in rects])


def test_bars_are_the_shares():
    row = torch.tensor([0.0, 1.0, 0.5])
    all_three, two = torch.softmax(row, dim=0), torch.softmax(row[:2], dim=0)
    drawing = drawings.masked_late(row, SEES, ["a", "b", "c"])
    expected = torch.cat([all_three[:2], all_three[:2], two, two]) * 500
    assert torch.allclose(lengths(drawing, "more"), expected, atol=0.06)
    assert torch.allclose(lengths(drawing, "masked"), all_three[2:] * 500, atol=0.06)
    assert f"sum is {all_three[:2].sum():.4f}" in drawing.alt


def test_a_large_hidden_score_leaves_nothing_to_divide():
    drawing = drawings.masked_late(torch.tensor([0.0, 1.0, 200.0]), SEES, ["a", "b", "c"])
    assert "0/0 = nan" in drawing.svg()
    assert "Divided by this sum: 0/0, which is nan." in drawing.alt
    assert drawing.alt.endswith("With −∞ before softmax: “a” 0.2689, “b” 0.7311.")
    assert len(lengths(drawing, "more")) == 2
