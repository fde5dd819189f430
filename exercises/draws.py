"""Random numbers for an exercise's variants: the same for a seed on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TypeVar

import torch
from torch import Tensor

from attn_core.dropout import LOW_32, philox

Option = TypeVar("Option")
BLOCK = 64


class Draws:
    """The draws of one seed, one after the other: the counted words of chapter 07's dropout.

    >>> draw = Draws(7)
    >>> draw.integer(1, 7), draw.choice(["query", "key", "value"]), draw.order(4)
    (4, 'query', [1, 0, 2, 3])
    >>> draw.uniform(2, 3, low=-1.0, places=2)
    tensor([[-0.1900, -0.3400, -0.3600],
            [ 0.3800, -0.4700,  0.6800]])

    seed: a whole number, 0 ≤ seed < 2**53. torch's own generator is not used: what it draws for
    a seed depends on the platform and the version.
    """

    def __init__(self, seed: int) -> None:
        self.key = (seed & LOW_32, seed >> 32)
        self.used = 0

    def words(self, count: int) -> Tensor:
        """The next `count` words of 32 bits, int64 [count]."""
        first, last = self.used // BLOCK, (self.used + count) // BLOCK
        blocks = torch.cat([block(self.key, number) for number in range(first, last + 1)])
        start = self.used - first * BLOCK
        self.used += count
        return blocks[start : start + count]

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers from `low` to `high` − 1, int64."""
        if not 0 < high - low < 2**31:
            raise ValueError(f"high must be above low, by less than 2**31, got {low} and {high}")
        return low + (self.words(prod(shape)) * (high - low) >> 32).view(shape)

    def integer(self, low: int, high: int) -> int:
        """One whole number from `low` to `high` − 1."""
        return int(self.integers(low, high))

    def choice(self, options: Sequence[Option]) -> Option:
        """One of the options."""
        return options[self.integer(0, len(options))]

    def uniform(
        self,
        *shape: int,
        low: float = 0.0,
        high: float = 1.0,
        places: int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Numbers from `low` to `high`; with `places`, rounded to so many decimals."""
        numbers = low + (high - low) * self.words(prod(shape)).double() / 2**32
        if places is not None:
            numbers = numbers.round(decimals=places)
        return numbers.view(shape).to(dtype)

    def order(self, count: int) -> list[int]:
        """The numbers 0 to `count` − 1 in a random order."""
        left = list(range(count))
        return [left.pop(self.integer(0, len(left))) for _ in range(count)]


@lru_cache(maxsize=1024)
def block(key: tuple[int, int], number: int) -> Tensor:
    """The words of one block. A variant draws a few at a time, and often again."""
    counters = torch.arange(number * BLOCK, (number + 1) * BLOCK)
    zero = torch.zeros_like(counters)
    # The last counter word keeps these apart from the bits of a Dropout with the same seed.
    return philox((counters, zero, zero, zero + LOW_32), key)[0]
