"""Why the scores are divided by √d_k: how far they spread as keys get wider."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Drawing, minus

WIDTHS = (1, 4, 16, 64)
TOP = 56
ROW = 84
HIGH = 62  # of the highest bar
LEFT_MIDDLE, RIGHT_MIDDLE = 176, 420
HALF = 120, 86  # of each column's room
REACH = 3.4  # how many times its spread the widest row reaches


def score_spread(widths: Sequence[int] = WIDTHS) -> Drawing:
    """All possible scores of coin tosses, counted: wider keys spread them, √d_k brings them back.

    >>> score_spread()
    Drawing: Two columns of histograms for keys of width 1, 4, 16 and 64. The scores spread as the \
width grows: their typical distance from 0 is 1, 2, 4 and 8. Divided by the root of the width, \
all four have the spread 1.

    A score is a sum of as many +1 and −1 as the key is wide. How many ways lead to each sum is
    counted exactly. All histograms of a column have the same area.

    Args:
        widths: of the keys, d_k, from narrow to wide.

    Taught in chapter 05.
    """
    if not widths or any(d != int(d) or d < 1 for d in widths):
        raise ValueError(f"widths must be whole numbers from 1, got {list(widths)}")
    roots = [math.sqrt(d) for d in widths]
    *first, last = [f"{root:.4g}" for root in roots]
    *narrow, wide = map(str, widths)
    sheet = Drawing(
        WIDEST,
        TOP + ROW * len(widths) + 24,
        f"Two columns of histograms for keys of width {', '.join(narrow)} and {wide}. The scores "
        f"spread as the width grows: their typical distance from 0 is {', '.join(first)} and "
        f"{last}. Divided by the root of the width, all {counted(len(widths))} have the spread 1.",
    )
    sheet.text("scores", LEFT_MIDDLE, 15, bold=True)
    sheet.text("scores ÷ √width", RIGHT_MIDDLE, 15, bold=True)
    most = max(roots)
    for n, (d, root) in enumerate(zip(widths, roots, strict=True)):
        ground = TOP + ROW * n + HIGH - 8
        sheet.text(f"width {d}", 4, ground - 26, align="start")
        chances = [(2 * up - d, math.comb(d, up) / 2**d) for up in range(d + 1)]
        for middle, half, by, spread in (
            (LEFT_MIDDLE, HALF[0], 1.0, root),
            (RIGHT_MIDDLE, HALF[1], root, 1.0),
        ):
            reach = REACH * (most if middle == LEFT_MIDDLE else 1)
            unit = half / reach
            step = 2 / by
            # Chance per length: so the area is 1, whatever the width.
            highest = 0.25 if middle == LEFT_MIDDLE else 0.4
            for at, chance in chances:
                x, tall = at / by, chance / step / highest * HIGH
                if abs(x) > reach or tall < 0.3:
                    continue
                sheet.box(
                    middle + (x - step / 2) * unit + 0.5, ground - tall, step * unit - 1, tall,
                    fill="more", round=0,
                )  # fmt: skip
            sheet.line((middle - half, ground), (middle + half, ground), width=1)
            sheet.line((middle, ground), (middle, ground + 5), width=1)
            sheet.line(
                (middle - spread * unit, ground + 9), (middle + spread * unit, ground + 9),
                ink="accent", width=3,
            )  # fmt: skip
            sheet.text(
                f"±{spread:.4g}", middle + half, ground - 30, "accent", align="end", bold=True
            )
    for middle, half, reach in (
        (LEFT_MIDDLE, HALF[0], REACH * most),
        (RIGHT_MIDDLE, HALF[1], REACH),
    ):
        tick = next(n for n in (100, 50, 20, 10, 5, 2, 1) if n < 0.9 * reach)
        for at in (-tick, 0, tick):
            x = middle + at * half / reach
            sheet.text(minus(str(at)), x, TOP + ROW * len(widths) + 4, "soft")
    return sheet


def counted(n: int) -> str:
    return ("no", "one", "two", "three", "four", "five", "six")[n] if n < 7 else str(n)
