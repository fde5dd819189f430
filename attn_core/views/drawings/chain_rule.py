"""The chain rule: all ways by which one number of a matrix reaches the loss, link by link."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attn_core.digits import fixed
from attn_core.source import Projection
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus
from attn_core.views.drawings.strip import quoted

MIDDLE = WIDEST / 2
COLUMN = 86  # of each key
HIGH = 28  # of each box
TOP, QUERY, FACTORS, SCORES, PULLS, LOSS = 6, 76, 144, 162, 246, 292
FRAME = 66  # around the scores


def chain_rule(
    source: Projection,
    word: int,
    target: int,
    *,
    number: tuple[int, int] = (0, 0),
    tokens: Sequence[str],
) -> Drawing:
    """From one number of w_query to the loss −log w(word, target): beside each link its factor.

    >>> from attn_core import modules, toy
    >>> words, x = toy.journey()
    >>> w = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> chain_rule(Projection(x[:2], w, w, w), 0, 1, tokens=words[:2])
    Drawing: Lines lead from w_query[0, 0] to the loss, which is −log of the weight that “Your” \
gives to “journey”. Number 0 of the query of “Your” changes 0.43 times as much as w_query[0, 0]. \
The scaled scores of “Your” with “Your”, “journey” change 0.3041, 0.3889 times as much as that \
number. The loss changes 0.4718, −0.4718 times as much as these scores.

    Args:
        source: x and its matrices, at most six words.
        word: whose query is followed.
        target: the key whose weight the loss wants large.
        number: the row and the column of the number in w_query.
        tokens: the words.

    Taught in chapter 05.
    """
    x = source.x.reshape(-1, *source.x.shape[-2:])[0].detach().double()
    if not 1 <= len(x) <= 6:
        raise ValueError(f"source must have at most 6 words, got {len(x)}")
    if len(tokens) != len(x):
        raise ValueError(f"tokens must be {len(x)} words, got {len(tokens)}")
    for name, place in (("word", word), ("target", target)):
        if not 0 <= place < len(x):
            raise ValueError(f"{name} must be from 0 to {len(x) - 1}, got {place}")
    row, column = number
    if not (0 <= row < source.w_query.shape[0] and 0 <= column < source.w_query.shape[1]):
        shape = list(source.w_query.shape)
        raise ValueError(f"number must be a place in w_query, {shape}, got {number}")
    parts = (part.detach().double() for part in source.project())
    q, k, _ = (part.reshape(-1, *part.shape[-2:])[0] for part in parts)
    root = k.shape[-1] ** 0.5
    weights = torch.softmax(q[word] @ k.T / root, dim=0)
    pulls = weights.clone()
    pulls[target] -= 1
    first = fixed(x[word, row].item(), 2)
    factors, pulled = ([signed(n) for n in some] for some in (k[:, column] / root, pulls))
    name = f"w_query[{row}, {column}]"
    sheet = Drawing(
        WIDEST,
        LOSS + HIGH + 6,
        f"Lines lead from {name} to the loss, which is −log of the weight that “{tokens[word]}” "
        f"gives to “{tokens[target]}”. Number {column} of the query of “{tokens[word]}” changes "
        f"{first} times as much as {name}. The scaled scores of “{tokens[word]}” with "
        f"{', '.join(quoted(tokens))} change {', '.join(factors)} times as much as that number. "
        f"The loss changes {', '.join(pulled)} times as much as these scores.",
    )
    begin = sheet.box(MIDDLE - 110, TOP, 220, HIGH, name, line="soft")
    query = sheet.box(
        MIDDLE - 150, QUERY, 300, HIGH, f"the query of {tokens[word]}, number {column}",
        fill="query-wash", line="query",
    )  # fmt: skip
    loss = sheet.box(
        MIDDLE - 150, LOSS, 300, HIGH,
        f"loss: −log of the weight {tokens[word]} → {tokens[target]}", line="accent",
    )  # fmt: skip
    sheet.arrow(begin.bottom, query.top, gap=2)
    sheet.text(f"×{first}", MIDDLE + 12, (TOP + HIGH + QUERY) / 2, align="start")
    sheet.box(2, SCORES, WIDEST - 4, FRAME)
    sheet.text(f"the scaled scores of {tokens[word]} with", MIDDLE, SCORES + 15)
    left = MIDDLE - COLUMN * (len(x) - 1) / 2
    for j, (factor, pull, token) in enumerate(zip(factors, pulled, tokens, strict=True)):
        at = left + j * COLUMN
        near = MIDDLE + (at - MIDDLE) * 0.5  # where its line leaves a box
        sheet.line((near, QUERY + HIGH), (at, FACTORS - 12))
        sheet.text(f"×{factor}", at, FACTORS)
        sheet.box(at - 38, SCORES + FRAME - HIGH - 6, 76, HIGH, token, fill="key-wash", line="key")
        sheet.text(f"×{pull}", at, PULLS)
        sheet.arrow((at, PULLS + 12), (near, loss.y), gap=1)
    return sheet


def signed(n: torch.Tensor) -> str:
    """
    >>> signed(torch.tensor(-0.5))
    '−0.5000'
    """
    return minus(fixed(n.item()))
