"""Three tokens as the corners of a triangle, and where attention moves each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import drawsvg
from torch import Tensor

from attn_core.digits import fixed
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Drawing, neat

LEFT, RIGHT, TOP, BOTTOM = 46, 474, 44, 58  # room for the names around the corners
SQUARE, DOT = 5.5, 5
LEGEND = (436, 508)  # where the names and the ways of the legend end

Point = tuple[float, float]


def triangle(record: AttentionTrace, tokens: Sequence[str], *, without: int = 1) -> Drawing:
    """The values of three tokens true to size, an arrow from each to its output.

    >>> from attn_core import toy, trace
    >>> tokens, x = toy.notebook()
    >>> triangle(trace(x, x, x, scale=1.0), tokens)
    Drawing: A triangle with the corners 笔, 记 and 本, in true proportion. An arrow leads from \
each to its output inside the triangle: 笔 moves by 1.0491, 记 by 1.2670, 本 by 0.0170. A dashed \
line leads from 记 to the place on the opposite side where 笔 would go without 记; the output of \
笔 is on this line, 0.0634 of the way from that place to 记.

    However many numbers a value has, three of them lie in one plane, which is drawn.

    Args:
        record: three queries and their own keys; its first sentence and head are drawn.
        tokens: the three names.
        without: to the corner of which token the way of the first other one is shown.

    Taught in chapter 04.
    """
    if record.shape[2:] != (3, 3):
        raise ValueError(f"record must have 3 queries and 3 keys, got {list(record.shape[2:])}")
    if len(tokens) != 3:
        raise ValueError(f"tokens must be 3 names, got {len(tokens)}")
    if not 0 <= without < 3:
        raise ValueError(f"without must be from 0 to 2, got {without}")
    values = record.v.reshape(-1, *record.v.shape[-2:])[0].detach().double()
    weights = record.tile("weights", range(3), range(3)).detach().double()
    corners = corners_of(values)
    moved = (weights @ values - values).norm(dim=-1).tolist()
    first, second = (j for j in range(3) if j != without)
    row = weights[first]
    share = (row[second] / (row[first] + row[second])).item()
    ways = ", ".join(
        f"{name} {'moves ' if n == 0 else ''}by {fixed(way)}"
        for n, (name, way) in enumerate(zip(tokens, moved, strict=True))
    )
    scale, height = fitted(corners)
    sheet = Drawing(
        WIDEST,
        TOP + height + BOTTOM,
        f"A triangle with the corners {tokens[0]}, {tokens[1]} and {tokens[2]}, in true "
        f"proportion. An arrow leads from each to its output inside the triangle: {ways}. A "
        f"dashed line leads from {tokens[without]} to the place on the opposite side where "
        f"{tokens[first]} would go without {tokens[without]}; the output of {tokens[first]} is on "
        f"this line, {fixed(row[without].item())} of the way from that place to {tokens[without]}.",
    )
    low = min(x for x, _ in corners)
    floor = min(y for _, y in corners)

    def at(point: Point) -> Point:
        return LEFT + (point[0] - low) * scale, TOP + height - (point[1] - floor) * scale

    drawn = [at(corner) for corner in corners]
    outline = [neat(n) for corner in drawn for n in corner]
    sheet.add(drawsvg.Lines(*outline, close=True, class_="value-wash"))
    sheet.line(*drawn, drawn[0], ink="value", width=1.2)
    between = mixed(drawn, [1 - share, share], [first, second])
    sheet.line(drawn[without], between, stroke_dasharray="4 4")
    sheet.box(between[0] - 3, between[1] - 3, 6, 6, fill="paper", line="soft", round=3)
    sheet.text(f"without {tokens[without]}", between[0], between[1] + 20, "soft")
    middle = mixed(drawn, [1 / 3] * 3, range(3))
    for j, (corner, name) in enumerate(zip(drawn, tokens, strict=True)):
        sheet.box(
            corner[0] - SQUARE, corner[1] - SQUARE, 2 * SQUARE, 2 * SQUARE, fill="value", round=0
        )
        away = math.dist(corner, middle)
        x, y = (c + 22 * (c - m) / away for c, m in zip(corner, middle, strict=True))
        sheet.text(name, x, y, "value", bold=True)
        end = mixed(drawn, weights[j].tolist(), range(3))
        if math.dist(corner, end) > 20:
            sheet.arrow(corner, end, "accent", gap=DOT + 1)
        sheet.box(end[0] - DOT, end[1] - DOT, 2 * DOT, 2 * DOT, fill="accent", round=DOT)
    sheet.text("moved by", LEGEND[1], 16, "soft", align="end")
    for n, (name, way) in enumerate(zip(tokens, moved, strict=True)):
        sheet.text(name, LEGEND[0], 40 + 22 * n, "value", align="end", bold=True)
        sheet.text(fixed(way), LEGEND[1], 40 + 22 * n, align="end")
    return sheet


def corners_of(values: Tensor) -> list[Point]:
    """Three points of a plane, as far from each other as three vectors are.

    >>> import torch
    >>> corners_of(torch.tensor([[0.0, 0, 0], [0, 0, 3], [4, 0, 0]]))
    [(0.0, 0.0), (0.0, 3.0), (4.0, 0.0)]
    """
    up, along = values[1] - values[0], values[2] - values[0]
    base = along.norm().item()
    x = (up @ along).item() / base if base else 0.0
    y = math.sqrt(max((up @ up).item() - x * x, 0))
    if y < base / 10 or base < y / 10:
        raise ValueError("record must have three values that are not nearly on one line")
    return [(0.0, 0.0), (x, y), (base, 0.0)]


def fitted(corners: Sequence[Point]) -> tuple[float, float]:
    """How large a unit is drawn, and how high the triangle then is."""
    wide = max(x for x, _ in corners) - min(x for x, _ in corners)
    scale = (RIGHT - LEFT) / wide
    return scale, scale * max(y for _, y in corners)


def mixed(points: Sequence[Point], shares: Sequence[float], which: Sequence[int]) -> Point:
    """The mixture of some of the points."""
    x, y = (
        sum(share * points[n][side] for share, n in zip(shares, which, strict=True))
        for side in (0, 1)
    )
    return x, y
