"""What one head can give and what two can: a line between two values, and a whole box."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor

from attn_core.digits import plain
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.margins import check_words

LEFT, TOP = 48, 34
SIDE = 252  # of the longer axis
BESIDE = 24


def within_reach(
    values: Tensor, wanted: Sequence[float], tokens: Sequence[str], *,
    names: tuple[str, str], query: str,
) -> Drawing:  # fmt: skip
    """Two values of two numbers as points: the mixtures of one head, and those of two.

    >>> import torch
    >>> values = torch.tensor([[8.0, 2.0], [4.0, 6.0]])
    >>> within_reach(values, (8, 6), ("Your", "one"), names=("whose", "how many"), query="step")
    Drawing: Two values as points, “Your” at (8, 2) and “one” at (4, 6). One head reaches the line \
between them; two heads reach the box around it. “step” wants (8, 6), which is in the box and not \
on the line: the nearest point of the line is (6, 4).

    Each of two heads mixes one of the two numbers, with weights of its own.

    Args:
        values: two rows of two numbers from 0 up.
        wanted: what the query asks for, two numbers from 0 up.
        tokens: the words of the two values.
        names: what the two numbers say.
        query: the word that asks.

    Taught in chapter 08.
    """
    if tuple(values.shape) != (2, 2) or bool((values < 0).any()):
        raise ValueError(f"values must be two rows of two numbers from 0 up, got {values.tolist()}")
    if len(wanted) != 2 or min(wanted) < 0:
        raise ValueError(f"wanted must be two numbers from 0 up, got {list(wanted)}")
    check_words(tokens, 2)
    first, second = ((float(x), float(y)) for x, y in values.tolist())
    goal = (float(wanted[0]), float(wanted[1]))
    near = nearest(first, second, goal)
    low = tuple(map(min, first, second))
    high = tuple(map(max, first, second))
    on_line = math.dist(near, goal) < 1e-9
    in_box = all(a <= x <= b for a, x, b in zip(low, goal, high, strict=True))
    lies = f"is {'in' if in_box else 'outside'} the box and {'' if on_line else 'not '}on the line"
    more = "" if on_line else f": the nearest point of the line is {pair(near)}"
    ends = [math.floor(max(high[axis], goal[axis])) + 1 for axis in (0, 1)]
    unit = SIDE / max(ends)
    right, ground = LEFT + ends[0] * unit, TOP + ends[1] * unit
    sheet = Drawing(
        WIDEST,
        ground + 50,
        f"Two values as points, “{tokens[0]}” at {pair(first)} and “{tokens[1]}” at "
        f"{pair(second)}. One head reaches the line between them; two heads reach the box around "
        f"it. “{query}” wants {pair(goal)}, which {lies}{more}.",
    )

    def at(point: Sequence[float]) -> tuple[float, float]:
        return LEFT + point[0] * unit, ground - point[1] * unit

    grid(sheet, Box(LEFT, TOP, right - LEFT, ground - TOP), ends, unit, names)
    x, y = at((low[0], high[1]))
    box = Box(x, y, (high[0] - low[0]) * unit, (high[1] - low[1]) * unit)
    sheet.box(
        box.x, box.y, box.width, box.height,
        fill="value-wash", line="value", round=0, dashed=True, opacity=0.8,
    )  # fmt: skip
    sheet.line(at(first), at(second), ink="accent", width=4)
    for token, point in zip(tokens, (first, second), strict=True):
        dot(sheet, at(point), "value")
        x, y = at(point)
        # Outside the box, beyond its own end of the line.
        below = point[1] == low[1]
        sheet.text(token, x, y + (17 if below else -17), "value", bold=True)
    x, y = at(goal)
    sheet.frame(Box(x - 6, y - 6, 12, 12), "query", 3)
    sheet.text(query, x, y - 17, "query", bold=True)
    words = [
        (f"{query} wants {pair(goal)}", "query", True),
        ("one head:", "accent", True),
        ("a point of the line", "ink", False),
        *([] if on_line else [(f"nearest: {pair(near)}", "ink", False)]),
        ("two heads:", "value", True),
        ("any point of the box", "ink", False),
    ]
    y = TOP + 12.0
    for line, ink, bold in words:
        y += 12 if bold and line != words[0][0] else 0
        sheet.text(line, right + BESIDE, y, ink, align="start", bold=bold)
        y += 24
    return sheet


def grid(
    sheet: Drawing, box: Box, ends: Sequence[int], unit: float, names: tuple[str, str]
) -> None:
    """Two axes from 0, with a number at every second line."""
    sheet.grid(box, ends[1], ends[0], "soft", 0.35)
    ground = box.y + box.height
    sheet.line((box.x, box.y), (box.x, ground), (box.x + box.width, ground), width=1.2)
    for n in range(0, ends[0] + 1, 2):
        sheet.text(str(n), box.x + n * unit, ground + 14, "soft")
    for n in range(0, ends[1] + 1, 2):
        sheet.text(str(n), box.x - 9, ground - n * unit, "soft", align="end")
    sheet.text(f"{names[0]} →", box.x + box.width, ground + 36, align="end")
    sheet.text(f"{names[1]} ↑", 6, 14, align="start")


def dot(sheet: Drawing, place: tuple[float, float], ink: str) -> None:
    sheet.box(place[0] - 6, place[1] - 6, 12, 12, fill=ink, round=6)


def nearest(
    first: tuple[float, float], second: tuple[float, float], goal: tuple[float, float]
) -> tuple[float, float]:
    """The point of a line, ends included, that lies nearest.

    >>> nearest((8, 2), (4, 6), (8, 6)), nearest((8, 2), (4, 6), (9, 0))
    ((6.0, 4.0), (8.0, 2.0))
    """
    along = second[0] - first[0], second[1] - first[1]
    long = along[0] ** 2 + along[1] ** 2
    way = (goal[0] - first[0]) * along[0] + (goal[1] - first[1]) * along[1]
    share = min(max(way / long, 0.0), 1.0) if long else 0.0
    return first[0] + share * along[0], first[1] + share * along[1]


def pair(point: Sequence[float]) -> str:
    return f"({', '.join(plain(n) for n in point)})"
