"""What a dot product measures: the shadow of one arrow on the other, times the other's length."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed, plain
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus

GROUND = 176  # where the lying arrow is
REACH = 262  # of both arrows to the right
HEIGHT = 132  # of the standing arrow at most
BELOW = 306  # where the three small ones lie
CASES = (("agree", 30), ("nothing in common", 90), ("oppose", 150))


def dot_product(
    query: Tensor, key: Tensor, tokens: Sequence[str], *, inks: Sequence[str] = ("query", "key")
) -> Drawing:
    """Two vectors as arrows: shadow times length is their dot product; then key turned elsewhere.

    >>> from attn_core import toy
    >>> words, x = toy.journey()
    >>> dot_product(x[1], x[0], (words[1], words[0]))
    Drawing: Two arrows, 38.7 degrees apart: “journey”, of length 1.2227, and “Your”, of length \
0.9997. The shadow of “Your” on the line of “journey” has the length 0.7806, and 0.7806 times \
1.2227 is the dot product, 0.9544. If “Your” points elsewhere, the dot product is 1.0586 at 30 \
degrees, 0 at 90 and −1.0586 at 150.

    Two arrows always lie in one plane, however many numbers they have. The drawing shows this
    plane: both lengths and the angle are true.

    Args:
        query: a vector, which lies.
        key: a vector of the same width.
        tokens: the names of the two.
        inks: their colors.

    Taught in chapter 03.
    """
    lengths = [math.sqrt(n @ n) for n in (query.double(), key.double())]
    for name, length in zip(("query", "key"), lengths, strict=True):
        if not length:
            raise ValueError(f"{name} must have a length, got only zeros")
    product = float(query.double() @ key.double())
    long, other = lengths
    shadow = product / long
    angle = math.acos(max(-1, min(1, shadow / other)))
    turned = [signed(long * other * math.cos(math.radians(by))) for _, by in CASES]
    ways = [
        f"{says} at {by}{' degrees' if n == 0 else ''}"
        for n, (says, (_, by)) in enumerate(zip(turned, CASES, strict=True))
    ]
    lies, stands = tokens
    sheet = Drawing(
        WIDEST,
        BELOW + 72,
        f"Two arrows, {math.degrees(angle):.1f} degrees apart: “{lies}”, of length {fixed(long)}, "
        f"and “{stands}”, of length {fixed(other)}. The shadow of “{stands}” on the line of "
        f"“{lies}” has the length {signed(shadow)}, and {signed(shadow)} times {fixed(long)} is "
        f"the dot product, {signed(product)}. If “{stands}” points elsewhere, the dot product is "
        f"{ways[0]}, {ways[1]} and {ways[2]}.",
    )
    up = other * math.sin(angle)
    left = max(0.0, -shadow)
    unit = min(REACH / (left + max(long, shadow)), HEIGHT / max(up, 1e-9))
    start = (24 + left * unit, GROUND)
    tip = arrows(sheet, start, long, other, angle, unit, inks)
    # The angle, where there is room for it.
    if math.degrees(angle) > 12:
        sheet.line(*(polar(start, 28, angle * n / 16) for n in range(17)), width=1.2)
        far = min(62, max(44, abs(shadow) * unit - 20))
        x, y = polar(start, far, angle / 2)
        sheet.text(f"{math.degrees(angle):.0f}°", x + 2, y, "soft")
    sheet.text(lies, start[0] + long * unit + 8, GROUND, inks[0], align="start", bold=True)
    sheet.text(stands, tip[0], tip[1] - 14, inks[1], bold=True)
    for row, (far, ink) in enumerate(((shadow, inks[1]), (long, inks[0]))):
        y = GROUND + 20 + 20 * row
        span(sheet, start[0], start[0] + far * unit, y, ink)
    for row, (words, number, ink) in enumerate(
        (
            ("shadow", signed(shadow), inks[1]),
            ("length", f"× {fixed(long)}", inks[0]),
            ("dot product", f"= {signed(product)}", "ink"),
        )
    ):
        y = 76 + 28 * row
        sheet.text(words, 418, y, ink, align="end", bold=row == 2)
        sheet.text(number, WIDEST - 8, y, ink, align="end", bold=row == 2)
    sheet.line((312, 118), (WIDEST - 8, 118), ink="soft", width=1)
    sheet.line((8, 232), (WIDEST - 8, 232), ink="soft", width=0.6)
    small = 78 / max(long, other)
    for place, ((words, by), says) in enumerate(zip(CASES, turned, strict=True)):
        middle = 88 + 172 * place
        ends = (0.0, long, other * math.cos(math.radians(by)))
        first = middle - (min(ends) + max(ends)) / 2 * small
        arrows(sheet, (first, BELOW + 10), long, other, math.radians(by), small, inks)
        sheet.text(words, middle, BELOW + 32)
        sheet.text(f"{by}°:", middle - 10, BELOW + 54, "soft", align="end")
        sheet.text(says, middle, BELOW + 54, align="start", bold=True)
    return sheet


def arrows(
    sheet: Drawing, start: tuple[float, float], long: float, other: float, angle: float,
    unit: float, inks: Sequence[str],
) -> tuple[float, float]:  # fmt: skip
    """The lying arrow, the standing one and its shadow; where the standing one ends."""
    tip = polar(start, other * unit, angle)
    foot = tip[0], start[1]
    sheet.line(start, foot, ink=inks[1], width=9, stroke_opacity=0.35)
    if tip[0] < start[0] or foot[0] > start[0] + long * unit:
        sheet.line(start, foot, ink="soft", width=1, stroke_dasharray="4 3")
    sheet.line(tip, foot, ink="soft", width=1.2, stroke_dasharray="4 3")
    sheet.arrow(start, (start[0] + long * unit, start[1]), inks[0], width=2.6, gap=0)
    sheet.arrow(start, tip, inks[1], width=2.6, gap=0)
    return tip


def span(sheet: Drawing, start: float, end: float, y: float, ink: str) -> None:
    """How far it is from one place to another: a line with two ends."""
    sheet.line((start, y), (end, y), ink=ink, width=1.4)
    for x in (start, end):
        sheet.line((x, y - 5), (x, y + 5), ink=ink, width=1.4)


def polar(start: tuple[float, float], far: float, angle: float) -> tuple[float, float]:
    return start[0] + far * math.cos(angle), start[1] - far * math.sin(angle)


def signed(n: float) -> str:
    """
    >>> signed(-1.5), signed(0.95440001), signed(3e-17)
    ('−1.5', '0.9544', '0')
    """
    # A right angle has a cosine of 0 only up to rounding.
    return minus(plain(n if abs(n) > 1e-9 else 0.0))


def warmup_dot_product() -> Drawing:
    """The warm-up's two vectors, a and b.

    >>> warmup_dot_product().alt.split(".")[0]
    'Two arrows, 66'

    Taught in the warm-up.
    """
    a, b = torch.tensor([2.0, 0.0, 1.0]), torch.tensor([1.0, 3.0, 1.0])
    return dot_product(b, a, ("b", "a"), inks=("accent", "ink"))
