"""What one head and two can reach: points, line and box stand at their numbers."""

import re

import pytest
import torch

from attn_core.views import drawings

VALUES = torch.tensor([[8.0, 2.0], [4.0, 6.0]])
WHO = {"tokens": ("Your", "one"), "names": ("whose", "how many"), "query": "step"}


def test_the_line_joins_the_values_and_the_box_surrounds_them():
    svg = drawings.within_reach(VALUES, (8, 6), **WHO).svg()
    unit = 252 / 9  # the longer axis ends one above the largest number
    (line,) = re.findall(r'd="M([\d.]+),([\d.]+) L([\d.]+),([\d.]+)" class="accent-line"', svg)
    x0, y0, x1, y1 = map(float, line)
    assert (x0 - x1, y1 - y0) == pytest.approx((4 * unit, -4 * unit), abs=0.2)
    (box,) = re.findall(
        r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="value-wash"', svg
    )
    left, top, wide, high = map(float, box)
    assert (left, top) == pytest.approx((x1, y1), abs=0.2)
    assert (wide, high) == pytest.approx((4 * unit, 4 * unit), abs=0.2)
    # What step wants is the corner above Your and right of one.
    (wanted,) = re.findall(r'x="([\d.]+)" y="([\d.]+)" width="12" height="12" rx="2"', svg)
    assert [float(n) + 6 for n in wanted] == pytest.approx([x0, y1], abs=0.2)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ((8, 6), "in the box and not on the line: the nearest point of the line is (6, 4)."),
        ((6, 4), "is in the box and on the line."),
        ((9, 0), "outside the box and not on the line: the nearest point of the line is (8, 2)."),
    ],
)
def test_it_says_what_can_be_reached(wanted, says):
    drawing = drawings.within_reach(VALUES, wanted, **WHO)
    assert drawing.alt.endswith(says)
    assert ("nearest:" in drawing.svg()) == ("nearest" in says)
