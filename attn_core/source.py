"""Where q, k and v come from: x and three matrices."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from attn_core.checks import brief, check_is, largest, shape_of
from attn_core.rotary import Rotary


@dataclass(frozen=True, eq=False)
class Projection:
    """Where q, k and v come from: x and the three matrices, so that arithmetic reaches down to x.

    x [*B, T, E]; w_query, w_key [E, H·D]; w_value [E, H·Dv]; biases: None, or the three biases of
    query, key and value [H·D], [H·D], [H·Dv]. Head h owns columns h·D to (h+1)·D − 1; with fewer
    heads of keys than of queries, w_key and w_value have correspondingly fewer columns.

    rotary: a `Rotary` that rotates queries and keys after the projection, or None.
    positions: the place of each row of x, [T] or [B, T]. Defaults to 0, 1, 2, …

    Taught in chapters 04, 05 and 12.
    """

    x: Float[Tensor, "*B T E"]
    w_query: Float[Tensor, "E HD"]
    w_key: Float[Tensor, "E HkvD"]
    w_value: Float[Tensor, "E HkvDv"]
    biases: tuple[Tensor, Tensor, Tensor] | None = None
    rotary: Rotary | None = None
    positions: Shaped[Tensor, "*P T"] | None = None

    def __post_init__(self) -> None:
        check_is("rotary of source", self.rotary, Rotary)
        if isinstance(self.positions, Tensor):  # a copy, which nobody else writes into
            object.__setattr__(self, "positions", self.positions.detach().clone())

    def project(self) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of all heads side by side: [*B, T, H·D], [*B, T, H·D], [*B, T, H·Dv]."""
        q, k, v = (self.x @ w for w in (self.w_query, self.w_key, self.w_value))
        if self.biases is not None:
            # Under autocast a product has fewer digits than its bias; nn.Linear gives that dtype.
            bias_q, bias_k, bias_v = (bias.to(q.dtype) for bias in self.biases)
            q, k, v = q + bias_q, k + bias_k, v + bias_v
        if self.rotary is not None:
            q, k = (self.rotary.rotate(rows, self.positions) for rows in (q, k))
        return q, k, v

    def position(self, batch: int, row: int) -> float:
        """The place by which the numbers of a row are rotated."""
        places = self.positions_of(batch)
        return row if places is None else places[row].item()

    def positions_of(self, batch: int) -> Shaped[Tensor, "T"] | None:
        """The places of the rows of one sentence, if they were given."""
        if self.positions is None or self.positions.ndim == 1:
            return self.positions
        # A row of places serves all sentences along the other leading axes of x.
        return self.positions[batch * len(self.positions) // math.prod(self.x.shape[:-2])]

    def each(self, change: Callable[[Tensor], Tensor]) -> "Projection":
        """The same of other tensors, such as copies in another dtype."""
        x, w_query, w_key, w_value = map(change, (self.x, self.w_query, self.w_key, self.w_value))
        biases: Any = self.biases
        if isinstance(biases, (tuple, list)):
            biases = tuple(map(change, biases))
        return Projection(x, w_query, w_key, w_value, biases, self.rotary, self.positions)

    def tensors(self) -> dict[str, Tensor]:
        """All that q, k and v follow from, by names that an error can use."""
        names = ("x", "w_query", "w_key", "w_value")
        named = {f"{name} of source": getattr(self, name) for name in names}
        biases = enumerate(self.biases or ())
        return named | {f"biases[{i}] of source": bias for i, bias in biases}


def check_projection(
    x: Tensor, matrices: Sequence[Tensor], biases: Sequence[Tensor] | None, q: Tensor
) -> None:
    """x [*, T, E] can be multiplied by the matrices [E, ·], in q's dtype and on its device."""
    names = ("w_query", "w_key", "w_value")
    tensors = {"x": x, **dict(zip(names, matrices, strict=True))}
    if biases is not None:
        if not isinstance(biases, (tuple, list)) or len(biases) != 3:
            raise TypeError(f"biases of source must be three tensors or None, got {brief(biases)}")
        tensors |= {f"biases[{i}]": bias for i, bias in enumerate(biases)}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} of source must be a torch tensor, got {brief(tensor)}")
        if tensor.dtype != q.dtype:
            raise TypeError(f"{name} of source must have q's dtype {q.dtype}, got {tensor.dtype}")
        if tensor.device != q.device:
            raise ValueError(
                f"{name} of source must be on q's device {q.device}, got {tensor.device}"
            )
    if x.ndim < 2:
        raise ValueError(f"x of source must have at least 2 axes [T, E], got {shape_of(x)}")
    for name, matrix in zip(names, matrices, strict=True):
        if matrix.ndim != 2 or matrix.shape[0] != x.shape[-1]:
            raise ValueError(
                f"{name} of source must have the shape ({x.shape[-1]}, columns), "
                f"got {shape_of(matrix)}"
            )
    for i, bias in enumerate(biases or ()):
        if bias.shape != matrices[i].shape[1:]:
            raise ValueError(
                f"biases[{i}] of source must have the shape {shape_of(matrices[i])[1:]}, "
                f"got {shape_of(bias)}"
            )


def check_rotary(source: Projection, q: Tensor) -> None:
    """What rotates the rows fits the heads; without it there are no positions."""
    if source.rotary is None:
        if source.positions is not None:
            raise ValueError("positions of source must be None without a rotary, got some")
    elif source.rotary.head_dim != q.shape[-1]:
        raise ValueError(
            f"rotary of source must have q's head_dim {q.shape[-1]}, got {source.rotary.head_dim}"
        )


def check_source(name: str, wanted: Tensor, projected: Tensor) -> None:
    """The projection of x must be what was handed in as q, k or v, up to rounding."""
    if wanted.shape != projected.shape:
        raise ValueError(
            f"source must give {name} of shape {shape_of(wanted)}, got {shape_of(projected)}"
        )
    error = (wanted - projected).abs().max().item()
    most = max(1e-4, 2 * torch.finfo(wanted.dtype).eps) * max(1.0, largest(wanted))
    if not error <= most:
        raise ValueError(f"source must give {name}, got numbers that are off by {error:.2g}")
