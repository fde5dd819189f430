"""How strongly one vector depends on each word that went into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attn_core.digits import fixed
from attn_core.views.drawings.drawing import WIDEST, Drawing

LEFT, RIGHT = 10, WIDEST - 10
HIGH, ROW = 46, 88  # of the longest bar, and of a row with its name
LEAST = 1.5  # so high is a bar that would be too low to be seen
MOST = 40  # words


def influence(strengths: Mapping[str, Sequence[float]]) -> Drawing:
    """A row of bars for each reader, a bar for each word: how far c moves when the word does.

    >>> influence({"never trained": [0.001, 0.02, 1.8], "trained": [0.5, 0.2, 0.4]})
    Drawing: Bars show how strongly c depends on each of 3 words, first to last. “never trained”: \
0.001 on the first, 1.800 on the last. “trained”: 0.500 on the first, 0.400 on the last.

    Args:
        strengths: of each reader its name and a number for each word, first to last.

    Taught in chapter 01.
    """
    counts = {len(row) for row in strengths.values()}
    if len(counts) != 1 or not 2 <= min(counts) <= MOST:
        raise ValueError(
            f"strengths must have rows of one length, 2 to {MOST}, got {sorted(counts)}"
        )
    rows = {name: [float(n) for n in row] for name, row in strengths.items()}
    if min(map(min, rows.values())) < 0:
        raise ValueError(f"strengths must not be negative, got {min(map(min, rows.values()))}")
    [count] = counts
    description = " ".join(
        f"“{name}”: {three(row[0])} on the first, {three(row[-1])} on the last."
        for name, row in rows.items()
    )
    sheet = Drawing(
        WIDEST,
        ROW * len(rows) + 30,
        f"Bars show how strongly c depends on each of {count} words, first to last. {description}",
    )
    wide = (RIGHT - LEFT) / count
    for place, (name, row) in enumerate(rows.items()):
        base = place * ROW + 28 + HIGH
        sheet.text(name, WIDEST / 2, base - HIGH - 14, bold=True)
        ends = {0: "start", count - 1: "end"}
        for t, n in enumerate(row):
            high = max(LEAST, HIGH * n / (max(row) or 1))
            fill = "accent" if t in ends else "more"
            sheet.box(LEFT + t * wide + 1, base - high, wide - 2, high, fill=fill, round=0)
        sheet.text(three(row[0]), LEFT, base - HIGH - 14, "accent", align="start")
        sheet.text(three(row[-1]), RIGHT, base - HIGH - 14, "accent", align="end")
        sheet.line((LEFT, base), (RIGHT, base), width=1)
    below = ROW * len(rows) + 8
    sheet.text("word 1", LEFT, below, "soft", align="start")
    sheet.text(f"word {count}", RIGHT, below, "soft", align="end")
    return sheet


def three(n: float) -> str:
    """With three decimals, and so 0.000 for what is smaller.

    >>> three(0.00001), three(1.784)
    ('0.000', '1.784')
    """
    return fixed(round(n, 3), 3)
