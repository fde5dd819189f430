"""Rotary positions: each pair of a query's or key's numbers is rotated by its position."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from attn_core.checks import check_tensor, check_whole, is_number, shape_of
from attn_core.precision import float_type

PAIRINGS = ("halves", "interleaved")


@dataclass(frozen=True)
class Rotary:
    """Rotates each pair of numbers of a query or key by position · base^(−2i/head_dim), i its pair.

    >>> rotary = Rotary(2)
    >>> quarter = math.pi / 2
    >>> rotary.rotate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, quarter])).round()
    tensor([[1., 0.],
            [-0., 1.]])

    The product of a rotated query and a rotated key depends on how far apart they are, not on where
    they are: (R_m q)·(R_n k) = q·R_{n−m} k. Values are not rotated.

    head_dim: numbers of one head, an even number.
    base: pair 0 rotates by one radian from position to position, the last by about 1 / base.
    pairing: which two numbers are pair i. "halves": i and i + head_dim/2, as in Hugging Face's
        models. "interleaved": 2i and 2i + 1, as in the paper and in GGUF files of Llama's kind. A
        model trained with one gives wrong scores with the other.

    Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), 3.2,
    equations 15 and 34. Taught in chapter 12.
    """

    head_dim: int
    base: float = 10000.0
    pairing: str = "halves"

    def __post_init__(self) -> None:
        if check_whole("head_dim", self.head_dim, least=2) % 2:
            raise ValueError(f"head_dim must be even, two for each pair, got {self.head_dim}")
        if not is_number(self.base) or not 1 <= self.base < math.inf:
            raise ValueError(f"base must be a number of at least 1, got {self.base!r}")
        if self.pairing not in PAIRINGS:
            raise ValueError(f"pairing must be {' or '.join(PAIRINGS)}, got {self.pairing!r}")

    def rate(self, pair: int) -> float:
        """Radians by which a pair rotates from one position to the next."""
        return self.base ** (-2 * pair / self.head_dim)

    @property
    def rates(self) -> list[float]:
        """Those of all pairs."""
        return [self.rate(pair) for pair in range(self.head_dim // 2)]

    def pair_of(self, column: int) -> tuple[int, int, bool]:
        """(pair, column of the other number, whether this is the pair's first) of a head's column.

        >>> Rotary(4).pair_of(3), Rotary(4, pairing="interleaved").pair_of(3)
        ((1, 1, False), (1, 2, False))
        """
        half = self.head_dim // 2
        if self.pairing == "halves":
            return column % half, (column + half) % self.head_dim, column < half
        return column // 2, column ^ 1, column % 2 == 0

    def angles(self, positions: Shaped[Tensor, "*B T"]) -> Float[Tensor, "*B T pairs"]:
        """The angle of each pair at each position, in float64."""
        rate = torch.tensor(self.rates, dtype=torch.float64, device=positions.device)
        return positions.double()[..., None] * rate

    def rotate(
        self, x: Float[Tensor, "*B T nD"], positions: Shaped[Tensor, "*P T"] | None = None
    ) -> Float[Tensor, "*B T nD"]:
        """x with each pair of each head rotated.

        x: [*B, T, n·head_dim], of one head (n = 1) or of several side by side.
        positions: the place of each row, [T], or [B, T] for one row of places per sentence; they
            need not be whole. Defaults to 0, 1, 2, …
        """
        check_tensor("x", x)
        if x.ndim < 2 or x.shape[-1] % self.head_dim:
            raise ValueError(
                f"x must be [*, T, n·{self.head_dim}], heads of head_dim {self.head_dim}, "
                f"got {shape_of(x)}"
            )
        places = self.places(x, positions)
        angles = self.angles(places)[..., None, :]  # the same for each head
        kind = float_type(x)
        cos, sin = angles.cos().to(kind), angles.sin().to(kind)
        heads = x.to(kind).unflatten(-1, (-1, self.head_dim))
        if self.pairing == "halves":
            first, second = heads.chunk(2, dim=-1)
        else:
            first, second = heads[..., 0::2], heads[..., 1::2]
        pair = first * cos - second * sin, second * cos + first * sin
        rotated = (
            torch.cat(pair, -1) if self.pairing == "halves" else torch.stack(pair, -1).flatten(-2)
        )
        return rotated.flatten(-2).to(x.dtype)

    def places(
        self, x: Float[Tensor, "*B T nD"], positions: Shaped[Tensor, "*P T"] | None
    ) -> Shaped[Tensor, "*Q T"]:
        """The positions, with an axis of size 1 for each of x that they lack."""
        T = x.shape[-2]
        if positions is None:
            return torch.arange(T, device=x.device)
        check_tensor("positions", positions)
        fits = positions.ndim in (1, 2) and positions.shape[-1] == T
        if positions.ndim == 2:
            fits = fits and x.ndim > 2 and len(positions) in (1, len(x))
        if not fits or positions.dtype == torch.bool:
            raise ValueError(
                f"positions must be one for each row, ({T},) or a row of {T} for each sentence, "
                f"got {shape_of(positions)}"
            )
        if positions.ndim == 2:
            positions = positions.view(len(positions), *[1] * (x.ndim - 3), T)
        return positions
