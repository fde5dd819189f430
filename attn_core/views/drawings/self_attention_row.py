"""One row of self-attention without trainable weights, from a word to its context vector."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.steps import Steps

ROW = 28
WIDE = 61  # of a cell with four decimals
NAMES = 74  # where the words end
X = 80  # where the vectors begin
COLUMNS = {"score": 284, "exp": 369, "weight": 454}
ASKS = 30  # where the query's row is
TOP = 92  # where the six rows are


def self_attention_row(x: Tensor, query: int, tokens: Sequence[str]) -> Steps:
    """The row of one word in six steps: its scores, exps, weights, the weighted rows, their sum.

    >>> from attn_core import toy
    >>> words, x = toy.journey()
    >>> says = self_attention_row(x, 1, words).alt
    >>> says[says.index("2:"):says.index("3:")]
    '2: The first score: 0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544. Likewise for the others. '

    Args:
        x: a row of three numbers for each word; no trainable weights, and no scale.
        query: whose row it is.
        tokens: the words.

    Taught in chapter 03.
    """
    if x.ndim != 2 or x.shape[1] > 3 or x.shape[0] != len(tokens):
        raise ValueError(
            f"x must have {len(tokens)} rows of at most 3 numbers, got {list(x.shape)}"
        )
    if not 0 <= query < len(x):
        raise ValueError(f"query must be one of the {len(x)} rows of x, got {query}")
    values = x.double()
    scores = values @ values[query]
    largest = scores.max()
    exps = torch.exp(scores - largest)
    total = exps.sum()
    weights = exps / total
    weighted = weights[:, None] * values
    context = weighted.sum(dim=0)
    name = tokens[query]
    pairs = torch.stack([values[query], values[0]], dim=1).tolist()
    products = " + ".join(f"{fixed(p, 2)}·{fixed(q, 2)}" for p, q in pairs)
    result = ", ".join(map(fixed, context.tolist()))
    sentences = (
        f"“{name}” asks: its row is lifted out and compared with every word's row, even its own.",
        f"The first score: {products} = {fixed(float(scores[0]))}. Likewise for the others.",
        f"exp of each score less the largest, {fixed(float(largest))}. "
        f"They add up to {fixed(float(total))}.",
        f"Dividing each by {fixed(float(total))} gives the weights, shares that add up to 1.",
        "Each word's row is multiplied by its weight: every word adds its share.",
        f"The sum, ({result}), is the context vector of “{name}”. Compare it with the top row.",
    )
    steps = []
    for step, says in enumerate(sentences, 1):
        sheet = Drawing(WIDEST, TOP + ROW * len(tokens) + 58, says)
        rows = weighted if step >= 5 else values
        width = WIDE * x.shape[1]
        asks = sheet.cells(
            [values[query].tolist()],
            X,
            ASKS,
            WIDE,
            height=ROW,
            end=1,
            places=2,
            faint=3 <= step <= 5,
        )
        sheet.frame(asks, "query", 2.2 if step in (1, 2, 6) else 1)
        sheet.text(name, NAMES, ASKS + ROW / 2, "query", align="end", bold=True)
        sheet.text("query", X + width / 2, ASKS - 14, "query")
        role = {1: "ink", 2: "key", 5: "value"}.get(step, "soft")
        head = {2: "keys", 5: "weight × row", 6: "weight × row"}.get(step, "x")
        block = sheet.cells(
            rows.tolist(), X, TOP, WIDE, height=ROW, end=1, places=4 if step >= 5 else 2,
            faint=step in (3, 4), line=role,
        )  # fmt: skip
        sheet.text(head, X + width / 2, TOP - 14, role)
        if role != "soft":
            sheet.frame(block, role)
        for n, token in enumerate(tokens):
            ink = "query" if n == query and step == 1 else "ink"
            sheet.text(token, NAMES, TOP + (n + 0.5) * ROW, ink, align="end")
        foot = TOP + ROW * len(tokens) + 12
        column(sheet, "score", scores, step, 2)
        column(sheet, "exp", exps, step, 3)
        column(sheet, "weight", weights, step, 4)
        if step == 2:
            # The pair whose products the sentence says.
            sheet.frame(Box(X, TOP, width, ROW), "key", 4)
            sheet.frame(Box(COLUMNS["score"], TOP, WIDE, ROW), "query", 4)
        for after, kind, number in ((3, "exp", fixed(float(total))), (4, "weight", "1")):
            if step >= after:
                ink = "ink" if step == after else "soft"
                sheet.text(number, COLUMNS[kind] + WIDE / 2, foot + ROW / 2, ink, bold=ink == "ink")
        if step == 5:
            # Below the sums, from the weights back to the rows.
            right, low, left = COLUMNS["weight"] + WIDE / 2, foot + ROW + 10, X + width / 2
            sheet.line((right, low - 12), (right, low), (left, low), ink="value", width=1.8)
            sheet.arrow((left, low), block.bottom, "value", gap=2)
        if step == 6:
            made = sheet.cells([context.tolist()], X, foot, WIDE, height=ROW, end=1, places=4)
            sheet.frame(made, "value")
            sheet.text("sum", NAMES, foot + ROW / 2, "value", align="end", bold=True)
        steps.append((sheet, says))
    return Steps(steps, f"How “{name}” gets its context vector, in {len(steps)} steps.")


def column(sheet: Drawing, kind: str, numbers: Tensor, step: int, first: int) -> Box | None:
    """The numbers of one stage, from its step on; strong in its own."""
    if step < first:
        return None
    now = step == first
    left = COLUMNS[kind]
    box = sheet.cells(
        [[n] for n in numbers.tolist()], left, TOP, WIDE, height=ROW, places=4,
        faint=not now and not (kind == "weight" and step == 5),
    )  # fmt: skip
    sheet.text(kind, left + WIDE / 2, TOP - 14, "ink" if now else "soft", bold=now)
    if now:
        sheet.frame(box, "query", 1.6)
        before = {"score": X + 3 * WIDE, "exp": COLUMNS["score"] + WIDE}
        y = TOP + box.height / 2
        sheet.arrow((before.get(kind, COLUMNS["exp"] + WIDE), y), (left, y), "query", gap=3)
    return box
