"""What a memory of fixed width is made of, word after word."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from attn_core.views.drawings.drawing import WIDEST, Drawing, short
from attn_core.views.drawings.steps import Steps

LEFT, TOP = 10, 112
LONG, HIGH = 392, 46  # of the bar that stands for the whole memory
CELL = 34
MOST = 4


def overwritten(
    vectors: Sequence[Sequence[float]], words: Sequence[str], keep: float = 0.5
) -> Steps:
    """A reader with one memory: each word takes its part of it, and what was there shrinks.

    >>> overwritten([(8.0, 0.0), (0.0, 4.0)], ["Tom", "chases"])
    Drawing: What the memory is made of, word after word. 1: Before the first word the memory is \
zeros: (0, 0). 2: “Tom” comes in: 1/2 of the memory, (4, 0). 3: “chases” comes in, and all that \
was there shrinks. Of “Tom” 1/4 is left: (2, 0).

    Args:
        vectors: the vector of each word.
        words: the words, in the order in which they are read.
        keep: the part of the old memory that is kept at each word; the rest is the new word.

    Taught in chapter 01.
    """
    if not 1 <= len(words) <= MOST:
        raise ValueError(f"words must be 1 to {MOST}, got {len(words)}")
    if len(vectors) != len(words) or {len(v) for v in vectors} != {2}:
        raise ValueError(
            f"vectors must have two numbers for each of the {len(words)} words, got {vectors}"
        )
    if not 0 < keep < 1:
        raise ValueError(f"keep must lie between 0 and 1, got {keep}")
    kept = Fraction(keep).limit_denominator(100)
    zeros = [0.0, 0.0]
    begin = bar([Fraction(1)], [zeros], words, vectors)
    steps = [(begin, f"Before the first word the memory is zeros: {pair(zeros)}.")]
    for read in range(1, len(words) + 1):
        ours = [(1 - kept) * kept ** (read - t) for t in range(1, read + 1)]
        shares = [kept**read, *ours]
        parts = [zeros]
        for share, vector in zip(ours, vectors, strict=False):
            parts.append([float(share) * n for n in vector])
        first, mine = f"“{words[0]}”", f"{shares[1]}"
        if read == 1:
            says = f"{first} comes in: {mine} of the memory, {pair(parts[1])}."
        else:
            says = (
                f"“{words[read - 1]}” comes in, and all that was there shrinks. "
                f"Of {first} {mine} is left: {pair(parts[1])}."
            )
        steps.append((bar(shares, parts, words, vectors), says))
    return Steps(steps, "What the memory is made of, word after word.")


def bar(
    shares: list[Fraction],
    parts: list[list[float]],
    words: Sequence[str],
    vectors: Sequence[Sequence[float]],
) -> Drawing:
    """The memory as a bar of the words in it; what each puts in, and their sum."""
    sheet = Drawing(WIDEST, 218, "")
    read = len(shares) - 1
    across = LONG / len(words)
    for t, word in enumerate(words):
        column = LEFT + (t + 0.5) * across
        ink = "ink" if t >= read - 1 else "soft"  # soft: read already
        sheet.text(word, column, 16, ink, bold=t == read - 1)
        sheet.text(pair(vectors[t]), column, 38, ink)
    x: float = LEFT
    for t, (share, part) in enumerate(zip(shares, parts, strict=True)):
        long = LONG * float(share)
        middle = x + long / 2
        if t == 0:
            sheet.box(
                x, TOP, long, HIGH, "zeros" if long > 80 else "0", line="soft", ink="soft", round=0
            )  # fmt: skip
            sheet.text(str(share), middle, TOP + HIGH + 16, "soft")
        else:
            is_first = t == 1  # the word to follow
            fill, ink = ("more", "accent") if is_first else ("paper", "ink")
            sheet.box(
                x, TOP, long, HIGH, words[t - 1], fill=fill, line="soft", round=0, bold=is_first
            )  # fmt: skip
            sheet.text(str(share), middle, TOP + HIGH + 16, ink, bold=is_first)
            sheet.text(pair(part), middle, TOP + HIGH + 38, ink, bold=is_first)
        if t == read and read:
            start, ink = (LEFT + (t - 0.5) * across, 50), "accent" if t == 1 else "ink"
            sheet.arrow(start, (middle, TOP), ink, width=2.2)
        x += long
    memory = [sum(numbers) for numbers in zip(*parts, strict=True)]
    end = max(abs(n) for vector in vectors for n in vector)
    left = WIDEST - 8 - CELL * len(memory)
    sheet.text("=", (x + left) / 2, TOP + HIGH / 2)
    cells = sheet.cells([memory], left, TOP, CELL, height=HIGH, end=end)
    for j, n in enumerate(memory):
        sheet.text(short(n), left + (j + 0.5) * CELL, TOP + HIGH / 2)
    sheet.frame(cells, "ink", room=2)
    name = "c" if read == len(words) else "memory"
    sheet.text(name, cells.middle[0], TOP - 18, bold=True)
    return sheet


def pair(numbers: Sequence[float]) -> str:
    """
    >>> pair([3.0, -0.5])
    '(3, −0.5)'
    """
    return f"({', '.join(short(n) for n in numbers)})"
