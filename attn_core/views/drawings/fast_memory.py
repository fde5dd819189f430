"""Slow and fast memory in one pass: what moves once, what moves again, and what never moves."""

from __future__ import annotations

import math

from attn_core.views.drawings.drawing import WIDEST, Box, Drawing

LEFT, LONG = 68, 116  # of a matrix in slow memory
RIGHT, ROOM = 322, 190  # of fast memory
HIGH, EDGE = 26, 8
TOPS = {"q": 48, "k": 86, "v": 124, "scores": 162, "kept": 200, "output": 238}
BARS = 310  # of what moves


def fast_memory(words: int = 4096, width: int = 64, rows: int = 256) -> Drawing:
    """Which numbers go from slow memory to fast, how often, and how many that makes.

    >>> fast_memory(words=1024, width=64, rows=256)
    Drawing: Slow and fast memory in one pass over 1,024 words, 64 numbers each, 256 rows of q at \
a time. q is read once, and the output written once; k and v are read 4 times. Scores, the highest \
score, the total and the mixed values stay in fast memory. 655,360 numbers move. With the whole \
map, 4,456,448 numbers move.

    Args:
        words: as many queries as keys.
        width: of a query, a key and a value.
        rows: of q that are held while all keys go by.

    Taught in [one pass](one_pass.ipynb).
    """
    if words < 1 or width < 1:
        raise ValueError(f"words and width must be at least 1, got {words} and {width}")
    if not 1 <= rows <= words:
        raise ValueError(f"rows must be from 1 to {words}, got {rows}")
    times = math.ceil(words / rows)
    passed = 2 * words * width * (1 + times)
    whole = 4 * words * width + 4 * words * words
    again = "once" if times == 1 else f"{times} times"
    sheet = Drawing(
        WIDEST,
        BARS + 104,
        f"Slow and fast memory in one pass over {words:,} words, {width} numbers each, {rows} rows "
        f"of q at a time. q is read once, and the output written once; k and v are read {again}. "
        "Scores, the highest score, the total and the mixed values stay in fast memory. "
        f"{passed:,} numbers move. With the whole map, {whole:,} numbers move.",
    )
    deep = TOPS["output"] + HIGH + EDGE - 32
    for name, x, wide in (("slow memory", 2, LEFT + LONG + EDGE - 2), ("fast memory", RIGHT, ROOM)):
        sheet.box(x, 32, wide, deep, fill="wash")
        sheet.text(name, x + wide / 2, 16, bold=True)
    part = max(LONG * rows / words, 5)
    moves = (("q", "query", "once"), ("k", "key", again), ("v", "value", again))
    for name, ink, often in moves:
        kind = f"{rows} rows of q" if name == "q" else f"a block of {name}"
        stored, held = places(sheet, name, ink, part, kind)
        sheet.arrow(stored.right, held.left, ink)
        middle = (stored.right[0] + held.left[0]) / 2
        sheet.text(often, middle, TOPS[name] + 2, ink)
    for name, says in (("scores", "scores"), ("kept", "highest, total")):
        sheet.box(
            RIGHT + EDGE, TOPS[name], ROOM - 2 * EDGE, HIGH, says,
            fill="paper", line="accent", dashed=name == "scores", round=0,
        )  # fmt: skip
    stored, held = places(sheet, "output", "ink", part, "mixed values")
    sheet.arrow(held.left, stored.right, "ink")
    sheet.text("once", (stored.right[0] + held.left[0]) / 2, TOPS["output"] + 2)
    for row, (says, count) in enumerate((("one pass", passed), ("with the whole map", whole))):
        y = BARS + row * 48
        ink = "accent" if row == 0 else "ink"
        sheet.text(f"{says}: {count:,} numbers move", EDGE, y, ink, align="start", bold=row == 0)
        long = (WIDEST - 2 * EDGE) * count / max(passed, whole)
        fill = "more" if row == 0 else "masked"
        sheet.box(EDGE, y + 12, long, 14, fill=fill, round=0)
    return sheet


def places(sheet: Drawing, name: str, ink: str, part: float, kind: str) -> tuple[Box, Box]:
    """A matrix in slow memory with the part that moves, and its place: dashed for one block."""
    y = TOPS[name]
    wash = "paper" if ink == "ink" else f"{ink}-wash"
    sheet.text(name, LEFT - 6, y + HIGH / 2, ink, align="end")
    stored = sheet.box(LEFT, y, LONG, HIGH, fill=wash, line=ink, round=0)
    sheet.box(LEFT + 2 * part, y, part, HIGH, fill=ink, round=0)
    held = sheet.box(
        RIGHT + EDGE, y, ROOM - 2 * EDGE, HIGH, kind,
        fill=wash, ink=ink, line=ink, dashed=name in ("k", "v"), round=0,
    )  # fmt: skip
    return stored, held
