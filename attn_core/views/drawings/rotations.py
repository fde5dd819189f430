"""Rotary positions: the further the key, the further the query is rotated against it."""

from __future__ import annotations

import math

import drawsvg

from attn_core.digits import plain
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus, neat

RADIUS = 42
TOP = 92  # the middle of the circles
LABEL = 15  # from an arrow's tip to its name


def rotations(
    query: tuple[float, float], key: tuple[float, float], angle: float, distances: int = 4
) -> Drawing:
    """A circle for each distance: the key stays, the query is rotated; below it their score.

    >>> rotations((1, 0), (1, 0), math.atan2(0.8, 0.6))
    Drawing: A query and a key on 4 circles. The query is rotated by 53 degrees for each word of \
distance, the key is not. Their scores at distances 0 to 3: 1, 0.6, −0.28, −0.936.

    Rotating the query by the distance alone is the same as rotating both by their own positions:
    (R_m q)·(R_n k) = (R_(m−n) q)·k, for a rotation R and a query at m. A thick line on the key's
    line is the shadow of the query: shadow times the key's length is the score.

    Args:
        query: one pair of numbers of q.
        key: the same pair of k.
        angle: by how much a pair rotates from one position to the next, in radians.
        distances: how many, from 0 on, two to four.

    Source: Su et al. (2021), section 3.2.

    Taught in chapter 12.
    """
    lengths = {"query": math.hypot(*query), "key": math.hypot(*key)}
    for name, length in lengths.items():
        if not length:
            raise ValueError(f"{name} must have a length, got only zeros")
    if not 2 <= distances <= 4:
        raise ValueError(f"distances must be from 2 to 4, got {distances}")
    queries = [rotated(query, angle * n) for n in range(distances)]
    scores = [written(q[0] * key[0] + q[1] * key[1]) for q in queries]
    sheet = Drawing(
        WIDEST,
        TOP + RADIUS + 80,
        f"A query and a key on {distances} circles. The query is rotated by "
        f"{degrees(angle)} degrees for each word of distance, the key is not. Their scores at "
        f"distances 0 to {distances - 1}: {', '.join(scores)}.",
    )
    unit = RADIUS / max(lengths.values())
    for n, q in enumerate(queries):
        x = WIDEST * (n + 0.5) / distances
        sheet.text(f"distance {n}", x, 18, bold=True)
        sheet.add(drawsvg.Circle(neat(x), TOP, RADIUS, class_="soft-line", stroke_width=1))
        wedge(sheet, x, query, angle * n)
        shadow = (q[0] * key[0] + q[1] * key[1]) / lengths["key"] ** 2
        foot = at(x, unit, (shadow * key[0], shadow * key[1]))
        sheet.line((x, TOP), foot, ink="query", width=9, stroke_opacity=0.35)
        sheet.line(at(x, unit, q), foot, width=1.2, stroke_dasharray="4 3")
        sheet.arrow((x, TOP), at(x, unit, key), "key", width=3.4, gap=0)
        sheet.arrow((x, TOP), at(x, unit, q), "query", width=2.2, gap=0)
        # Each name is beside its arrow, on the side away from the other's.
        for name, vector, side in (("q", q, 1), ("k", key, -1)):
            name_at = beside(at(x, unit, vector), vector, side)
            sheet.text(name, *name_at, "query" if name == "q" else "key", bold=True)
        sheet.text(f"rotated {degrees(angle * n)}°", x, TOP + RADIUS + 34, "soft")
        sheet.text(f"q·k = {scores[n]}", x, TOP + RADIUS + 60, bold=True)
    return sheet


def rotated(vector: tuple[float, float], by: float) -> tuple[float, float]:
    cos, sin = math.cos(by), math.sin(by)
    return cos * vector[0] - sin * vector[1], sin * vector[0] + cos * vector[1]


def at(x: float, unit: float, vector: tuple[float, float]) -> tuple[float, float]:
    return x + unit * vector[0], TOP - unit * vector[1]


def beside(
    tip: tuple[float, float], vector: tuple[float, float], side: int
) -> tuple[float, float]:  # fmt: skip
    """Beyond a tip, and to the left (1) or the right (-1) of its arrow."""
    way = math.atan2(vector[1], vector[0]) + side * math.radians(50)
    return tip[0] + LABEL * math.cos(way), tip[1] - LABEL * math.sin(way)


def wedge(sheet: Drawing, x: float, query: tuple[float, float], by: float) -> None:
    """What the query was rotated by, from where it was."""
    start = math.atan2(query[1], query[0])
    fan = [(x, float(TOP)), *(
        at(x, RADIUS / 2, (math.cos(start + by * n / 24), math.sin(start + by * n / 24)))
        for n in range(25)
    )]  # fmt: skip
    corners = [neat(c) for point in fan for c in point]
    sheet.add(drawsvg.Lines(*corners, close=True, class_="more", fill_opacity=0.5))


def degrees(angle: float) -> str:
    return minus(str(round(math.degrees(angle))))


def written(score: float) -> str:
    """
    >>> written(-0.2799999999), written(1 / 3)
    ('−0.28', '0.333')
    """
    return minus(plain(round(score, 6), 3))
