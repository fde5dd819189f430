"""The lines of an alignment: as thick as the weights, and none where there is next to nothing."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core.views import drawings

SHARES = torch.tensor([[0.75, 0.25, 0.0], [0.01, 0.09, 0.9]])


def test_lines_are_as_thick_as_the_shares():
    svg = drawings.alignment(SHARES, ["a", "b"], ["x", "y", "z"]).svg()
    widths = [float(w) for w in re.findall(r'stroke-width="([\d.]+)" stroke-opacity', svg)]
    seen = [share for share in SHARES.flatten().tolist() if share >= 0.04]
    assert len(widths) == len(seen) == 4
    assert widths == pytest.approx([9 * share for share in seen])


def test_under_each_word_stands_its_largest_share():
    drawn = drawings.alignment(SHARES, ["a", "b"], ["x", "y", "z"])
    assert re.findall(r">(0\.\d\d)<", drawn.svg()) == ["0.75", "0.90"]
    assert "“a” looks most at “x” (0.75), “b” at “z” (0.90)" in drawn.alt
