"""Two norms: torch's numbers, and bars and lines that are to scale."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core.views import drawings
from attn_core.views.drawings.drawing import short


@pytest.mark.parametrize("x", [(1, 3, 3, 9), (1, 7), (-5, 2, 0.5), (-3, -1)])
def test_it_says_what_torch_computes(x):
    row = torch.tensor(x, dtype=torch.float64)
    centred = torch.nn.functional.layer_norm(row, row.shape, eps=0)
    scaled = torch.nn.functional.rms_norm(row, row.shape, eps=0)
    alt = drawings.two_norms(x).alt
    for numbers in (centred, scaled):
        assert f": {', '.join(map(short, numbers.tolist()))}." in alt
    assert f"its mean, {short(float(row.mean()))}," in alt


def test_bars_and_lines_are_to_scale():
    svg = drawings.two_norms((1, 3, 3, 9)).svg()
    bars = [
        float(width)
        for width in re.findall(r'width="([\d.]+)" height="20" class="(?:more|less)"', svg)
    ]
    x, centred, scaled = bars[:4], bars[4:8], bars[8:]
    assert x[3] / x[0] == pytest.approx(9, rel=0.03)
    # One scale for both norms.
    assert scaled[3] / centred[3] == pytest.approx(1.8 / (5 / 3), rel=0.03)
    assert svg.count('class="less"') == 3
    lines = re.findall(r'd="M([\d.]+),60 L[\d.]+,[\d.]+" class="(ink|accent)-line"[^>]*dash', svg)
    places = {ink: (float(at) - 10) * 9 / x[3] for at, ink in lines}
    assert places == pytest.approx({"ink": 4, "accent": 5}, rel=0.03)
