"""Rotary positions: the scores are those of both vectors rotated by their own positions."""

from __future__ import annotations

import math
import re

import pytest

from attn_core.views import drawings
from attn_core.views.drawings.rotations import rotated, written

RIGHT = math.atan2(0.8, 0.6)


@pytest.mark.parametrize(
    ("query", "key", "angle"), [((1, 0), (1, 0), RIGHT), ((1, 2), (2, -1), 0.3)]
)
@pytest.mark.parametrize("start", [0, 5])
def test_a_score_depends_on_the_distance_alone(query, key, angle, start):
    svg = drawings.rotations(query, key, angle).svg()
    scores = re.findall(r">q·k = ([−\d.]+)<", svg)
    for distance, score in enumerate(scores):
        asks = rotated(query, angle * (start + distance))
        (kx, ky) = rotated(key, angle * start)
        assert score == written(asks[0] * kx + asks[1] * ky)


def test_the_scores_of_the_chapter():
    assert "at distances 0 to 3: 1, 0.6, −0.28, −0.936." in (
        drawings.rotations((1, 0), (1, 0), RIGHT).alt
    )


def test_the_query_rotates_against_the_clock():
    assert "3: 0, 0.8, 0.96, 0.352." in drawings.rotations((1, 0), (0, 1), RIGHT).alt


def test_the_shadow_is_as_long_as_the_score():
    svg = drawings.rotations((1, 0), (1, 0), RIGHT).svg()
    shadows = re.findall(
        r'd="M([\d.]+),92 L([\d.]+),([\d.]+)" class="query-line" stroke-width="9"', svg
    )
    lengths = [(float(end) - float(start)) / 42 for start, end, _ in shadows]
    assert lengths == pytest.approx([1, 0.6, -0.28, -0.936], abs=0.01)
    assert {height for *_, height in shadows} == {"92"}
