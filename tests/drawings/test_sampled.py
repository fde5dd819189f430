"""Temperature: the bars are torch's softmax, and their ratios are powers of the first."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core.views import drawings
from attn_core.views.drawings.drawing import WIDEST
from attn_core.views.drawings.sampled import LABELS, RIGHT

SCORES = [math.log(9), math.log(4), 0.0]
NAMES = ["cat", "dog", "mat"]


@pytest.mark.parametrize("temperature", [0.5, 1, 2, 0.7])
def test_bars_are_as_long_as_their_probabilities(temperature):
    svg = drawings.sampled(SCORES, NAMES, [temperature]).svg()
    widths = [float(n) for n in re.findall(r'width="([\d.]+)" height="44" class="more"', svg)]
    scaled = torch.tensor(SCORES, dtype=torch.float64) / temperature
    expected = torch.softmax(scaled, 0) * (WIDEST - LABELS - RIGHT)
    assert widths == pytest.approx(expected.tolist(), abs=0.06)


def test_ratios_are_powers():
    svg = drawings.sampled(SCORES, NAMES, [0.5, 1, 2]).svg()
    assert re.findall(r">([\d :]+ : 1)<", svg) == ["81 : 16 : 1", "9 : 4 : 1", "3 : 2 : 1"]


def test_a_token_that_never_comes_leaves_the_ratio_out():
    alt = drawings.sampled([1000.0, 0.0], ["a", "b"], [1]).alt
    assert alt.endswith("T = 1: 1.000, 0.000.")
