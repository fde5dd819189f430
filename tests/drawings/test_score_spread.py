"""The histograms of scores: counted exactly, of one area, alike once divided."""

import re
from itertools import product

import pytest

from attn_core.views import drawings


def bars(svg):
    """(x, width, height) of all bars, left column and right column."""
    rects = [
        tuple(map(float, bar))
        for bar in re.findall(
            r'<rect x="(\S+)" y="\S+" width="(\S+)" height="(\S+)" class="more"', svg
        )
    ]
    middle = 310
    return [b for b in rects if b[0] < middle], [b for b in rects if b[0] > middle]


def test_heights_are_counts_of_all_tosses():
    left, _ = bars(drawings.score_spread([4]).svg())
    scores = [sum(tosses) for tosses in product((1, -1), repeat=4)]
    counts = [scores.count(s) for s in (-4, -2, 0, 2, 4)]
    heights = [bar[2] for bar in left]
    assert heights == pytest.approx([n / counts[2] * heights[2] for n in counts], abs=0.1)


def test_areas_are_alike_once_divided():
    def area(d):
        _, right = bars(drawings.score_spread([d]).svg())
        # A unit lies between two bars.
        return sum((wide + 1) * high for _, wide, high in right)

    assert area(4) == pytest.approx(area(16), rel=0.02)


def test_the_spread_is_the_root_of_the_width():
    alt = drawings.score_spread([1, 9, 100]).alt
    assert "is 1, 3 and 10" in alt
    assert "all three have the spread 1" in alt
