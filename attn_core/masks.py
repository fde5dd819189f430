"""Masks that know their structure. True = keep, always; rows are queries, columns are keys."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from attn_core.checks import (
    check_bool_keep,
    check_broadcast,
    check_keep_device,
    check_lengths,
    check_padding,
    check_prefill,
    check_whole,
)


class Keep:
    """A mask by its rule: it makes any part of itself, and no L×S tensor unless asked to.

    >>> (causal() & padding([2])).dense(3, 3).int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]], dtype=torch.int32)

    Query i of L stands at position i + (S − L) among the S keys: the last query sees the last
    key, also when the two lengths differ. Taught in chapter 06.
    """

    def tile(
        self,
        rows: range,
        cols: range,
        shape: tuple[int, int],
        device: torch.device | str | None = None,
    ) -> Bool[Tensor, "B H rows cols"]:
        """Rows and columns, by absolute indices, of the mask of `shape` = (L, S).

        Batch and head axes that make no difference have size 1.
        """
        first = shape[1] - shape[0]
        position = numbers(rows, device).view(1, 1, -1, 1) + first
        return self.rule(position, numbers(cols, device))

    def rule(self, position: Tensor, key: Tensor) -> Bool[Tensor, "B H rows cols"]:
        raise NotImplementedError

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        """The columns outside of which none of these rows sees anything.

        >>> causal().visible(range(2, 4), (8, 8)), window(1).visible(range(2, 4), (8, 8))
        (range(0, 4), range(1, 4))
        """
        return range(shape[1])

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        """Columns that all of these rows see, in every batch and head; there it hides nothing.

        >>> causal().unmasked(range(2, 4), (8, 8)), window(1).unmasked(range(2, 4), (8, 8))
        (range(0, 3), range(2, 3))
        """
        return range(0)

    def dense(
        self, L: int, S: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "B H L S"]:
        """The whole mask."""
        return self.tile(range(L), range(S), (L, S), device)

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        """Raises one sentence if the mask cannot serve a map of shape (B, H, L, S)."""

    def to_json(self) -> dict:
        """The form in which a page gets the mask."""
        raise NotImplementedError

    def __and__(self, other: "Keep") -> "Keep":
        """Keeps what both keep."""
        if isinstance(other, Tensor):
            other = Dense(other)
        if not isinstance(other, Keep):
            return NotImplemented
        return joined([*parts_of(self), *parts_of(other)])

    def __rand__(self, other: Tensor) -> "Keep":
        """A bool tensor & a mask."""
        return self & other


@dataclass(frozen=True)
class Causal(Keep):
    def rule(self, position: Tensor, key: Tensor) -> Tensor:
        return key <= position

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        return between(0, rows[-1] + shape[1] - shape[0], shape[1])

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        return between(0, rows[0] + shape[1] - shape[0], shape[1])

    def to_json(self) -> dict:
        return {"kind": "causal"}

    def __repr__(self) -> str:
        return "causal()"


@dataclass(frozen=True)
class Prefill(Causal):
    cached: int

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        check_prefill(self.cached, shape[2], shape[3])

    def to_json(self) -> dict:
        return {"kind": "prefill", "cached": self.cached}

    def __repr__(self) -> str:
        return f"prefill({self.cached})"


@dataclass(frozen=True)
class Window(Keep):
    before: int
    after: int

    def rule(self, position: Tensor, key: Tensor) -> Tensor:
        return (position - self.before <= key) & (key <= position + self.after)

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        first, last = (row + shape[1] - shape[0] for row in (rows[0], rows[-1]))
        return between(first - self.before, last + self.after, shape[1])

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        first, last = (row + shape[1] - shape[0] for row in (rows[0], rows[-1]))
        return between(last - self.before, first + self.after, shape[1])

    def to_json(self) -> dict:
        return {"kind": "window", "before": self.before, "after": self.after}

    def __repr__(self) -> str:
        return f"window({self.before}, {self.after})"


@dataclass(frozen=True)
class Padding(Keep):
    lengths: tuple[int, ...]

    def rule(self, position: Tensor, key: Tensor) -> Tensor:
        lengths = torch.tensor(self.lengths, device=key.device).view(-1, 1, 1, 1)
        return (key < lengths).expand(-1, -1, position.shape[2], -1)

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        return range(max(self.lengths))

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        return range(min(self.lengths))

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        check_padding(self.lengths, shape[0], shape[3])

    def to_json(self) -> dict:
        return {"kind": "padding", "lengths": list(self.lengths)}

    def __repr__(self) -> str:
        return f"padding({list(self.lengths)})"


@dataclass(frozen=True, eq=False)
class Dense(Keep):
    """A mask that is given cell by cell: a bool tensor that broadcasts to [B, H, L, S]."""

    cells: Tensor

    def __post_init__(self) -> None:
        check_bool_keep(self.cells)
        cells = self.cells.view((1,) * (4 - self.cells.ndim) + self.cells.shape)
        for axis in range(cells.ndim):
            if cells.stride(axis) == 0:
                cells = cells.narrow(axis, 0, 1)
        # A copy: whoever writes into the tensor later changes no mask.
        object.__setattr__(self, "cells", cells.clone())

    def tile(
        self,
        rows: range,
        cols: range,
        shape: tuple[int, int],
        device: torch.device | str | None = None,
    ) -> Bool[Tensor, "B H rows cols"]:
        cells = self.cells.expand(-1, -1, *shape)
        return cells[:, :, rows.start : rows.stop : rows.step, cols.start : cols.stop : cols.step]

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        check_broadcast(self.cells, shape)
        check_keep_device(self.cells, device)

    def to_json(self) -> dict:
        bits = np.packbits(self.cells.cpu().numpy().reshape(-1), bitorder="little")
        return {
            "kind": "dense",
            "shape": list(self.cells.shape),
            "bits": base64.b64encode(bits.tobytes()).decode("ascii"),
        }

    def __repr__(self) -> str:
        return f"Dense{tuple(self.cells.shape)}"


@dataclass(frozen=True, eq=False)
class Both(Keep):
    """What all of its parts keep."""

    parts: tuple[Keep, ...]

    def tile(
        self,
        rows: range,
        cols: range,
        shape: tuple[int, int],
        device: torch.device | str | None = None,
    ) -> Bool[Tensor, "B H rows cols"]:
        tiles = [part.tile(rows, cols, shape, device) for part in self.parts]
        return reduce(torch.logical_and, tiles)

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        return reduce(common, (part.visible(rows, shape) for part in self.parts))

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        return reduce(common, (part.unmasked(rows, shape) for part in self.parts))

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        for part in self.parts:
            part.check(shape, device)

    def to_json(self) -> dict:
        return {"kind": "and", "of": [part.to_json() for part in self.parts]}

    def __repr__(self) -> str:
        return " & ".join(repr(part) for part in self.parts)


def of_heads(
    cells: Bool[Tensor, "B H rows cols"], batches: range, heads: range
) -> Bool[Tensor, "b h rows cols"]:
    """Some batches and heads of a mask's tile; an axis of size 1 stays, as it serves all.

    >>> of_heads(padding([1, 2]).dense(1, 3), range(1, 2), range(4)).int()
    tensor([[[[1, 1, 0]]]], dtype=torch.int32)
    """
    if cells.shape[0] > 1:
        cells = cells[batches.start : batches.stop]
    return cells[:, heads.start : heads.stop] if cells.shape[1] > 1 else cells


def numbers(part: range, device: torch.device | str | None) -> Int64[Tensor, "n"]:
    return torch.arange(part.start, part.stop, part.step, device=device)


def between(first: int, last: int, size: int) -> range:
    """The columns from first to last, both included, that an axis of this size has."""
    start = min(max(first, 0), size)
    return range(start, max(start, min(last + 1, size)))


def common(one: range, other: range) -> range:
    start = max(one.start, other.start)
    return range(start, max(start, min(one.stop, other.stop)))


def parts_of(keep: Keep) -> tuple[Keep, ...]:
    return keep.parts if isinstance(keep, Both) else (keep,)


def joined(parts: Sequence[Keep]) -> Keep:
    return parts[0] if len(parts) == 1 else Both(tuple(parts))


def causal() -> Keep:
    """Each query sees the keys up to its own place, none after it.

    >>> causal().dense(3, 3).int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal().dense(2, 5).int()[0, 0]
    tensor([[1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)

    2 queries over 5 keys: aligned to the bottom right, so the last query sees the last key.
    (torch's `is_causal` is aligned to the top left.) 5 queries over 2 keys: the first three rows
    keep nothing. Vaswani et al., "Attention Is All You Need" (2017), 3.2.3. Taught in chapter 06.
    """
    return Causal()


def window(before: int, after: int = 0) -> Keep:
    """Each query sees the keys from `before` places before it to `after` places after it.

    >>> window(1).dense(4, 4).int()[0, 0]
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)

    before, after: whole numbers of tokens, at least 0. Beltagy, Peters, Cohan, "Longformer"
    (2020), 3.1. Taught in chapter 06.
    """
    return Window(check_whole("before", before), check_whole("after", after))


def padding(lengths: Sequence[int] | Tensor) -> Keep:
    """Each sequence of a batch keeps its own first keys; the rest is padding.

    >>> padding([2, 3]).dense(1, 3).int()[:, 0, 0]
    tensor([[1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)

    lengths: one whole number for each sequence, at most S. Taught in chapter 06.
    """
    return Padding(check_lengths(lengths))


def prefill(cached: int) -> Keep:
    """New queries behind a cache: each sees all cached keys, and the new ones up to itself.

    >>> prefill(2).dense(3, 5).int()[0, 0]
    tensor([[1, 1, 1, 0, 0],
            [1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)

    cached: how many keys stand in the cache, at least 0; S must be cached + L. Taught in
    chapter 06.
    """
    return Prefill(check_whole("cached", cached))
