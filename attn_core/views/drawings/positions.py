"""Positions as waves, and what a shift does to them: it turns each pair by a fixed angle."""

from __future__ import annotations

import math
from collections.abc import Sequence

import drawsvg
from torch import Tensor

from attn_core.views.drawings.drawing import WIDEST, Drawing, neat

LEFT, LONG, HIGH = 30, 268, 44  # of the curves; HIGH is half
RADIUS = 40
ROW = 148
FINE = 4  # points of a curve from one position to the next


def position_waves(
    table: Tensor, pairs: Sequence[int] = (0, 1), *, starts: Sequence[int] = (2, 14), shift: int = 3
) -> Drawing:
    """Two pairs of columns as curves and as hands of a clock: the same shift is the same turn.

    >>> from attn_core.layers import sinusoids
    >>> position_waves(sinusoids(20, 32), (1, 3))
    Drawing: Two pairs of columns are each drawn as two waves, a sine and a cosine, and as a hand \
on a circle. The hand of pair 1 turns by 97 degrees from position 2 to 5, and by 97 degrees from \
position 14 to 17. The hand of pair 3, which is slower, turns by 31 degrees from position 2 to 5, \
and by 31 degrees from position 14 to 17. A shift by 3 is the same turn wherever it starts.

    Args:
        table: the positional encoding [positions, width].
        pairs: two pairs of its columns, the slower one last.
        starts: two positions.
        shift: how far it is from each of them to the other arrow.

    Taught in chapter 09.
    """
    last, wide = len(table) - 1, table.shape[1] // 2
    if len(pairs) != 2 or not all(0 <= pair < wide for pair in pairs):
        raise ValueError(f"pairs must be two from 0 to {wide - 1}, got {list(pairs)}")
    if len(starts) != 2 or not all(0 <= start <= last - shift for start in starts):
        raise ValueError(f"starts must be two from 0 to {last - shift}, got {list(starts)}")
    hands = [[angle(table, pair, p) for p in range(last + 1)] for pair in pairs]
    turns = [
        [round(math.degrees((hand[s + shift] - hand[s]) % math.tau)) for s in starts]
        for hand in hands
    ]
    ways = [(s, s + shift) for s in starts]
    spins = [
        ", and ".join(
            f"by {by[n]} degrees from position {a} to {b}" for n, (a, b) in enumerate(ways)
        )
        for by in turns
    ]
    sheet = Drawing(
        WIDEST,
        2 * ROW + 26,
        "Two pairs of columns are each drawn as two waves, a sine and a cosine, and as a hand on a "
        f"circle. The hand of pair {pairs[0]} turns {spins[0]}. The hand of pair {pairs[1]}, which "
        f"is slower, turns {spins[1]}. A shift by {shift} is the same turn wherever it starts.",
    )
    for n, hand in enumerate(hands):
        middle = 34 + n * ROW + HIGH
        step = LONG / last
        rate = (hand[1] - hand[0]) % math.tau
        sheet.text(f"pair {pairs[n]}", LEFT, middle - HIGH - 16, bold=True, align="start")
        sheet.line((LEFT, middle), (LEFT + LONG, middle), width=0.8)
        for name, ink, ahead in (("sine", "accent", 0), ("cosine", "soft", math.pi / 2)):
            curve = [
                (LEFT + p / FINE * step, middle - HIGH * math.sin(rate * p / FINE + ahead))
                for p in range(last * FINE + 1)
            ]
            sheet.line(*curve, ink=ink, width=2)
            x = LEFT + (80 if ahead == 0 else 140)
            sheet.text(name, x, middle - HIGH - 16, ink, align="start")
        for k, (start, end) in enumerate(ways):
            clock(sheet, LEFT + LONG + 58 + k * 112, middle, hand[start], hand[end], turns[n][k])
            sheet.text(f"{start} → {end}", LEFT + LONG + 58 + k * 112, middle - HIGH - 16)
            for p in (start, end):
                for ahead in (0, math.pi / 2):
                    y = middle - HIGH * math.sin(hand[p] + ahead)
                    dot = LEFT + p * step
                    ink = "soft" if ahead else "accent"
                    sheet.add(drawsvg.Circle(neat(dot), neat(y), 3.6, class_=ink))
    for p in (p for way in ways for p in way):
        sheet.text(str(p), LEFT + p * LONG / last, 2 * ROW + 14, "soft")
    sheet.text("position", LEFT + LONG + 12, 2 * ROW + 14, "soft", align="start")
    return sheet


def clock(sheet: Drawing, x: float, y: float, start: float, end: float, turn: int) -> None:
    """Two hands on a circle, and the wedge between them; an angle's sine is its height."""
    sheet.add(drawsvg.Circle(neat(x), neat(y), RADIUS, class_="soft-line", stroke_width=1))
    wide = (end - start) % math.tau
    fan = [start + wide * n / 12 for n in range(13)]
    corners = [neat(c) for a in fan for c in at(x, y, a, 0.55)]
    sheet.add(drawsvg.Lines(neat(x), neat(y), *corners, close=True, class_="more"))
    for hand, ink in ((start, "soft"), (end, "ink")):
        sheet.arrow((x, y), at(x, y, hand), ink, gap=0, width=2)
    sheet.text(f"{turn}°", x, y + RADIUS + 13)


def at(x: float, y: float, hand: float, far: float = 1) -> tuple[float, float]:
    return x + far * RADIUS * math.cos(hand), y - far * RADIUS * math.sin(hand)


def angle(table: Tensor, pair: int, position: int) -> float:
    """Of the hand whose sine and cosine the table has."""
    sine, cosine = table[position, 2 * pair : 2 * pair + 2].tolist()
    return math.atan2(sine, cosine)
