"""Positions as waves: the angles are those of the table, and the same from any start."""

from __future__ import annotations

import math
import re

import pytest

from attn_core.layers import sinusoids
from attn_core.views import drawings

TABLE = sinusoids(25, 32)


@pytest.mark.parametrize(("pairs", "shift"), [((1, 3), 3), ((0, 4), 5)])
def test_the_turn_is_the_rate_times_the_shift(pairs, shift):
    svg = drawings.position_waves(TABLE, pairs, shift=shift).svg()
    turns = [int(n) for n in re.findall(r">(\d+)°<", svg)]
    rates = [10000 ** (-2 * pair / 32) for pair in pairs]
    wanted = [round(math.degrees(rate * shift)) % 360 for rate in rates]
    assert turns == [wanted[0], wanted[0], wanted[1], wanted[1]]


def test_a_table_with_another_rate_turns_otherwise():
    told = drawings.position_waves(TABLE, (1, 3)).alt
    turned = "by 97 degrees from position 2 to 5, and by 97 degrees from position 14 to 17"
    assert f"The hand of pair 1 turns {turned}." in told
    assert "97" not in drawings.position_waves(sinusoids(25, 16), (1, 3)).alt
