"""The gate of SwiGLU: SiLU beside ReLU, and what it gives for some numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import drawsvg

from attn_core.digits import plain
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus, neat

REACH = 4  # of the curves, to both sides
LEFT, TOP = 30, 20
ACROSS, UP = 33, 50  # of 1
GROUND = TOP + REACH * UP
MIDDLE = LEFT + REACH * ACROSS
TABLE = 2 * MIDDLE - LEFT + 34  # where the numbers begin
LOWEST = -1.278464542761074  # where σ(x)·(1 + x·(1 − σ(x))) is 0, the slope of SiLU


def silu_gate(gates: Sequence[float]) -> Drawing:
    """The curve of SiLU, x·σ(x), beside that of ReLU, with the given gates on it.

    >>> silu_gate([math.log(3), -math.log(3)])
    Drawing: SiLU and ReLU from −4 to 4. SiLU has its minimum, −0.278, at −1.278. The gate 1.0986 \
gives 1.0986 · 0.75 = 0.824. The gate −1.0986 gives −1.0986 · 0.25 = −0.275.

    Args:
        gates: one to three numbers from −4 to 4.

    Source: Elfwing et al. (2017); Shazeer (2020), section 2.

    Taught in chapter 12.
    """
    if not 1 <= len(gates) <= 3 or not all(abs(gate) <= REACH for gate in gates):
        raise ValueError(f"gates must be one to three numbers from -4 to 4, got {list(gates)}")
    lines = [
        (written(gate, 4), written(sigmoid(gate), 3), written(silu(gate), 3)) for gate in gates
    ]
    lowest = written(silu(LOWEST), 3)
    products = [
        f"The gate {gate} gives {gate} · {share} = {product}." for gate, share, product in lines
    ]
    sheet = Drawing(
        WIDEST,
        GROUND + 52,
        f"SiLU and ReLU from −{REACH} to {REACH}. SiLU has its minimum, {lowest}, at "
        f"{written(LOWEST, 3)}. {' '.join(products)}",
    )
    axes(sheet)
    sheet.line(at(-REACH, 0), at(0, 0), at(REACH, REACH), ink="ink", width=2,
               stroke_dasharray="6 4")  # fmt: skip
    curve = [n / 10 for n in range(-10 * REACH, 10 * REACH + 1)]
    sheet.line(*(at(x, silu(x)) for x in curve), ink="accent", width=2.8)
    x, y = at(LOWEST, silu(LOWEST))
    sheet.line((x, y), (x, GROUND - 26), ink="accent", width=1)
    sheet.text("minimum", x - 8, GROUND - 58, "accent")
    sheet.text(lowest, x - 8, GROUND - 37, "accent")
    for gate in gates:
        x, y = at(gate, silu(gate))
        sheet.add(drawsvg.Circle(neat(x), neat(y), 5, class_="ink"))
    sheet.text("ReLU", *at(2.2, 3.1), align="end")
    sheet.text("SiLU", *at(3.0, 1.9), "accent", align="start", bold=True)
    for n, (number, share, product) in enumerate(lines):
        y = TOP + 12 + 86 * n
        sheet.text(f"SiLU({number})", TABLE, y, align="start", bold=True)
        sheet.text(f"= {number} · {share}", TABLE, y + 24, align="start")
        sheet.text(f"= {product}", TABLE, y + 48, "accent", align="start")
    return sheet


def axes(sheet: Drawing) -> None:
    sheet.line(at(-REACH, 0), at(REACH, 0), width=1)
    sheet.line(at(0, 0), at(0, REACH), width=1)
    for n in range(-REACH, REACH + 1, 2):
        sheet.line(at(n, 0), at(n, 0.08), width=1)
        sheet.text(minus(str(n)), at(n, 0)[0], GROUND + 36, "soft")
    for n in range(2, REACH + 1, 2):
        sheet.text(str(n), MIDDLE - 10, at(0, n)[1], "soft", align="end")


def at(x: float, y: float) -> tuple[float, float]:
    return MIDDLE + x * ACROSS, GROUND - y * UP


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def silu(x: float) -> float:
    """
    >>> round(silu(math.log(3)), 3)
    0.824
    """
    return x * sigmoid(x)


def written(n: float, places: int) -> str:
    return minus(plain(round(n, 12), places))
