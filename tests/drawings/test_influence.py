"""Bars of how strongly c depends on each word: as high as their numbers, each row on its own."""

from __future__ import annotations

import re

import pytest

from attn_core.views import drawings

ROWS = {"never trained": [0.0, 0.5, 2.0], "trained": [0.4, 0.1, 0.2]}


def test_a_bar_is_as_high_as_its_number():
    svg = drawings.influence(ROWS).svg()
    bars = re.findall(r'<rect [^>]*height="([\d.]+)"[^>]*class="(?:accent|more)"', svg)
    high = [float(n) for n in bars]
    highest = max(high)
    assert high[1:3] == [highest / 4, highest]
    assert 0 < high[0] < highest / 20
    assert high[3:] == pytest.approx([highest, highest / 4, highest / 2])


def test_the_first_and_the_last_number_are_written():
    drawing = drawings.influence(ROWS)
    shown = re.findall(r"<text[^>]*>(\d\.\d{3})</text>", drawing.svg())
    assert shown == ["0.000", "2.000", "0.400", "0.200"]
    assert "“trained”: 0.400 on the first, 0.200 on the last." in drawing.alt
