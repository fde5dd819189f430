"""What a pass waits for: the curves are the counts, and thick is the longer time."""

import math
import re

import pytest

from attn_core.views import drawings
from attn_core.views.drawings.pass_times import HIGH, TOP, WIDE, Layer


def lines(svg, ink, width):
    """Each line's points as (doublings, tens above the axis), of both charts one after another."""
    paths = re.findall(rf'd="(M[^"]*)" class="{ink}-line" stroke-width="{width}"', svg)
    return [[tuple(map(float, p.split(","))) for p in re.split(" ?[ML]", d) if p] for d in paths]


def test_the_counts_are_those_of_a_layer():
    d, n, ratio = 64, 100, 50
    multiply_adds = 12 * n * d * d + 2 * n * n * d
    assert Layer(d, ratio).prefill(n)[0] == pytest.approx(multiply_adds / ratio / (12 * d * d))
    read = 12 * d * d + 2 * n * d
    assert Layer(d, ratio).decode(n)[1] == pytest.approx(read / (12 * d * d))
    assert Layer(d, ratio).decode(n)[0] == pytest.approx(read / ratio / (12 * d * d))


@pytest.mark.parametrize(("width", "ratio", "longest"), [(768, 206.0, 65536), (64, 40.0, 4096)])
def test_thick_is_what_the_pass_waits_for(width, ratio, longest):
    drawing = drawings.pass_times(width, ratio, longest)
    layer = Layer(width, ratio)
    turn = layer.turn()
    assert f">{turn:,.0f} words<" in drawing.svg()
    low = math.floor(math.log10(1 / ratio))
    high = math.ceil(math.log10(layer.prefill(longest)[0]))

    def height(time):
        return TOP + HIGH * (1 - (math.log10(time) - low) / (high - low))

    (arithmetic,) = lines(drawing.svg(), "accent", 4)
    reading, in_decode = lines(drawing.svg(), "ink", 4)
    # Prefill reads until it turns, then computes.
    assert reading[-1] == arithmetic[0]
    part = math.log2(turn) / math.log2(longest)
    assert reading[-1][0] - reading[0][0] == pytest.approx(part * WIDE, abs=0.2)
    assert [y for _, y in reading] == pytest.approx([height(1)] * len(reading), abs=0.1)
    assert arithmetic[-1][1] == pytest.approx(height(layer.prefill(longest)[0]), abs=0.1)
    assert in_decode[-1][1] == pytest.approx(height(layer.decode(longest)[1]), abs=0.1)
    assert in_decode[-1][0] - in_decode[0][0] == pytest.approx(WIDE, abs=0.2)
