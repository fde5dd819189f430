"""Two masks of finite numbers, added: what a row takes that has nothing left to see."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed
from attn_core.masks import Keep
from attn_core.views.drawings.drawing import LETTERS, WIDEST, Box, Drawing
from attn_core.views.drawings.margins import above, across, beside, check_words
from attn_core.views.drawings.masks import table
from attn_core.views.drawings.strip import listed, quoted

CELL = 36.0
GAP = 20


def masks_added(
    scores: Tensor, keeps: Mapping[str, Keep | Tensor], tokens: Sequence[str], fill: float
) -> Drawing:
    """How often each cell is hidden, beside the weights when every mask adds its finite number.

    >>> from attn_core import causal
    >>> is_word = torch.tensor([[False, True]]).expand(2, 2)
    >>> masks = {"causal": causal(), "padding": is_word}
    >>> masks_added(torch.zeros(2, 2), masks, ["pad", "one"], -1e9)
    Drawing: Two tables of 2 queries × 2 keys. The left one shows how many of the masks “causal” \
and “padding” hide each cell. The right one shows the weights when each of these masks adds -1e+09 \
where it hides. “pad 0” sees nothing, and gives 0.50 to “pad 0” and 0.50 to “one 1”, all of them \
hidden.

    Framed is each hidden cell that gets a weight.

    Args:
        scores: the scaled scores, a table.
        keeps: two masks by their names, True = keep.
        tokens: the words, queries and keys alike.
        fill: the number that a mask adds where it hides.

    Taught in chapter 06.
    """
    count = len(tokens)
    if tuple(scores.shape) != (count, count):
        raise ValueError(f"scores must be {count} × {count}, got {list(scores.shape)}")
    if len(keeps) != 2:
        raise ValueError(f"keeps must be two masks, got {len(keeps)}")
    check_words(tokens, count)
    times = sum((~torch.tensor(table(keep, count))).int() for keep in keeps.values())
    assert isinstance(times, Tensor)
    added = sum(
        torch.zeros_like(scores).masked_fill(~torch.tensor(table(keep, count)), fill)
        for keep in keeps.values()
    )
    weights = torch.softmax(scores + added, dim=-1)
    dead = [i for i in range(count) if bool((times[i] > 0).all())]
    label = max(across(word, LETTERS) for word in tokens)
    cell = min(CELL, (WIDEST - GAP - label - 24) / 2 / count)
    side, top = count * cell, 46 + label
    sheet = Drawing(
        WIDEST,
        top + side + 10,
        f"Two tables of {count} queries × {count} keys. The left one shows how many of the masks "
        f"{listed(quoted(keeps))} hide each cell. The right one shows the "
        f"weights when each of these masks adds {fill:g} where it hides. "
        f"{in_words(weights, times, tokens, dead)}",
    )
    left = (WIDEST + label + 7 - 2 * side - GAP) / 2
    inks = ["soft" if word == "pad" else "ink" for word in tokens]
    boxes = [Box(left + place * (side + GAP), top, side, side) for place in (0, 1)]
    for box, name in zip(boxes, ("hidden by how many", "weights"), strict=True):
        sheet.text(name, box.x + side / 2, 14, bold=True)
        above(sheet, tokens, box, inks)
    beside(sheet, tokens, boxes[0], inks)
    for i in range(count):
        for j in range(count):
            hidden, weight = int(times[i, j]), weights[i, j].item()
            (x, y), (other, _) = ((box.x + j * cell, box.y + i * cell) for box in boxes)
            words = str(hidden) if hidden else ""
            fill_of, opacity = ("masked", hidden / 2) if hidden else ("more", 0.8)
            sheet.box(x, y, cell, cell, words, fill=fill_of, opacity=opacity, round=0)
            if math.isnan(weight):
                sheet.box(other, y, cell, cell, "nan", fill="none", ink="key")
                continue
            words = fixed(weight, 2).replace("0.", ".") if weight else ""
            sheet.box(other, y, cell, cell, words, fill="more", opacity=weight, round=0)
    for box in boxes:
        sheet.grid(box, count, count, "soft", 0.8)
    for i, j in (times > 0).logical_and(weights > 0).nonzero().tolist():
        sheet.frame(Box(boxes[1].x + j * cell, top + i * cell, cell, cell), "key", room=-2)
    return sheet


def in_words(weights: Tensor, times: Tensor, tokens: Sequence[str], dead: Sequence[int]) -> str:
    """What the first row takes that sees nothing."""
    if not dead:
        return "No row is without a key."
    row = dead[0]
    if bool(weights[row].isnan().any()):
        return f"“{tokens[row]} {row}” sees nothing, and its weights are nan."
    takes = [
        f"{fixed(weight, 2)} to “{tokens[j]} {j}”"
        for j, weight in enumerate(weights[row].tolist())
        if weight
    ]
    return f"“{tokens[row]} {row}” sees nothing, and gives {listed(takes)}, all of them hidden."
