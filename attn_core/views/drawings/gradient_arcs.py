"""Forward and back on the same arcs: weights that take values, and the gradients of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing, short
from attn_core.views.drawings.margins import check_words

MOST = 3  # words
SIDE, MIDDLE = 10, 14  # margins beside and between the panels
TOP, HIGH, BETWEEN = 58, 52, 132  # where boxes begin, their height, and the room for arcs
ALONG = 0.22  # how far from the value on its arc a number is
SPREAD = 34  # between the ends of two arcs at one word


def gradient_arcs(record: AttentionTrace, grad_output: Tensor, tokens: Sequence[str]) -> Drawing:
    """Left, the weights by which outputs take values; right, on the same arcs, what comes back.

    >>> import math, torch
    >>> from attn_core import trace
    >>> q, k, v = (torch.tensor([row]).T for row in ([math.log(3), 0], [0.0, 1], [0.0, 4]))
    >>> gradient_arcs(trace(q, k, v, scale=1.0), torch.tensor([[2.0], [-2]]), ["one", "two"])
    Drawing: Two panels with the same arcs between the values and the outputs of one, two. \
Forward: one takes 0.25 · 0 + 0.75 · 4 = 3; two takes 0.5 · 0 + 0.5 · 4 = 2. Back: the outputs \
have the gradients 2 and −2, the values −0.5 and 0.5. The gradients of the scores: of one −1.5, \
1.5; of two 2, −2.

    An arc is as wide as its weight on the left, as the gradient of its score on the right. Where
    that is negative a step against it raises the score, and the arc is solid; where it is positive
    the score falls, and the arc is dashed. A hidden cell has no arc.

    Args:
        record: one head over one sentence of up to three words, its values of one number.
        grad_output: the gradient of a loss with respect to each output.
        tokens: the words.

    Taught in chapter 13.
    """
    L, S = record.size
    if L != S or not 1 <= L <= MOST or record.v.shape != (1, 1, S, 1):
        raise ValueError(
            f"record must be of one head over up to {MOST} words with values of one number, "
            f"got {L} queries, {S} keys and values {list(record.v.shape)}"
        )
    check_words(tokens, S)
    if grad_output.shape != (L, 1):
        raise ValueError(f"grad_output must be {[L, 1]}, got {list(grad_output.shape)}")
    weights = record.tile("weights", slice(None), slice(None)).detach().double()
    values = record.v[0, 0].detach().double()
    back = grad_output.detach().double()
    outputs = weights @ values
    gradients = record.gradients(grad_output.to(record.q.dtype).expand(*record.lead, L, 1))
    scores = gradients.tile("grad_scaled", slice(None), slice(None)).double()
    value_grads = gradients.grad_v.flatten().tolist()
    taken = "; ".join(
        f"{token} takes {added(row, values[:, 0].tolist())} = {short(output)}"
        for token, row, output in zip(tokens, weights.tolist(), outputs[:, 0].tolist(), strict=True)
    )
    grads = "; ".join(
        f"of {token} " + ", ".join(short(n) for n, w in zip(row, keeps, strict=True) if w)
        for token, row, keeps in zip(tokens, scores.tolist(), weights.tolist(), strict=True)
    )
    sheet = Drawing(
        WIDEST,
        TOP + 2 * HIGH + BETWEEN + 34,
        "Two panels with the same arcs between the values and the outputs of "
        f"{', '.join(tokens)}. Forward: {taken}. Back: the outputs have the gradients "
        f"{joined(back[:, 0].tolist())}, the values {joined(value_grads)}. The gradients of the "
        f"scores: {grads}.",
    )
    wide = (WIDEST - 2 * SIDE - MIDDLE) / 2
    sheet.line((WIDEST / 2, 8), (WIDEST / 2, TOP + 2 * HIGH + BETWEEN + 26), width=0.6)
    for left, title, above, below, arcs, is_back in (
        (SIDE, "forward", outputs, values, weights, False),
        (SIDE + wide + MIDDLE, "back", back, torch.tensor(value_grads)[:, None], scores, True),
    ):
        sheet.text(title, left + wide / 2, 16, bold=True)
        names = ("outputs’ gradients", "values’ gradients") if is_back else ("outputs", "values")
        y = TOP + HIGH + BETWEEN
        sheet.text(names[0], left + wide / 2, TOP - 16, "soft")
        sheet.text(names[1], left + wide / 2, y + HIGH + 16, "value")
        tops = row(sheet, left, wide, TOP, tokens, above[:, 0].tolist(), "soft")
        bottoms = row(sheet, left, wide, y, tokens, below[:, 0].tolist(), "value")
        drawn = [(i, j) for i in range(L) for j in range(S) if weights[i, j]]
        most = float(arcs.abs().max()) or 1
        for i, j in drawn:
            ends = bottoms[j].along(i, L), tops[i].along(j, S)
            arc(sheet, *ends, float(arcs[i, j]), most, is_back)
        for i, j in drawn:
            low, high = bottoms[j].along(i, L), tops[i].along(j, S)
            number(sheet, low, high, float(arcs[i, j]))
    return sheet


@dataclass(frozen=True)
class Word:
    """The box of a word, and the height at which its arcs end."""

    box: Box
    end: float

    def along(self, n: int, count: int) -> tuple[float, float]:
        """Where the arc from or to word n of so many ends."""
        return self.box.middle[0] + (n - (count - 1) / 2) * SPREAD, self.end


def row(
    sheet: Drawing, left: float, wide: float, y: float, tokens: Sequence[str],
    numbers: Sequence[float], ink: str,
) -> list[Word]:  # fmt: skip
    """A box for each word, with its number below it."""
    words, each = [], wide / len(tokens)
    fill, end = ("value-wash", y - 3) if ink == "value" else ("wash", y + HIGH + 3)
    for n, (token, shown) in enumerate(zip(tokens, numbers, strict=True)):
        half = min(each - 10, 96) / 2
        middle = left + (n + 0.5) * each
        box = sheet.box(middle - half, y, 2 * half, HIGH, fill=fill, line=ink)
        sheet.text(token, middle, y + 16)
        sheet.text(short(shown), middle, y + 36, bold=True)
        words.append(Word(box, end))
    return words


Point = tuple[float, float]


def arc(sheet: Drawing, low: Point, high: Point, size: float, most: float, is_back: bool) -> None:
    """Up, what an output takes; down, solid where the score rises, dotted where it stays."""
    width = 1 + 3.5 * abs(size) / most
    if not is_back:
        sheet.arrow(low, high, width=width, gap=0)
        return
    dash: dict[str, Any] = {} if size < 0 else {"stroke_dasharray": "6 4" if size else "1 4"}
    sheet.arrow(high, low, "accent", width=width, gap=0, **dash)


def number(sheet: Drawing, low: Point, high: Point, size: float) -> None:
    x, y = (a + (b - a) * ALONG for a, b in zip(low, high, strict=True))
    half = 3 + 4.7 * len(short(size))
    sheet.box(x - half, y - 10, 2 * half, 20, short(size), fill="paper", round=3)


def added(weights: Sequence[float], values: Sequence[float]) -> str:
    """
    >>> added([0.25, 0.75], [0.0, 4.0]), added([1.0, 0.0], [2.0, 4.0])
    ('0.25 · 0 + 0.75 · 4', '1 · 2')
    """
    pairs = zip(weights, values, strict=True)
    return " + ".join(f"{short(w)} · {short(v)}" for w, v in pairs if w)


def joined(numbers: Sequence[float]) -> str:
    """
    >>> joined([2.0]), joined([2.0, -2.0, 1.5])
    ('2', '2, −2 and 1.5')
    """
    *first, last = map(short, numbers)
    return f"{', '.join(first)} and {last}" if first else last
