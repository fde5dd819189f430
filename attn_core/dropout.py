"""Dropout whose bits are the same on every CPU, on every GPU and in the page."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from attn_core.checks import check_whole, is_number

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
LOW_32 = 0xFFFFFFFF
ROUNDS = 10

Words = Int64[Tensor, "..."]


def multiply(multiplier: int, word: Words) -> tuple[Words, Words]:
    """The high and the low 32 bits of a product of two 32-bit numbers.

    >>> [int(half) for half in multiply(0xFFFFFFFF, torch.tensor(0xFFFFFFFF))]
    [4294967294, 1]

    The product has 64 bits, and int64 takes the highest one for a sign; the bits are the same.
    """
    product = multiplier * word
    return (product >> 32) & LOW_32, product & LOW_32


def philox(
    counter: tuple[Words, Words, Words, Words], key: tuple[int, int]
) -> tuple[Words, Words, Words, Words]:
    """Four random 32-bit words for each counter of four words.

    >>> zero = torch.tensor(0)
    >>> [hex(int(word)) for word in philox((zero, zero, zero, zero), (0, 0))]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']

    Philox 4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
    (2011), section 3.3. Taught in chapter 07.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        high0, low0 = multiply(MULTIPLIERS[0], c0)
        high1, low1 = multiply(MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + KEY_STEPS[0]) & LOW_32, (k1 + KEY_STEPS[1]) & LOW_32
    return c0, c1, c2, c3


@dataclass(frozen=True)
class Dropout:
    """Which weights survive: each one with probability 1 − p, decided by its place and the seed.

    >>> Dropout(0.5, seed=7).survives(range(1), range(1), range(2), range(6))[0, 0].int()
    tensor([[1, 1, 0, 0, 0, 1],
            [0, 0, 1, 1, 0, 0]], dtype=torch.int32)

    p: the probability of being dropped, 0 ≤ p < 1.
    seed: a whole number, 0 ≤ seed < 2**53, so that a page can hold it too.

    A weight at (batch, head, row, column) takes word column % 4 of
    philox((column // 4, row, head, batch), key=seed) and survives iff word ≥ floor(p·2**32).
    So a tile has the bits of the whole map, whatever the tiling. Srivastava et al., "Dropout"
    (2014). Taught in chapter 07.
    """

    p: float
    seed: int

    def __post_init__(self) -> None:
        p, seed = check_dropout(self.p, self.seed)
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "seed", seed)

    def step(self, count: int) -> "Dropout":
        """The same p with different bits for each training step; step 0 is this Dropout itself.

        >>> Dropout(0.5, seed=7).step(0), Dropout(0.5, seed=7).step(1)
        (Dropout(p=0.5, seed=7), Dropout(p=0.5, seed=2735368061540708))
        """
        if count == 0:
            return self
        words = (torch.tensor(word) for word in (count & LOW_32, count >> 32, 0, LOW_32))
        c0, c1, c2, c3 = words
        high, low = (int(word) for word in philox((c0, c1, c2, c3), self.key)[:2])
        return Dropout(self.p, (high << 21) | (low >> 11))

    @property
    def key(self) -> tuple[int, int]:
        """The two words of the key: the seed's low and its high 32 bits."""
        return self.seed & LOW_32, self.seed >> 32

    def survives(
        self,
        batches: range,
        heads: range,
        rows: range,
        cols: range,
        device: torch.device | str | None = None,
    ) -> Bool[Tensor, "B H L S"]:
        """True where a weight survives, for any part of the map, by absolute indices."""
        return self.decide(self.words(batches, heads, rows, cols, device))

    def decide(self, words: Words) -> Bool[Tensor, "..."]:
        """True where a word lets its weight survive."""
        return words >= math.floor(self.p * 2**32)

    def words(
        self,
        batches: range,
        heads: range,
        rows: range,
        cols: range,
        device: torch.device | str | None = None,
    ) -> Int64[Tensor, "B H L S"]:
        """The random word of each weight: it depends on the seed and the place, not on p."""

        def axis(part: range, place: int) -> Words:
            shape = [1, 1, 1, 1]
            shape[place] = -1
            return torch.arange(part.start, part.stop, part.step, device=device).view(shape)

        blocks = range(min(cols) // 4, max(cols) // 4 + 1)
        counter = (axis(blocks, 3), axis(rows, 2), axis(heads, 1), axis(batches, 0))
        words = torch.stack(philox(counter, self.key), dim=-1)
        columns = axis(cols, 3).flatten() - 4 * blocks.start
        return words.flatten(-2)[..., columns]


def check_dropout(p: float, seed: int) -> tuple[float, int]:
    if not is_number(p):
        raise TypeError(f"p must be a number, got {type(p).__name__}")
    if not 0 <= p < 1:
        raise ValueError(f"p must be at least 0 and below 1, got {p}")
    return float(p), check_whole("seed", seed)
