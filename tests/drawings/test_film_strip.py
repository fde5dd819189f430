"""A film strip: a map for each step and layer, and curves below the middles of their maps."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core.views import drawings

OWN, FIRST = torch.eye(3), torch.tensor([[1.0, 0, 0]]).repeat(3, 1)
FRAMES = {0: [FIRST, OWN], 50: [OWN, OWN], 100: [OWN, FIRST]}
LOSSES = {"first": [(0, 2.0), (100, 2.0)], "repeats": [(0, 2.0), (50, 1.0), (100, 0.0)]}


def test_each_weight_that_is_not_0_is_a_cell():
    svg = drawings.film_strip(FRAMES, LOSSES).svg()
    assert len(re.findall(r'class="more"', svg)) == 6 * 3
    assert [svg.count(f">layer {n}<") for n in range(3)] == [1, 1, 0]


def test_a_step_of_the_losses_is_below_the_middle_of_its_map():
    svg = drawings.film_strip(FRAMES, LOSSES).svg()
    maps = re.findall(r'<rect x="([\d.]+)" y="34" width="([\d.]+)" [^>]*class="soft-line"', svg)
    middles = [float(x) + float(wide) / 2 for x, wide in maps]
    (path,) = re.findall(r'd="M([^"]+)" class="accent-line"', svg)
    points = [tuple(map(float, point.split(","))) for point in path.split(" L")]
    assert [x for x, _ in points] == pytest.approx(middles, abs=0.2)
    heights = [y for _, y in points]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1])
    assert heights[0] < heights[2], "a smaller loss is lower"


def test_its_words_name_steps_and_ends():
    alt = drawings.film_strip(FRAMES, LOSSES).alt
    assert alt.startswith("A film strip of 2 layers at the steps 0, 50, 100: a map of 3 × 3")
    assert alt.endswith("first from 2 to 2; repeats from 2 to 0.")
