"""What the maps of a batch say of an induction head and of a sink."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.learning.task import Batch


class Shares(NamedTuple):
    """How much weight a map gives, on average, to the places that matter.

    previous: the weight of the previous place, over all letters but the first.
    copied: the weight of the letters to copy, that is, those that followed earlier occurrences of
        the query's letter, over the repeats. It is large in an induction head: Olsson et al.
        (2022).
    start_at_first: the weight of the start token, over places that predict a letter for the first
        time; 0 without a start token.
    start_at_repeats: the same over the repeats.

    Taught in chapter 13.
    """

    previous: float
    copied: float
    start_at_first: float
    start_at_repeats: float

    def __repr__(self) -> str:
        return (
            f"previous {self.previous:.3f}, copied {self.copied:.3f}, start "
            f"{self.start_at_first:.3f} at first, {self.start_at_repeats:.3f} at repeats"
        )


def shares(weights: Float[Tensor, "B T T"], batch: Batch) -> Shares:
    """Where the attention of one head goes in a batch, on average.

    >>> from attn_core.learning.task import RepeatedSegments
    >>> task = RepeatedSegments()
    >>> even = torch.full((1, 12, 12), 1 / 12, dtype=torch.float64)
    >>> shares(even, task.batch([task.text(seed=1, number=0)]))
    previous 0.083, copied 0.097, start 0.000 at first, 0.000 at repeats

    weights: the map [B, T, T] of each text of the batch. Taught in chapter 13.
    """
    place, start = batch.letter_places, batch.start
    back = place[:, None] - place  # how far each key is before its query
    repeat, first = batch.is_repeat, batch.is_first
    segments = batch.segments[:, None, None]
    copies = (back > 0) & ((back + 1) % segments == 0) & (place >= 0)
    copied = (weights * copies).sum(-1)[repeat]
    previous = weights.diagonal(-1, dim1=-2, dim2=-1)[:, start:]
    on_start = weights[..., 0] if start else torch.zeros_like(weights[..., 0])
    return Shares(*map(mean, (previous, copied, on_start[first], on_start[repeat])))


def mean(numbers: Float[Tensor, "..."]) -> float:
    """The mean; 0 of nothing."""
    return numbers.mean().item() if numbers.numel() else 0.0
