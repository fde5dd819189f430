"""One pass over the keys in blocks: a highest score and a total are corrected on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.views.drawings.drawing import WIDEST, Box, Drawing, minus
from attn_core.views.drawings.steps import Steps

SIDE = 10
TOP, HIGH = 36, 32  # of the scores
LABEL, COLUMN = 92, 78  # of the sum below
LINE, ROW = 100, 32


def one_pass(scores: Tensor, values: Tensor, tokens: Sequence[str] = (), *, size: int = 2) -> Steps:
    """One query, its keys block by block: what is kept, what mends it, and what a block adds.

    >>> import torch
    >>> scores, values = torch.tensor([1.0, 0, 2, 1]), torch.eye(4)[:, :2]
    >>> print(one_pass(scores, values).alt)
    Softmax in one pass, as an addition that each block continues. 1: Block 1: its highest score \
is 1.0000. The total is 1.3679. There is nothing to correct yet. 2: Block 2 has a higher score. \
What was kept is multiplied by exp(1.0000 − 2.0000) = 0.3679; the block is added. 3: All keys are \
done. One division by the total gives the output; no row of weights was ever stored.

    Args:
        scores: [S], of one query, as they pass by.
        values: [S, Dv], Dv at most 3.
        tokens: S words, or none.
        size: how many keys are read at once, a block.

    Taught in [one pass](one_pass.ipynb).
    """
    count = len(scores)
    if scores.ndim != 1 or not 2 <= count <= 6:
        raise ValueError(f"scores must be 2 to 6 in a row, got {list(scores.shape)}")
    if values.ndim != 2 or len(values) != count or values.shape[1] > 3:
        raise ValueError(f"values must be [{count}, 3 at most], got {list(values.shape)}")
    if len(tokens) not in (0, count):
        raise ValueError(f"tokens must be {count} words or none, got {len(tokens)}")
    if not 1 <= size <= count:
        raise ValueError(f"size must be from 1 to {count}, got {size}")
    scores, values = scores.detach().float(), values.detach().float()
    kept = [-math.inf, 0.0, *[0.0] * values.shape[1]]
    steps = []
    for n, start in enumerate(range(0, count, size)):
        block, part = scores[start : start + size], values[start : start + size]
        highest = max(kept[0], float(block.max()))
        shrink = math.exp(kept[0] - highest)
        exps = torch.exp(block - highest)
        adds = [float(exps.sum()), *(exps @ part).tolist()]
        shrunk = [number * shrink for number in kept[1:]]
        after = [highest, *(a + b for a, b in zip(shrunk, adds, strict=True))]
        lines: list[tuple[str, list[float | None]]] = [
            ("kept", list(kept)),
            (f"× {shrink:.4f}", [None, *shrunk]),
            ("block", [float(block.max()), *adds]),
            ("now", list(after)),
        ]
        if n == 0:
            says = f"Block 1: its highest score is {highest:.4f}. The total is {after[1]:.4f}. "
            says += "There is nothing to correct yet."
        elif highest > kept[0]:
            says = (
                f"Block {n + 1} has a higher score. What was kept is multiplied by "
                f"exp({kept[0]:.4f} − {highest:.4f}) = {shrink:.4f}; the block is added."
            )
        else:
            says = f"Block {n + 1} has no higher score: nothing shrinks, and the block is added."
        seen = start, min(start + size, count)
        steps.append((one_step(scores, tokens, seen, lines), says))
        kept = after
    lines = [
        ("kept", list(kept)),
        (f"÷ {kept[1]:.4f}", [None] * len(kept)),
        ("output", [None, None, *(n / kept[1] for n in kept[2:])]),
    ]
    says = "All keys are done. One division by the total gives the output; no row of weights "
    says += "was ever stored."
    steps.append((one_step(scores, tokens, (count, count), lines), says))
    return Steps(steps, "Softmax in one pass, as an addition that each block continues.")


def one_step(
    scores: Tensor,
    tokens: Sequence[str],
    seen: tuple[int, int],
    lines: Sequence[tuple[str, Sequence[float | None]]],
) -> Drawing:
    """The scores, a block of them framed, and below what is kept as a sum in columns."""
    start, end = seen
    sheet = Drawing(WIDEST, LINE + 5 * ROW + 8, f"Keys {start} to {end - 1} are read.")
    wide = (WIDEST - 2 * SIDE) / len(scores)
    for n, score in enumerate(scores.tolist()):
        x = SIDE + n * wide
        if tokens:
            ink = "key" if start <= n < end else "soft"
            sheet.text(tokens[n], x + wide / 2, TOP - 16, ink)
        if n < end:
            fill = "key-wash" if n >= start else "wash"
            ink = "ink" if n >= start else "soft"
            sheet.box(x + 2, TOP, wide - 4, HIGH, number(score), fill=fill, ink=ink)
        else:
            sheet.box(x + 2, TOP, wide - 4, HIGH, fill="none", line="soft", dashed=True)
    if end > start:
        sheet.frame(Box(SIDE + start * wide, TOP, (end - start) * wide, HIGH), "key", room=2)
    columns = len(lines[0][1])
    for c, name in enumerate(("highest", "total", "mixed values")):
        middle = LABEL + (c + 0.5) * COLUMN
        if c == 2:
            middle = LABEL + 12 + (2 + (columns - 2) / 2) * COLUMN
        sheet.text(name, middle, LINE + 6, "value" if c == 2 else "soft")
    for row, (label, numbers) in enumerate(lines):
        y = LINE + (row + 1) * ROW + 6
        is_last = row == len(lines) - 1
        ink = "accent" if label.startswith(("×", "÷")) else "key" if label == "block" else "ink"
        sheet.text(label, LABEL - 10, y, ink, align="end", bold=is_last)
        if is_last:
            right = LABEL + 12 + columns * COLUMN
            sheet.line((SIDE, y - ROW / 2), (right, y - ROW / 2), ink="ink", width=1.2)
        for c, held in enumerate(numbers):
            if held is not None:
                x = LABEL + (c + 0.5) * COLUMN + (12 if c > 1 else 0)
                sign = "+" if label == "block" and c > 0 else ""
                sheet.text(sign + number(held), x - 4 * bool(sign), y, ink, bold=is_last)
    return sheet


def number(n: float) -> str:
    return minus(f"{n:.4f}") if math.isfinite(n) else "−∞"
