"""Inputs of small whole numbers that tell mistakes apart, and what no input can tell."""

from typing import NamedTuple

import torch
from torch import Tensor

from attn_core.api import trace
from attn_core.dropout import Dropout
from attn_core.masks import Keep, causal, padding
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.mistake import right_stages
from attn_core.mistakes.showing import unequal
from attn_core.record import AttentionTrace


class Question(NamedTuple):
    """An input of small whole numbers, for `trace(**question._asdict())` and for your own code."""

    q: Tensor
    k: Tensor
    v: Tensor
    keep: Keep | None
    dropout: Dropout | None

    def trace(self) -> AttentionTrace:
        return trace(**self._asdict())


def whole_numbers(*shape: int, step: int) -> Tensor:
    count = torch.arange(torch.Size(shape).numel())
    return ((count * step + count // 5) % 7 - 3).float().view(shape)


def questions() -> tuple[Question, ...]:
    """Inputs that tell mistakes apart: each is made for mistakes that hide on those before it."""

    def made(B: int, H: int, L: int, S: int, keep: Keep, p: float, size: float = 1.0) -> Question:
        q, k = whole_numbers(B, H, L, 3, step=2), whole_numbers(B, H, S, 3, step=3)
        v = whole_numbers(B, H, S, 2, step=5)
        return Question(q * size, k * size, v, keep, Dropout(p, seed=3))

    return (
        made(2, 2, 3, 5, causal() & padding([4, 0]), 0.25),
        made(1, 3, 3, 3, causal(), 0.25),
        made(2, 2, 4, 4, causal() & padding([4, 2]), 0.25),
        made(1, 2, 3, 3, causal(), 0.25, size=20.0),
    )


def alike(stage: str) -> list[tuple[str, ...]]:
    """Which versions give the same stage on each of the questions; "right" is among them.

    >>> alike("output")
    [('right', 'dropped-as-weights')]
    >>> alike("masked")[1:]
    [('no-scale', 'scale-after-softmax'), ('no-mask', 'mask-after-softmax')]

    This stage alone cannot tell the versions of a group apart, whatever the input: their formulas
    are the same up to it, or, as in the first example, they come to the same result by another way.
    Taught in chapter 14.
    """
    versions: dict[str, list[Tensor]] = {"right": []}
    for question in questions():
        record = question.trace()
        versions["right"].append(right_stages(record)[stage])
        for mistake in MISTAKES.values():
            if mistake.is_replayed:
                versions.setdefault(mistake.name, []).append(mistake.apply(record)[stage])
    groups: list[list[str]] = []
    for name, made in versions.items():
        for group in groups:
            pairs = zip(made, versions[group[0]], strict=True)
            if not any(unequal(*pair) for pair in pairs):
                group.append(name)
                break
        else:
            groups.append([name])
    return [tuple(group) for group in groups if len(group) > 1]
