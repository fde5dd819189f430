"""Sizes: areas are to scale, and the numbers are n² and 2nd."""

from __future__ import annotations

import re

import pytest

from attn_core.views import drawings


@pytest.mark.parametrize(("lengths", "width"), [((64, 128, 256), 64), ((32, 128), 16)])
def test_areas_are_to_scale(lengths, width):
    svg = drawings.map_sizes(lengths, width).svg()
    areas = {
        fill: [
            float(wide) * float(high)
            for wide, high in re.findall(
                rf'<rect [^>]*width="([\d.]+)" height="([\d.]+)" class="{fill}"', svg
            )
        ]
        for fill in ("query-wash", "more")
    }
    for n, q, cells in zip(lengths, *areas.values(), strict=True):
        assert cells / q == pytest.approx(n / width, rel=0.02)
    for n in lengths:
        assert f">{n * n:,}<" in svg
        assert f">{2 * n * width:,}<" in svg
