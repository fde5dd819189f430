"""Numbers that are added to the scaled scores, by a rule where there is one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import (
    FLOATS,
    brief,
    check_dense,
    check_no_sample,
    check_whole,
    largest,
    shape_of,
)
from attn_core.masks import as_slice, in_four_axes, numbers

Tile = Float[Tensor, "#b #h rows cols"]
Part = tuple[range, range, range, range]  # batches, heads, rows and columns of a map


@dataclass(frozen=True, eq=False, repr=False)
class Bias:
    """What is added to each scaled score: the sum of its fields; None adds nothing.

    >>> alibi([0.5]).dense(3, 3)[0, 0]
    tensor([[ 0.0000, -0.5000, -1.0000],
            [-0.5000,  0.0000, -0.5000],
            [-1.0000, -0.5000,  0.0000]])

    Query i of L has position i + (S − L) among the S keys, as for masks: the last query is at the
    last key. A rule computes any part of the bias on demand, so no table of L×S numbers is stored.
    `+` adds two biases.
    Taught in chapter 06.
    """

    table: Float[Tensor, "..."] | None = None  # a number a cell; sizes of 1 serve all
    slopes: Float[Tensor, "H"] | None = None  # minus this, times the distance of key and query
    relative: Float[Tensor, "H n"] | None = None  # by key − position, from −(n // 2) to n // 2

    def tile(self, part: Part, shape: tuple[int, int], dtype: torch.dtype = torch.float32) -> Tile:
        """Some batches, heads, rows and columns of the bias of a map of `shape` (L, S)."""
        _, heads, rows, cols = part
        tiles = []
        if self.table is not None:
            table = in_four_axes(self.table)
            tiles.append(table[places_of(part, table)].to(dtype))
        if self.slopes is not None or self.relative is not None:
            tiles.append(self._by_distance(heads, rows, cols, shape, dtype))
        return sum(tiles[1:], tiles[0])

    def dense(self, L: int, S: int, dtype: torch.dtype = torch.float32) -> Tile:
        """The whole bias."""
        # Not by a range, which would fix a length that torch.export lets vary.
        row, col = (torch.arange(size, device=self.device) for size in (L, S))
        tiles = [] if self.table is None else [in_four_axes(self.table).to(dtype)]
        if self.slopes is not None or self.relative is not None:
            tiles.append(self._rules(slice(None), col - row.view(-1, 1) - (S - L), dtype))
        return sum(tiles[1:], tiles[0])

    def _rules(self, heads: slice, away: Tensor, dtype: torch.dtype) -> Float[Tensor, "1 h *away"]:
        """The sum of the rules where keys are so far after their queries."""
        sums = []
        if self.slopes is not None:
            slopes = self.slopes[heads].to(dtype).view(-1, *[1] * away.ndim)
            sums.append(slopes * (-away.abs()).to(dtype))
        if self.relative is not None:
            sums.append(self.relative[heads].to(dtype)[:, columns_of(self.relative, away)])
        return sum(sums[1:], sums[0])[None]

    def _by_distance(
        self, heads: range, rows: range, cols: range, shape: tuple[int, int], dtype: torch.dtype
    ) -> Tile:
        """The rules' part of a tile."""
        if not rows.step == cols.step == 1:
            return self._rules(as_slice(heads), distance(rows, cols, shape, self.device), dtype)
        # One line has all distances, and each row is a part of it, one place before that of the row
        # above: copies of the line, read with a stride that is one too short, are these rows.
        ends = range(cols.start - rows.stop + 1, cols.stop - rows.start)
        away = numbers(ends, self.device) - (shape[1] - shape[0])
        line = self._rules(as_slice(heads), away, dtype)[0]
        copies = line.unsqueeze(1).expand(-1, len(rows), -1).contiguous()
        strides = len(rows) * len(ends), len(ends) - 1, 1
        size = (len(line), len(rows), len(cols))
        return copies.as_strided(size, strides, copies.storage_offset() + len(rows) - 1)[None]

    def add_gradients_(
        self,
        grad: Tensor,
        part: Part,
        shape: tuple[int, int],
        sums: dict[str, Tensor],
    ) -> None:
        """Adds to `sums`, one for each field, what a part of the map's gradient gives it."""
        _, heads, rows, cols = part
        away = distance(rows, cols, shape, self.device)
        if "table" in sums:
            place = places_of(part, sums["table"])
            sums["table"][place] += grad.sum_to_size(sums["table"][place].shape)
        if "slopes" in sums:
            sums["slopes"][as_slice(heads)] -= (grad * away.abs()).sum((0, 2, 3))
        if "relative" in sums:
            columns = columns_of(sums["relative"], away).flatten()
            sums["relative"][as_slice(heads)] = sums["relative"][as_slice(heads)].index_add(
                1, columns, grad.sum(0).flatten(1)
            )

    @property
    def device(self) -> torch.device:
        return next(iter(self.tensors().values())).device

    def tensors(self) -> dict[str, Tensor]:
        """The fields that add something, by name."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}

    def of_heads(self, heads: slice) -> "Bias":
        """The bias of some heads alone."""
        table = self.table
        if table is not None and table.shape[1] > 1:
            table = table[:, heads]
        rules = (None if rule is None else rule[heads] for rule in (self.slopes, self.relative))
        return Bias(table, *rules)

    @property
    def is_alibi(self) -> bool:
        """Whether it is slopes, and nothing else."""
        return list(self.tensors()) == ["slopes"]

    @property
    def is_table(self) -> bool:
        """Whether it is given cell by cell, and by no rule."""
        return list(self.tensors()) == ["table"]

    def largest(self, shape: tuple[int, int]) -> float:
        """An upper bound for the cells of a map of `shape`; NaN or inf if one is not finite."""
        away = {"slopes": max(shape)}
        ends = {name: tensor.detach().aminmax() for name, tensor in self.tensors().items()}
        sizes = {name: max(-low.item(), high.item()) for name, (low, high) in ends.items()}
        return sum(size * away.get(name, 1) for name, size in sizes.items())

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        """Raises one sentence if the bias cannot serve a map of shape (B, H, L, S)."""
        for name, tensor in self.tensors().items():
            label = "bias" if name == "table" else f"{name} of bias"
            if tensor.device != device:
                raise ValueError(f"{label} must be on q's device {device}, got {tensor.device}")
            if name != "table" and tensor.shape[0] != shape[1]:
                raise ValueError(
                    f"{label} must be of each of the {shape[1]} heads, got {tensor.shape[0]}"
                )
            if name != "table" and not math.isfinite(largest(tensor)):
                check_finite_bias(label, tensor)

    def __add__(self, other: "Bias | Tensor") -> "Bias":
        if isinstance(other, Tensor):
            other = of_table(other)
        if not isinstance(other, Bias):
            return NotImplemented
        return Bias(**{f.name: joined(f.name, self, other) for f in fields(Bias)})

    def __radd__(self, other: Tensor) -> "Bias":
        """A table + a bias."""
        return self + other

    def __repr__(self) -> str:
        """What kind of bias, and of what size."""
        names = {"table": "table", "slopes": "alibi", "relative": "relative"}
        return " + ".join(f"{names[n]}{shape_of(x)}" for n, x in self.tensors().items()) or "Bias()"


def places_of(part: Part, table: Float[Tensor, "#B #H #L #S"]) -> tuple[slice, ...]:
    """Where a part of the map is in a table, whose sizes of 1 serve all."""
    axes = zip(table.shape, part, strict=True)
    return tuple(slice(None) if size == 1 else as_slice(axis) for size, axis in axes)


def distance(rows: range, cols: range, shape: tuple[int, int], device: torch.device) -> Tensor:
    """How far each key is after the query's position."""
    positions = numbers(rows, device).view(-1, 1) + shape[1] - shape[0]
    return numbers(cols, device) - positions


def columns_of(relative: Float[Tensor, "h n"], away: Tensor) -> Tensor:
    """Which column a distance takes: beyond the ends the first or the last."""
    reach = relative.shape[1] // 2
    return away.clamp(-reach, reach) + reach


def check_finite_bias(name: str, tensor: Tensor) -> None:
    """Looks for a number that is not finite; the axes in front that serve all are not named."""
    while tensor.ndim > 2 and tensor.shape[0] == 1:
        tensor = tensor[0]
    odd = (~torch.isfinite(tensor)).nonzero()
    if len(odd):
        index = tuple(odd[0].cpu().tolist())
        raise ValueError(
            f"{name} must be finite, got {tensor[index].item()} at {index}: "
            "say with keep which keys are hidden"
        )


def joined(name: str, mine: Bias, other: Bias) -> Tensor | None:
    """A field of the sum of two biases."""
    a, b = getattr(mine, name), getattr(other, name)
    if a is None or b is None:
        return b if a is None else a
    if name == "relative" and a.shape[1] != b.shape[1]:
        counts = f"{a.shape[1]} and {b.shape[1]}"
        raise ValueError(f"relative must have as many columns in both of a sum, got {counts}")
    return a + b


def of_table(table: Float[Tensor, "..."]) -> Bias:
    """A bias that is given cell by cell."""
    if not isinstance(table, Tensor):
        raise TypeError(
            "bias must be a float tensor, a bias such as alibi(slopes), or None, "
            f"got {brief(table)}"
        )
    check_dense("bias", table)
    if table.dtype not in FLOATS:
        advice = ": a mask is given as keep" if table.dtype == torch.bool else ""
        raise TypeError(f"bias must be a float tensor, got {table.dtype}{advice}")
    check_no_sample("bias", table)
    return Bias(table=table)


def alibi(slopes: Sequence[float] | Float[Tensor, "H"]) -> Bias:
    """Attention with linear biases: −slope · |distance of key and query|, one slope for each head.

    >>> alibi([1.0, 0.5]).dense(1, 3)
    tensor([[[[-2.0000, -1.0000,  0.0000]],
    <BLANKLINE>
             [[-1.0000, -0.5000,  0.0000]]]])

    slopes: one finite number for each head; for 8 heads the paper takes 1/2, 1/4, … 1/256. Some
        models add slope · key instead, which shifts each row by one number and does not change the
        weights.

    Press, Smith and Lewis, "Train Short, Test Long" (2022), section 3. Taught in chapter 06.
    """
    return Bias(slopes=of_each_head("slopes", slopes, 1))


def relative(values: Float[Tensor, "H n"]) -> Bias:
    """A number for each distance of key and query, with a row for each head.

    >>> relative(torch.tensor([[-1.0, 0.0, 2.0]])).dense(3, 3)[0, 0]
    tensor([[ 0.,  2.,  2.],
            [-1.,  0.,  2.],
            [-1., -1.,  0.]])

    values: an odd number n of columns, for key − query from −(n // 2) to n // 2; a key farther away
        takes the first or the last.

    Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations" (2018),
    section 3.2. Taught in chapter 06.
    """
    values = of_each_head("values", values, 2)
    if values.shape[1] % 2 == 0:
        raise ValueError(f"values must have an odd number of columns, got {values.shape[1]}")
    return Bias(relative=values)


def buckets(
    weight: Float[Tensor, "buckets H"], *, max_distance: int = 128, bidirectional: bool = True
) -> Bias:
    """T5's bias: a number for each near distance, and for far ones a number for each bucket.

    >>> weight = torch.arange(4.0)[:, None]
    >>> buckets(weight, max_distance=4, bidirectional=False).dense(1, 5)[0, 0]
    tensor([[3., 3., 2., 1., 0.]])

    weight: a row for each bucket and a column for each head, as in T5's
        `relative_attention_bias.weight`.
    max_distance: from this distance on, all keys share the last bucket.
    bidirectional: half of the buckets are for keys after the query; otherwise these keys share the
        first bucket.

    Raffel et al., "Exploring the Limits of Transfer Learning" (2020), section 2.1. Taught in
    chapter 06.
    """
    by_head = of_each_head("weight", weight, 2)
    max_distance = check_whole("max_distance", max_distance, least=1)
    count = by_head.shape[0] // (2 if bidirectional else 1)
    if count < 2:
        least = 4 if bidirectional else 2
        raise ValueError(f"weight must have at least {least} buckets, got {by_head.shape[0]}")
    if max_distance <= count // 2:
        raise ValueError(
            f"max_distance must be above {count // 2}, the number of distances that have their own "
            f"bucket, got {max_distance}"
        )
    places = [
        bucket(distance, count, max_distance, bidirectional)
        for distance in range(-max_distance, max_distance + 1)
    ]
    return Bias(relative=by_head[places].T)


def bucket(distance: int, count: int, max_distance: int, bidirectional: bool) -> int:
    """The bucket of a key so far after its query; `count` of them for each direction.

    >>> [bucket(-n, 8, 16, False) for n in (0, 3, 4, 5, 8, 15, 16, 99)]
    [0, 3, 4, 4, 6, 7, 7, 7]
    """
    first = count if bidirectional and distance > 0 else 0
    away = abs(distance) if bidirectional else max(0, -distance)
    near = count // 2
    if away < near:
        return first + away
    # Far buckets widen by equal ratios: step m begins at near · (max_distance / near)^(m / steps).
    # Compared as whole numbers, since a rounded logarithm may miss a step by one.
    steps, m = count - near, 0
    far = away**steps
    while m < steps - 1 and far * near ** (m + 1) >= max_distance ** (m + 1) * near**steps:
        m += 1
    return first + near + m


def of_each_head(name: str, values: Any, axes: int) -> Tensor:
    """A float tensor of so many axes, none of them empty."""
    try:
        tensor = values if isinstance(values, Tensor) else torch.tensor(values, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be numbers, got {brief(values)}") from None
    check_dense(name, tensor)
    check_no_sample(name, tensor)
    if tensor.dtype not in FLOATS:
        raise TypeError(f"{name} must be a float tensor, got {tensor.dtype}")
    if tensor.ndim != axes or tensor.numel() == 0:
        wanted = "one number a head" if axes == 1 else "two axes, none of them empty"
        raise ValueError(f"{name} must have {wanted}, got {shape_of(tensor)}")
    return tensor
