"""One row of numbers, and what LayerNorm and RMSNorm make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Drawing, short

MOST = 8  # numbers in a row
PANEL = WIDEST / 3
SIDE = 10
NUMBER = 58  # room for the digits of a panel, at its right
TOP, ROW, BAR = 66, 32, 20


def two_norms(x: Sequence[float]) -> Drawing:
    """A row as bars, beside it the same row after LayerNorm and after RMSNorm.

    >>> two_norms((1, 3, 3, 9))
    Drawing: A row of 4 numbers as bars: 1, 3, 3, 9, with lines at its mean, 4, and at its root \
mean square (RMS), 5. LayerNorm subtracts the mean and divides by the standard deviation, 3: −1, \
−0.33, −0.33, 1.67. RMSNorm only divides by the RMS: 0.2, 0.6, 0.6, 1.8.

    Both without ε, without a gain and without a bias, computed in float64. The bars of the two
    norms have one scale.

    Args:
        x: two to eight numbers that are not all the same.

    Source: Ba et al. (2016); Zhang and Sennrich (2019), equation 4.

    Taught in chapter 12.
    """
    row = [float(n) for n in x]
    if not 2 <= len(row) <= MOST:
        raise ValueError(f"x must have 2 to {MOST} numbers, got {len(row)}")
    if not all(map(math.isfinite, row)) or min(row) == max(row):
        raise ValueError(f"x must have finite numbers that are not all the same, got {list(x)}")
    mean = math.fsum(row) / len(row)
    spread = math.sqrt(math.fsum((n - mean) ** 2 for n in row) / len(row))
    rms = math.sqrt(math.fsum(n * n for n in row) / len(row))
    centred = [(n - mean) / spread for n in row]
    scaled = [n / rms for n in row]
    sheet = Drawing(
        WIDEST,
        TOP + ROW * len(row) + 64,
        f"A row of {len(row)} numbers as bars: {listed(row)}, with lines at its mean, "
        f"{short(mean)}, and at its root mean square (RMS), {short(rms)}. LayerNorm subtracts the "
        f"mean and divides by the standard deviation, {short(spread)}: {listed(centred)}. RMSNorm "
        f"only divides by the RMS: {listed(scaled)}.",
    )
    less = f"x − {short(mean)}" if mean >= 0 else f"x + {short(-mean)}"
    panels = (
        ("x", "", row, row),
        ("LayerNorm", f"({less}) / {short(spread)}", centred, centred + scaled),
        ("RMSNorm", f"x / {short(rms)}", scaled, centred + scaled),
    )
    for n, (name, formula, numbers, among) in enumerate(panels):
        left = n * PANEL + SIDE
        sheet.text(name, n * PANEL + PANEL / 2, 16, bold=True)
        sheet.text(formula, n * PANEL + PANEL / 2, 42, "soft")
        at = bars(sheet, numbers, among, left)
        if n == 0:
            # The RMS is never left of the mean, so the line of the mean passes its words.
            for place, (words, where, ink) in enumerate(
                (("RMS", rms, "accent"), ("mean", mean, "ink"))
            ):
                below = TOP + ROW * len(row) + 6 + 26 * place
                sheet.line((at(where), TOP - 6), (at(where), below), ink=ink, width=2,
                           stroke_dasharray="5 3")  # fmt: skip
                sheet.text(f"{words} {short(where)}", at(where) - 3, below + 12, ink,
                           align="start", bold=True)  # fmt: skip
    for n in (1, 2):
        sheet.line((n * PANEL, 10), (n * PANEL, TOP + ROW * len(row)), width=0.6)
    return sheet


def bars(sheet: Drawing, numbers: Sequence[float], among: Sequence[float], left: float):
    """A bar for each number, the digits beside it; gives where a number is across."""
    low, high = min(0.0, *among), max(0.0, *among)
    unit = (PANEL - 2 * SIDE - NUMBER) / (high - low)

    def at(number: float) -> float:
        return left + (number - low) * unit

    for n, number in enumerate(numbers):
        y = TOP + ROW * n
        begins, ends = sorted((at(0), at(number)))
        fill = "less" if number < 0 else "more"
        sheet.box(begins, y, ends - begins, BAR, fill=fill, round=0)
        sheet.text(short(number), left + PANEL - 2 * SIDE, y + BAR / 2, align="end")
    sheet.line((at(0), TOP - 6), (at(0), TOP + ROW * len(numbers) - 4), ink="ink", width=1.2)
    return at


def listed(numbers: Sequence[float]) -> str:
    return ", ".join(map(short, numbers))
