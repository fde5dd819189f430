"""Two arrows whose tips a reader can move, and their dot product beside them."""

from __future__ import annotations

import math
from html import escape

import drawsvg

from attn_core.views.drawings.drawing import WIDEST, Drawing, minus, neat
from attn_core.views.drawings.scripted import Scripted

REACH = (4, 3)  # steps of the grid from its middle, across and up
STEP = 36
MIDDLE = (STEP * REACH[0] + 14, STEP * REACH[1] + 14)
LEFT = 2 * MIDDLE[0] + 12  # where the arithmetic stands
INKS = ("accent", "key")
HEAD = "M0,0 L-14,5.5 L-14,-5.5 Z"
HANDLE = 20  # on a phone it is 30 px wide
LEANS = {"agree": "They agree.", "right": "A right angle.", "oppose": "They oppose."}


class Movable(Scripted):
    """A drawing whose parts a reader can move. Without its script it stands still."""

    kind = "drawing movable"
    script = "movable.js"


def two_arrows(
    a: tuple[float, float] = (3, 1), b: tuple[float, float] = (1, 2), *,
    names: tuple[str, str] = ("a", "b"),
) -> Movable:  # fmt: skip
    """Two vectors of two whole numbers as arrows to drag, and what their dot product is made of.

    >>> two_arrows((3, 1), (1, 2))
    Drawing: Two arrows on a grid, a = (3, 1) and b = (1, 2). Their dot product is \
3 · 1 + 1 · 2 = 5. They agree.

    The tips go from crossing to crossing, by a pointer or by the arrow keys, so that each product
    can be checked in the head.

    Args:
        a: across and up, whole numbers of at most 4 and 3.
        b: the other arrow.
        names: what they are called.

    Taught in the warm-up.
    """
    first, second = whole("a", a), whole("b", b)
    product = first[0] * second[0] + first[1] * second[1]
    leans = "right" if product == 0 else "agree" if product > 0 else "oppose"
    sheet = Movable(
        WIDEST,
        2 * MIDDLE[1],
        f"Two arrows on a grid, {names[0]} = {pair(first)} and {names[1]} = {pair(second)}. "
        f"Their dot product is {products(first, second)} = {signed(product)}. {LEANS[leans]}",
    )
    grid(sheet)
    arrows = drawsvg.Group(
        class_="arrows",
        data_middle=f"{MIDDLE[0]} {MIDDLE[1]}",
        data_step=STEP,
        data_reach=f"{REACH[0]} {REACH[1]}",
        **{f"data_{name}": escape(words) for name, words in LEANS.items()},
    )
    for name, arrow, ink in zip(names, (first, second), INKS, strict=True):
        arrows.append(arrow_to(name, arrow, ink))
    sheet.add(arrows)
    for row, (name, arrow, ink) in enumerate(zip(names, (first, second), INKS, strict=True)):
        sheet.text(f"{name} =", LEFT + 30, 40 + 28 * row, ink, align="end", bold=True)
        sheet.text(pair(arrow), LEFT + 38, 40 + 28 * row, f"{ink} says-{row}", align="start")
    sheet.text(f"{names[0]} · {names[1]}", LEFT, 112, align="start", bold=True)
    sheet.text(f"= {products(first, second)}", LEFT, 140, "ink says-products", align="start")
    sheet.text(f"= {signed(product)}", LEFT, 168, "ink says-product", align="start", bold=True)
    sheet.text(LEANS[leans], LEFT, 202, "soft says-lean", align="start")
    return sheet


def whole(name: str, arrow: tuple[float, float]) -> tuple[int, int]:
    """An arrow's numbers, if they are on the grid."""
    if any(n != int(n) or abs(n) > far for n, far in zip(arrow, REACH, strict=True)):
        raise ValueError(
            f"{name} must be whole numbers of at most {REACH[0]} and {REACH[1]}, got {arrow}"
        )
    return int(arrow[0]), int(arrow[1])


def grid(sheet: Drawing) -> None:
    """Its lines a step apart, the two axes stronger."""
    far, up = (STEP * n for n in REACH)
    for n in range(-REACH[0], REACH[0] + 1):
        x = MIDDLE[0] + STEP * n
        sheet.line((x, MIDDLE[1] - up), (x, MIDDLE[1] + up), width=0.4 if n else 1.4)
    for n in range(-REACH[1], REACH[1] + 1):
        y = MIDDLE[1] + STEP * n
        sheet.line((MIDDLE[0] - far, y), (MIDDLE[0] + far, y), width=0.4 if n else 1.4)


def arrow_to(name: str, arrow: tuple[int, int], ink: str) -> drawsvg.Group:
    """A line, a head and a handle, each where the script can place it anew."""
    x, y = MIDDLE[0] + STEP * arrow[0], MIDDLE[1] - STEP * arrow[1]
    turned = neat(math.degrees(math.atan2(-arrow[1], arrow[0])), 2)
    group = drawsvg.Group(class_="arrow", data_name=name, data_at=f"{arrow[0]} {arrow[1]}")
    group.append(drawsvg.Line(*MIDDLE, x, y, class_=f"{ink}-line", stroke_width=3))
    at = f"translate({x} {y}) rotate({turned})"
    group.append(drawsvg.Path(HEAD, class_=ink, transform=at))
    group.append(drawsvg.Circle(x, y, HANDLE, class_=f"handle {ink}", fill_opacity=0))
    return group


def pair(arrow: tuple[int, int]) -> str:
    """
    >>> pair((3, -1))
    '(3, −1)'
    """
    return f"({signed(arrow[0])}, {signed(arrow[1])})"


def products(a: tuple[int, int], b: tuple[int, int]) -> str:
    """
    >>> products((3, 1), (1, -2))
    '3 · 1 + 1 · (−2)'
    """
    return " + ".join(f"{bracketed(m)} · {bracketed(n)}" for m, n in zip(a, b, strict=True))


def bracketed(n: int) -> str:
    return f"({signed(n)})" if n < 0 else str(n)


def signed(n: int) -> str:
    return minus(str(n))
