"""How a map grows with the text, and how its queries and keys do, to scale."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Drawing

LABELS = 62
GAP = 22
BESIDE = 6  # from k to the map
LARGEST = 200  # the side of the largest map


def map_sizes(lengths: Sequence[int] = (64, 128, 256), width: int = 64) -> Drawing:
    """Maps beside the queries and keys that they are made of: their areas are their numbers.

    >>> map_sizes((64, 128, 256), width=64)
    Drawing: Queries, keys and map of texts of 64, 128 and 256 words, to scale. q and k hold \
8,192, 16,384 and 32,768 numbers, the map 4,096, 16,384 and 65,536.

    Args:
        lengths: two or three counts of words, the largest last.
        width: of a query and of a key.

    Taught in chapter 11.
    """
    if not 2 <= len(lengths) <= 3 or sorted(lengths) != list(lengths) or min(lengths) < 1:
        raise ValueError(f"lengths must be two or three, the largest last, got {list(lengths)}")
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    maps, pairs = [n * n for n in lengths], [2 * n * width for n in lengths]
    room = WIDEST - LABELS - 12 - (GAP + BESIDE) * len(lengths)
    unit = min(room / (sum(lengths) + len(lengths) * 2 * width), LARGEST / lengths[-1])
    ground = 16 + unit * lengths[-1]
    sheet = Drawing(
        WIDEST,
        ground + 92,
        f"Queries, keys and map of texts of {in_words(lengths)} words, to scale. q and k hold "
        f"{in_words(pairs)} numbers, the map {in_words(maps)}.",
    )
    for row, (words, ink) in enumerate((("words", "ink"), ("q and k", "ink"), ("map", "accent"))):
        sheet.text(words, 8, ground + 22 + row * 24, ink, align="start")
    x = float(LABELS)
    for n, cells, numbers in zip(lengths, maps, pairs, strict=True):
        x += GAP
        wide, high = unit * width, unit * n
        top = ground - high
        sheet.box(x, top, wide, high, fill="query-wash", line="query", round=0)
        sheet.box(x + wide, top, wide, high, fill="key-wash", line="key", round=0)
        if wide > 24 and high > 20:
            sheet.text("q", x + wide / 2, ground - high / 2, "query")
            sheet.text("k", x + 1.5 * wide, ground - high / 2, "key")
        sheet.box(x + 2 * wide + BESIDE, top, high, high, fill="more", line="accent", round=0)
        middle = x + wide + (BESIDE + high) / 2
        for row, count in enumerate((n, numbers, cells)):
            ink = "accent" if row == 2 else "ink"
            sheet.text(f"{count:,}", middle, ground + 22 + row * 24, ink, bold=row == 2)
        x += 2 * wide + BESIDE + high
    return sheet


def in_words(numbers: Sequence[int]) -> str:
    *first, last = (f"{n:,}" for n in numbers)
    return f"{', '.join(first)} and {last}"
