"""The right map beside maps that mistakes make of the same record, each with what gives it away."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attn_core.mistakes import MISTAKES
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing, minus

CELL, HIGH = 42, 32
ACROSS = 3
PANEL, TALL = 172, 196
TITLE = 17  # letters of a title in one line


class Seen(NamedTuple):
    """What gives a map away, and in which cells, [row, column]."""

    words: str
    cells: list[tuple[int, int]]


def mistaken_maps(record: AttentionTrace, names: Sequence[str]) -> Drawing:
    """The right weights and those of up to five mistakes: sums beside the rows, faults framed.

    >>> from attn_core import causal, toy, trace
    >>> x = toy.notebook().x
    >>> mistaken_maps(trace(x, x, x, keep=causal()), ["no-mask", "softmax-over-queries"])
    Drawing: 3 maps show the weights of one record, each row with its sum. “Right”: rows add up \
to 1. “No mask”: hidden words not 0. “Softmax over queries”: columns add up to 1.

    Args:
        record: at most three words; its first sentence and head are drawn.
        names: of `MISTAKES`, those that can be made again from any record.

    Taught in chapter 14.
    """
    _, _, rows, cols = record.shape
    if rows > 3 or cols > 3:
        raise ValueError(f"record must have at most 3 × 3 weights, got {rows} × {cols}")
    if not 1 <= len(names) <= 5:
        raise ValueError(f"names must be one to five, got {len(names)}")
    unknown = [name for name in names if name not in MISTAKES]
    if unknown:
        raise ValueError(f"names must be among MISTAKES, got {unknown[0]}")
    right = record.tile("weights", range(rows), range(cols)).detach()
    keep = torch.ones_like(right, dtype=torch.bool)
    if record.keep is not None:
        keep = record.keep.dense(rows, cols, right.device)[0, 0]
    panels = [("right", right, Seen("rows add up to 1", []))]
    for name in names:
        made = MISTAKES[name].apply(record)["weights"]
        weights = made.reshape(-1, rows, cols)[0]
        panels.append((MISTAKES[name].title, weights, given_away(weights, right, keep)))
    description = " ".join(f"“{title.capitalize()}”: {seen.words}." for title, _, seen in panels)
    down = math.ceil(len(panels) / ACROSS)
    sheet = Drawing(
        WIDEST,
        down * TALL,
        f"{len(panels)} maps show the weights of one record, each row with its sum. {description}",
    )
    for n, (title, weights, seen) in enumerate(panels):
        x, y = (n % ACROSS) * PANEL + 5, (n // ACROSS) * TALL
        draw_map(sheet, x, y, title, weights, seen, is_right=n == 0)
    return sheet


def draw_map(
    sheet: Drawing, x: float, y: float, title: str, weights: Tensor, seen: Seen, *, is_right: bool
) -> None:
    top = y + 54
    lines = textwrap.wrap(title, TITLE)
    for n, line in enumerate(lines):
        sheet.text(line, x, top - 16 - 20 * (len(lines) - 1 - n), align="start", bold=True)
    grid = sheet.cells(weights.nan_to_num(0.0).tolist(), x, top, CELL, height=HIGH, end=1)
    for i, row in enumerate(weights.tolist()):
        for j, n in enumerate(row):
            sheet.text(short(n), grid.x + (j + 0.5) * CELL, top + (i + 0.5) * HIGH)
        total = sum(row)
        is_whole = abs(total - 1) < 0.005
        ink = "soft" if is_whole else "accent"
        middle = top + (i + 0.5) * HIGH
        sheet.text(short(total), grid.x + grid.width + 22, middle, ink, bold=not is_whole)
    for i, j in seen.cells:
        sheet.frame(Box(grid.x + j * CELL, top + i * HIGH, CELL, HIGH), "accent", width=2.6)
    ink = "soft" if is_right else "accent"
    sheet.text(seen.words, x, grid.y + grid.height + 17, ink, align="start")


def given_away(weights: Tensor, right: Tensor, keep: Tensor) -> Seen:
    """The first property of right weights that these lack; else where they are too large.

    >>> import torch
    >>> given_away(torch.tensor([[2.0, -1.0]]), torch.tensor([[0.6, 0.4]]), torch.ones(1, 2) > 0)
    Seen(words='a share below 0', cells=[(0, 1)])
    """
    for words, wrong in (
        ("not a number", weights.isnan()),
        ("a share below 0", weights < 0),
        ("hidden words not 0", (weights > 0.005) & ~keep),
        ("kept words get 0", (weights == 0) & (right > 0.005)),
    ):
        if wrong.any():
            return Seen(words, [tuple(place) for place in wrong.nonzero().tolist()])
    if not is_one(weights.sum(dim=-1)):
        columns = is_one(weights.sum(dim=-2))
        return Seen("columns add up to 1" if columns else "sums are not 1", [])
    more = weights - right
    if more.max() < 0.005:
        return Seen("nothing to see here", [])
    i, j = divmod(int(more.argmax()), more.shape[1])
    return Seen(f"{short(weights[i, j])}, not {short(right[i, j])}", [(i, j)])


def is_one(sums: Tensor) -> bool:
    return bool(((sums - 1).abs() < 0.005).all())


def short(n: float | Tensor) -> str:
    return minus(f"{float(n):.2f}")
