"""Fast memory: what is counted is what a loop over tiles and blocks reads and writes."""

from __future__ import annotations

import re

import pytest

from attn_core.views import drawings


def counted(words: int, width: int, rows: int) -> tuple[int, int]:
    """The numbers that move: tile by tile, and with a map that lies in slow memory."""
    passed = 0
    for start in range(0, words, rows):
        held = min(rows, words - start)
        passed += held * width  # q is read
        passed += 2 * words * width  # so are all keys and values
        passed += held * width  # the output is written
    read = 2 * words * width + words**2 + words**2 + words * width  # q and k, scores, weights, v
    return passed, read + words**2 + words**2 + words * width


@pytest.mark.parametrize("sizes", [(4096, 64, 256), (1024, 128, 100), (64, 8, 64)])
def test_what_moves_is_counted(sizes):
    drawing = drawings.fast_memory(*sizes)
    told = re.findall(r"([\d,]+) numbers move\. .* map, ([\d,]+) numbers move\.", drawing.alt)
    assert [tuple(int(n.replace(",", "")) for n in told[0])] == [counted(*sizes)]
    for count in counted(*sizes):
        assert f" {count:,} numbers move<" in drawing.svg()


def test_its_bars_are_to_scale():
    svg = drawings.fast_memory().svg()
    bars = re.findall(r'<rect x="8" [^>]*width="([\d.]+)" height="14"', svg)
    passed, whole = counted(4096, 64, 256)
    assert len(bars) == 2
    assert float(bars[0]) / float(bars[1]) == pytest.approx(passed / whole, rel=0.01)


def test_with_one_tile_everything_moves_once():
    drawing = drawings.fast_memory(64, 8, 64)
    assert "k and v are read once" in drawing.alt
    assert drawing.svg().count(">once<") == 4
