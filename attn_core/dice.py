"""Random numbers that are counted, not drawn from a generator: the same everywhere."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TypeVar

import torch
from jaxtyping import Int64
from torch import Tensor

from attn_core.dropout import LOW_32, philox

Item = TypeVar("Item")
AT_ONCE = 64  # counters


def random_words(
    seed: int, series: range, length: int, *, kind: int = 0, start: int = 0
) -> Int64[Tensor, "series length"]:
    """32-bit words of philox for each series, whose counters are (0, series, 0, kind), (1, …), …

    >>> random_words(0, range(2), 3)
    tensor([[1713891541, 3781805453, 3159862348],
            [1792067052, 3928187465, 1940150773]])

    kind: what is drawn; series of one kind have nothing in common with those of another.
    start: the first counter.
    """
    blocks = start + torch.arange((length + 3) // 4)
    numbers = torch.arange(series.start, series.stop, series.step)[:, None]
    zero = torch.zeros((), dtype=torch.int64)
    words = philox((blocks, numbers, zero, zero + kind), (seed & LOW_32, seed >> 32))
    return torch.stack(torch.broadcast_tensors(*words), dim=-1).flatten(1)[:, :length]


def endless_words(seed: int, series: int) -> Iterator[int]:
    """The words of one series, as many as are asked for."""
    for start in count(step=AT_ONCE):
        one = range(series, series + 1)
        yield from random_words(seed, one, 4 * AT_ONCE, start=start)[0].tolist()


class Dice:
    """Throws by the words of a series.

    >>> dice = Dice(endless_words(seed=0, series=0))
    >>> [dice.below(6) for _ in range(8)]
    [2, 5, 4, 3, 5, 2, 4, 0]
    >>> dice.pick("abcdefgh", 3)
    ['a', 'd', 'b']
    """

    def __init__(self, words: Iterator[int]) -> None:
        self.words = words

    def below(self, n: int) -> int:
        """A whole number from 0 on and below n."""
        return next(self.words) * n >> 32

    def pick(self, items: Sequence[Item], count: int) -> list[Item]:
        """Different items of a list, in the order in which they are drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(count)]
