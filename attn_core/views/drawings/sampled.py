"""Temperature: the same scores as shares of one bar, flatter or steeper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from attn_core.digits import fixed, plain
from attn_core.views.drawings.drawing import WIDEST, Drawing
from attn_core.views.drawings.margins import across
from attn_core.views.drawings.row_shares import LETTER, spans

LABELS, RIGHT = 142, 12
TOP, BAR, ROW = 38, 44, 66
INKS = (1.0, 0.45, 0.15)  # of the first, the second and the third token, and so on again


def sampled(
    scores: Sequence[float], names: Sequence[str], temperatures: Sequence[float]
) -> Drawing:  # fmt: skip
    """A bar for each temperature, cut into the probabilities of the tokens, and their ratio.

    >>> scores = [math.log(9), math.log(4), 0.0]
    >>> sampled(scores, ["cat", "dog", "mat"], [0.5, 1, 2])
    Drawing: The probabilities of cat, dog, mat as bars of length 1, one for each temperature. \
T = 0.5: 81 : 16 : 1, or 0.827, 0.163, 0.010. T = 1: 9 : 4 : 1, or 0.643, 0.286, 0.071. T = 2: 3 \
: 2 : 1, or 0.500, 0.333, 0.167.

    The probabilities are softmax(scores / T). A ratio is that to the least likely token, where
    there is room for it.

    Args:
        scores: one for each token, two to five.
        names: the tokens.
        temperatures: above 0, in the order of their bars.

    Taught in chapter 12.
    """
    if not 2 <= len(scores) <= 5 or not all(map(math.isfinite, scores)):
        raise ValueError(f"scores must be two to five finite numbers, got {list(scores)}")
    if len(names) != len(scores) or len(set(names)) < len(names):
        raise ValueError(f"names must be {len(scores)} different words, got {list(names)}")
    if not temperatures or min(temperatures) <= 0:
        raise ValueError(f"temperatures must be above 0, got {list(temperatures)}")
    rows = [probabilities(scores, t) for t in temperatures]
    ratios = [ratio(row) for row in rows]
    labels = [f"T = {plain(t)}" for t in temperatures]
    said = [
        f"{label}: {f'{parts}, or ' if parts else ''}{', '.join(fixed(n, 3) for n in row)}."
        for label, parts, row in zip(labels, ratios, rows, strict=True)
    ]
    sheet = Drawing(
        WIDEST,
        TOP + ROW * len(rows) - (ROW - BAR) + 34,
        f"The probabilities of {', '.join(names)} as bars of length 1, one for each temperature. "
        + " ".join(said),
    )
    for n, row in enumerate(rows):
        y = TOP + ROW * n
        sheet.text(labels[n], LABELS - 12, y + 10, align="end", bold=True)
        sheet.text(ratios[n], LABELS - 12, y + 34, "accent", align="end")
        of = dict(zip(names, row, strict=True))
        places = spans(of, LABELS, WIDEST - LABELS - RIGHT)
        for place, (name, (x, wide)) in enumerate(places.items()):
            sheet.box(x, y, wide, BAR, fill="more", line="soft", round=0,
                      opacity=INKS[place % len(INKS)])  # fmt: skip
            fit = [words for words in (fixed(of[name], 3), fixed(of[name], 2))
                   if LETTER * sheet.letters * len(words) < wide]  # fmt: skip
            if fit:
                sheet.text(fit[0], x + wide / 2, y + BAR / 2)
            if across(name, sheet.letters) < wide:
                if n == 0:
                    sheet.text(name, x + wide / 2, TOP - 18)
                if n == len(rows) - 1:
                    sheet.text(name, x + wide / 2, y + BAR + 18)
    return sheet


def probabilities(scores: Sequence[float], temperature: float) -> list[float]:
    """
    >>> [round(n, 4) for n in probabilities([0.0, math.log(4)], 2)]
    [0.3333, 0.6667]
    """
    row = torch.tensor(scores, dtype=torch.float64)
    return torch.softmax((row - row.max()) / temperature, -1).tolist()


def ratio(row: Sequence[float]) -> str:
    """How many times the least of them each is, if that is short enough to be written.

    >>> ratio([0.5, 1 / 3, 1 / 6]), ratio([0.45, 0.55]), ratio([1 - 1e-12, 1e-12])
    ('3 : 2 : 1', '1 : 1.22', '')
    """
    least = min(row)
    if least < 1e-9:
        return ""
    text = " : ".join(plain(round(n / least, 2), 2) for n in row)
    return text if len(text) <= 12 else ""
