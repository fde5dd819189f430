"""An explorer with its parts numbered, as how_to_use.md names them."""

from __future__ import annotations

import drawsvg
import torch

from attn_core import toy
from attn_core.api import trace
from attn_core.checks import STAGES
from attn_core.digits import fixed
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing

PARTS = (
    "the strip",
    "the controls",
    "the matrix",
    "the chosen number",
    "its bar",
    "its arithmetic",
    "two buttons",
)
MARKS, LEFT, END = 14, 34, WIDEST - 8  # of the marks and of what they stand beside
SIDE, STEP = 32, 80  # of a stage in small
CONTROLS, HEAD = 96, 140
FIRST, WIDE, HIGH = 102, 68, 28  # of the matrix
PANEL = HEAD + 16 + 6 * HIGH + 30
HALF = 268  # where the arithmetic begins
QUERY, KEY = 1, 0


def explorer_parts() -> Drawing:
    """An explorer in outline: the weights of the six words, and one of them chosen.

    >>> print(explorer_parts().alt[:81])
    An explorer with seven parts: 1 the strip, 2 the controls, 3 the matrix, 4 the ch

    Taught in [how to use this book](how_to_use.md).
    """
    words, x = toy.journey()
    record = trace(x, x, x, scale=1.0)
    weights = record.stage("weights")
    chosen = fixed(float(weights[QUERY, KEY]))
    named = ", ".join(f"{n} {part}" for n, part in enumerate(PARTS, 1))
    alt = f"An explorer with seven parts: {named}. It shows the weights of six words; the one that "
    alt += f"“{words[QUERY]}” gives to “{words[KEY]}” is chosen, {chosen}."
    sheet = Drawing(WIDEST, PANEL + 142, alt)
    sheet.box(26, 0, WIDEST - 27, PANEL + 141, fill="none", line="soft")
    stages(sheet, record)
    shown = ("scale  1", LEFT, 84), ("mask  none", 130, 104), ("all controls", 398, 110)
    for says, x0, wide in shown:
        sheet.box(x0, CONTROLS - 14, wide, 28, says, fill="none", line="soft")
    cell = matrix(sheet, words, weights)
    panel(sheet, record, words)
    for says, x0, wide in (("Change a number", LEFT, 162), ("Share this view", 208, 146)):
        sheet.box(x0, PANEL + 104, wide, 28, says, fill="none", line="soft")
    left = [30, CONTROLS, HEAD, cell.y + HIGH / 2, PANEL + 10]
    for number, y in enumerate(left, 1):
        mark(sheet, number, MARKS, y)
    mark(sheet, 6, HALF, PANEL + 10)
    mark(sheet, 7, MARKS, PANEL + 118)
    return sheet


def stages(sheet: Drawing, record: AttentionTrace) -> None:
    """The six stages in small, the weights lit, the row of the query framed in all."""
    for place, stage in enumerate(STAGES):
        middle = LEFT + (place + 0.5) * STEP
        values = record.stage(stage).tolist()
        high = SIDE / len(values)
        across = SIDE / len(values[0])
        small = sheet.cells(values, middle - SIDE / 2, 12, across, height=high)
        sheet.frame(Box(small.x, small.y + QUERY * high, SIDE, high), "query", 1, room=1)
        if stage == "weights":
            sheet.box(middle - 36, 49, 72, 24, stage, fill="accent", ink="paper", round=12)
        else:
            sheet.text(stage, middle, 61, "soft")
        if place:
            sheet.arrow((middle - STEP + SIDE / 2, 28), (middle - SIDE / 2, 28))


def matrix(sheet: Drawing, words: list[str], weights: torch.Tensor) -> Box:
    """The weights, with the words beside them; gives back where the chosen one stands."""
    top = HEAD + 16
    sheet.text("key →", FIRST - 8, HEAD - 13, "key", align="end")
    sheet.text("query ↓", FIRST - 8, HEAD + 5, "query", align="end")
    for n, word in enumerate(words):
        sheet.text(word, FIRST + (n + 0.5) * WIDE, HEAD, "key")
        sheet.text(word, FIRST - 8, top + (n + 0.5) * HIGH, "query", align="end")
    sheet.cells(weights.tolist(), FIRST, top, WIDE, height=HIGH, places=4)
    cell = Box(FIRST + KEY * WIDE, top + QUERY * HIGH, WIDE, HIGH)
    sheet.frame(cell, "ink", 3)
    return cell


def panel(sheet: Drawing, record: AttentionTrace, words: list[str]) -> None:
    """What the chosen weight is: its part of a bar of length 1, and its arithmetic."""
    row = record.stage("weights")[QUERY].tolist()
    score = float(record.stage("masked")[QUERY, KEY])
    most, total = (float(part[0, 0, QUERY]) for part in (record.row_max, record.row_sum))
    sheet.line((LEFT, PANEL - 14), (END, PANEL - 14), width=0.8)
    sheet.text(f"{words[QUERY]} gives {fixed(row[KEY])}", LEFT, PANEL + 10, align="start")
    sheet.text(f"to {words[KEY]}", LEFT, PANEL + 32, align="start")
    x0, long = float(LEFT), HALF - 34 - LEFT
    for n, weight in enumerate(row):
        fill = "accent" if n == KEY else "wash"
        sheet.box(x0, PANEL + 54, weight * long, 22, fill=fill, round=0)
        sheet.frame(Box(x0, PANEL + 54, weight * long, 22), "soft", 0.8)
        x0 += weight * long
    lines = (
        f"weights[{QUERY}, {KEY}]",
        f"= exp({fixed(score)} − {fixed(most)})",
        f"/ {fixed(total)}",
        f"= {fixed(row[KEY])}",
    )
    for n, says in enumerate(lines):
        sheet.text(says, HALF + 20, PANEL + 10 + n * 23, align="start", bold=n == 3)


def mark(sheet: Drawing, number: int, x: float, y: float) -> None:
    """A number in a disc, for the list below the drawing."""
    sheet.add(drawsvg.Circle(x, y, 12, class_="paper"))
    sheet.add(drawsvg.Circle(x, y, 11, class_="accent"))
    sheet.text(str(number), x, y, "paper", bold=True)
