"""Prefill and decode: the map row by row, beside a cache of keys and values that grows."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.steps import Steps

HIGH = 28  # of a row
WIDE = 62  # of q, of k and of v
CELL = 32  # of a weight
ASKS, MAP, KEYS, VALUES = 84, 158, 368, 442
TOP = 46


def prefill_decode(record: AttentionTrace, tokens: Sequence[str], prompt: int = 3) -> Steps:
    """First all rows of the prompt at once, then one row a word; keys and values are kept.

    >>> from attn_core import causal, toy, trace
    >>> words, x = toy.journey()
    >>> steps = prefill_decode(trace(x, x, x, keep=causal()), words, prompt=4)
    >>> print(steps.alt)
    Queries, weights, keys and values of 6 words, a row for each. 1: Prefill: the 4 words of the \
prompt are there, so their 4 rows are made at once. Keys and values are kept. 2: Decode “one”: one \
query, one row of 5 weights. One key and one value are new, 4 of each are read from the cache. 3: \
Decode “step”: one query, one row of 6 weights. One key and one value are new, 5 of each are read \
from the cache.

    Args:
        record: causal attention; its first sentence and head are drawn.
        tokens: the words, six at most.
        prompt: how many of them are there from the start; the others are written one by one.

    Taught in chapter 06.
    """
    _, _, rows, cols = record.shape
    if rows != cols or not 2 <= rows <= 6:
        raise ValueError(f"record must have 2 to 6 words that read each other, got {rows} × {cols}")
    if len(tokens) != rows:
        raise ValueError(f"tokens must be {rows} words, got {len(tokens)}")
    if not 1 <= prompt < rows:
        raise ValueError(f"prompt must be from 1 to {rows - 1}, got {prompt}")
    steps = [
        (
            one_step(record, tokens, 0, prompt),
            f"Prefill: the {prompt} words of the prompt are there, so their {prompt} rows are made "
            "at once. Keys and values are kept.",
        )
    ]
    for t in range(prompt, rows):
        says = (
            f"Decode “{tokens[t]}”: one query, one row of {t + 1} weights. One key and one value "
            f"are new, {t} of each are read from the cache."
        )
        steps.append((one_step(record, tokens, t, t + 1), says))
    alt = f"Queries, weights, keys and values of {rows} words, a row for each."
    return Steps(steps, alt)


def one_step(record: AttentionTrace, tokens: Sequence[str], first: int, end: int) -> Drawing:
    """The rows from first to end are new; those before are there, and are not made again."""
    rows = len(tokens)
    q, k, v = (part[0, 0].tolist() for part in (record.q, record.k, record.v))
    weights = record.tile("weights", range(rows), range(rows)).tolist()
    ends = {
        name: max(abs(n) for row in part for n in row)
        for name, part in (("query", q), ("key", k), ("value", v))
    }
    # The first word has only itself: its 1 would leave the other rows without colour.
    most = max(n for row in weights[1:] for n in row)
    sheet = Drawing(WIDEST, TOP + rows * HIGH + 40, f"Rows {first} to {end - 1} are new.")
    for words, x, ink in (
        ("queries", ASKS + WIDE / 2, "query"),
        ("weights", MAP + 3 * CELL, "ink"),
        ("keys", KEYS + WIDE / 2, "key"),
        ("values", VALUES + WIDE / 2, "value"),
    ):
        sheet.text(words, x, TOP - 22, ink)
    for t in range(rows):
        y = TOP + t * HIGH
        is_new, is_there = first <= t < end, t < end
        ink = "query" if is_new else "ink" if is_there else "soft"
        words = tokens[t] if is_there else "…"
        sheet.text(words, ASKS - 8, y + HIGH / 2, ink, align="end", bold=is_new)
        if not is_there:
            continue
        if is_new:
            across = WIDE / len(q[t])
            sheet.cells([q[t]], ASKS, y, across, height=HIGH, end=ends["query"], line="query")
        # What was not there yet has no cell; what is there and comes later is masked.
        seen = max(end if is_new else t + 1, 1)
        shown = [n if j <= t else -float("inf") for j, n in enumerate(weights[t][:seen])]
        sheet.cells([shown], MAP, y, CELL, height=HIGH, end=most, faint=not is_new)
        for name, x, part in (("key", KEYS, k), ("value", VALUES, v)):
            across = WIDE / len(part[t])
            sheet.cells([part[t]], x, y, across, height=HIGH, end=ends[name], line=name)
    new = Box(0, TOP + first * HIGH, 0, (end - first) * HIGH)
    for x, wide, ink in (
        (ASKS, WIDE, "query"),
        (MAP, end * CELL, "accent"),
        (KEYS, WIDE, "key"),
        (VALUES, WIDE, "value"),
    ):
        sheet.frame(Box(x, new.y, wide, new.height), ink, width=2.6)
    below = TOP + rows * HIGH + 20
    count = end - first
    sheet.text(f"made now: {count} row{'s' if count > 1 else ''}", MAP, below, align="start")
    sheet.text(f"cache: {end} words", (KEYS + VALUES + WIDE) / 2, below)
    return sheet
