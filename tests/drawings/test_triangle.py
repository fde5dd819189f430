"""The triangle of three tokens: true to size, and each output where its weights put it."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core import toy, trace
from attn_core.views import drawings

TOKENS, X = toy.notebook()
RECORD = trace(X, X, X, scale=1.0)


def places(drawing, kind):
    """The middles of its squares (value) or of its dots (accent)."""
    rects = re.findall(
        rf'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" [^>]*class="{kind}"', drawing.svg()
    )
    return [(float(x) + float(w) / 2, float(y) + float(w) / 2) for x, y, w in rects]


def apart(points):
    return [math.dist(points[i], points[j]) for i, j in ((0, 1), (0, 2), (1, 2))]


@pytest.mark.parametrize(
    "values",
    [X, torch.eye(3), torch.tensor([[0.0, 0.0], [-1.0, 2.0], [3.0, 1.0]])],
    ids=["the chapter", "all alike", "beyond the base"],
)
def test_corners_are_as_far_apart_as_the_values(values):
    drawn = apart(places(drawings.triangle(trace(X, X, values), TOKENS), "value"))
    real = apart(values.tolist())
    scale = drawn[0] / real[0]
    assert drawn == pytest.approx([scale * way for way in real], abs=0.3)


def test_an_output_lies_where_its_weights_put_it():
    drawing = drawings.triangle(RECORD, TOKENS)
    corners = torch.tensor(places(drawing, "value"), dtype=torch.float64)
    expected = RECORD.stage("weights").double() @ corners
    assert torch.allclose(
        torch.tensor(places(drawing, "accent"), dtype=torch.float64), expected, atol=0.11
    )


def test_how_far_each_has_moved_stands_in_it():
    drawing = drawings.triangle(RECORD, TOKENS)
    ways = [f"{n:.4f}" for n in (RECORD.output - X).norm(dim=-1).tolist()]
    assert re.findall(r">(\d\.\d{4})<", drawing.svg()) == ways
    for token, way in zip(TOKENS, ways, strict=True):
        assert re.search(rf"{token}[a-z ]* by {way}", drawing.alt)


@pytest.mark.parametrize("without", [0, 1, 2])
def test_the_dashed_line_goes_through_the_output(without):
    drawing = drawings.triangle(trace(X, X, X), TOKENS, without=without)
    first = 1 if without == 0 else 0
    start, end = places(drawing, "value")[without], places(drawing, "paper")[-1]
    row = trace(X, X, X).stage("weights")[first].tolist()
    on_it = [e + row[without] * (s - e) for s, e in zip(start, end, strict=True)]
    assert places(drawing, "accent")[first] == pytest.approx(on_it, abs=0.15)


def test_who_hardly_moves_has_no_arrow():
    assert drawings.triangle(RECORD, TOKENS).svg().count(" Q") == 2
