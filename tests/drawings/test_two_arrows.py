"""What the arrows to drag say before anybody drags: true products, true places."""

import re

import pytest

from attn_core.views import drawings


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ((3, 1), (1, 2), "3 · 1 + 1 · 2 = 5. They agree."),
        ((3, 1), (1, -3), "3 · 1 + 1 · (−3) = 0. A right angle."),
        ((-2, 0), (1, 2), "(−2) · 1 + 0 · 2 = −2. They oppose."),
    ],
)
def test_the_product_stands_in_it(a, b, says):
    drawing = drawings.two_arrows(a, b)
    assert drawing.alt.endswith(says)
    product, lean = says.rsplit("= ", 1)[1].split(". ")
    assert f">= {product}<" in drawing.svg()
    assert lean in drawing.svg()


def test_each_arrow_ends_at_its_crossing():
    svg = drawings.two_arrows((3, 1), (-4, -3)).svg()
    lines = re.findall(r'<path d="M158,122 L(\d+),(\d+)" class="\w+-line" stroke-width="3"', svg)
    handles = re.findall(r'<circle cx="(\d+)" cy="(\d+)"', svg)
    assert lines == handles == [("266", "86"), ("14", "230")]
