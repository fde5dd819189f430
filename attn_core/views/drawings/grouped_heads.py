"""Which query heads share a head of keys and values: multi-head, grouped-query, multi-query."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from attn_core.views.drawings.drawing import WIDEST, Drawing

MOST = 12  # heads in a row
SIDE = 10
PANEL, HEAD = 146, 34  # of a panel its height, and where its heads begin
HIGH, BETWEEN = 28, 36


def grouped_heads(num_heads: int, num_kv_heads: Sequence[int]) -> Drawing:
    """A panel for each number of key heads: query heads above, the heads that they read below.

    >>> grouped_heads(9, [9, 3, 1])
    Drawing: 9 query heads, and below them the heads of keys and values that they read. \
Multi-head: 9 heads of keys and values, one for each query head. Grouped-query: 3 heads of keys \
and values, one for every 3 query heads, and a cache of 1/3 the size. Multi-query: 1 head of keys \
and values, one for all 9 query heads, and a cache of 1/9 the size.

    Args:
        num_heads: the query heads, at most 12.
        num_kv_heads: the heads of keys and values, a panel for each; each divides num_heads.

    Source: Ainslie et al. (2023), figure 2.

    Taught in chapter 12.
    """
    if not 1 <= num_heads <= MOST:
        raise ValueError(f"num_heads must be from 1 to {MOST}, got {num_heads}")
    if not num_kv_heads:
        raise ValueError("num_kv_heads must have a number for a panel, got none")
    for count in num_kv_heads:
        if count < 1 or num_heads % count:
            raise ValueError(f"num_kv_heads must divide num_heads, {num_heads}, got {count}")
    said = []
    for count in num_kv_heads:
        shared = num_heads // count
        heads = f"{count} head{'s' if count > 1 else ''} of keys and values"
        many = "every" if count > 1 else "all"
        each = f"{many} {shared} query heads" if shared > 1 else "each query head"
        cache = f", and a cache of {Fraction(1, shared)} the size" if shared > 1 else ""
        said.append(f"{named(num_heads, count).capitalize()}: {heads}, one for {each}{cache}.")
    sheet = Drawing(
        WIDEST,
        PANEL * len(num_kv_heads),
        f"{num_heads} query heads, and below them the heads of keys and values that they read. "
        + " ".join(said),
    )
    for n, count in enumerate(num_kv_heads):
        panel(sheet, n * PANEL, num_heads, count)
        if n:
            sheet.line((SIDE, n * PANEL), (WIDEST - SIDE, n * PANEL), width=0.6)
    return sheet


def panel(sheet: Drawing, top: float, num_heads: int, count: int) -> None:
    shared = num_heads // count
    sheet.text(named(num_heads, count), SIDE, top + 18, align="start", bold=True)
    share = "" if shared == 1 else f", cache × {Fraction(1, shared)}"
    heads = "head" if count == 1 else "heads"
    sheet.text(f"{count} key-value {heads}{share}", WIDEST - SIDE, top + 18, align="end")
    across = (WIDEST - 2 * SIDE) / num_heads
    wide = min(across - 8, 44)
    y, below = top + HEAD, top + HEAD + HIGH + BETWEEN
    for group in range(count):
        middle = SIDE + (group + 0.5) * shared * across
        for head in range(group * shared, (group + 1) * shared):
            x = SIDE + (head + 0.5) * across
            asks = sheet.box(x - wide / 2, y, wide, HIGH, "q", fill="query-wash", line="query",
                             ink="query")  # fmt: skip
            sheet.line(asks.bottom, (middle, below))
        half = wide / 2
        for name, ink, x in (("k", "key", middle - half), ("v", "value", middle)):
            sheet.box(x, below, half, HIGH, name, fill=f"{ink}-wash", line=ink, ink=ink, round=0)


def named(num_heads: int, count: int) -> str:
    """
    >>> named(9, 9), named(9, 3), named(9, 1)
    ('multi-head', 'grouped-query', 'multi-query')
    """
    if count == num_heads:
        return "multi-head"
    return "multi-query" if count == 1 else "grouped-query"
