"""Masks that know their structure. True = keep, always; rows are queries, columns are keys."""

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from attn_core.checks import check_dense, check_no_sample, check_whole, shape_of


@dataclass(frozen=True, eq=False, repr=False)
class Keep:
    """A mask by its rule: it computes any part of itself, and makes no L×S tensor unless asked to.

    >>> (causal() & padding([2])).dense(3, 3).int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]], dtype=torch.int32)

    Query i of L is at position i + (S − L) among the S keys: the last query sees the last key, even
    when the two lengths differ. A key is kept if no field hides it; None hides nothing.
    Taught in chapter 06.
    """

    before: int | None = None  # keys farther before the query than this are hidden
    after: int | None = None  # keys farther after it
    lengths: tuple[int, ...] | None = None  # of each sequence of the batch, keys from here on
    starts: tuple[int, ...] | None = None  # of each sequence of the batch, keys before this one
    cells: Bool[Tensor, "..."] | None = None  # where it is False; sizes of 1 serve all
    cached: int | None = None  # how many more keys than queries there must be

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
        row, col = as_slice(rows), as_slice(cols)
        return self._tile(numbers(rows, device), numbers(cols, device), (row, col), shape)

    def _tile(
        self, row: Tensor, col: Tensor, places: tuple[slice, slice], shape: tuple[int, int]
    ) -> Bool[Tensor, "B H rows cols"]:
        """Some rows and columns, by their numbers and by their places in the cells."""
        keep = row.new_ones(1, 1, row.shape[0], col.shape[0], dtype=torch.bool)
        if self.cells is not None:
            cells = in_four_axes(self.cells).expand(-1, -1, *shape)
            keep = keep & cells[:, :, places[0], places[1]]
        position = row.view(-1, 1) + shape[1] - shape[0]
        return reduce(torch.logical_and, self.rules(position, col), keep)

    def rules(self, position: Tensor, key: Tensor) -> Iterator[Tensor]:
        if self.before is not None:
            yield key >= position - self.before
        if self.after is not None:
            yield key <= position + self.after
        if self.lengths is not None:
            yield key < torch.tensor(self.lengths, device=key.device).view(-1, 1, 1, 1)
        if self.starts is not None:
            yield key >= torch.tensor(self.starts, device=key.device).view(-1, 1, 1, 1)

    def dense(
        self, L: int, S: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "B H L S"]:
        """The whole mask."""
        # Not by a range, which would fix a length that torch.export lets vary.
        row, col = torch.arange(L, device=device), torch.arange(S, device=device)
        return self._tile(row, col, (slice(None), slice(None)), (L, S))

    def visible(self, rows: range, shape: tuple[int, int]) -> range:
        """The columns outside of which none of these rows sees anything.

        >>> causal().visible(range(2, 4), (8, 8)), window(1).visible(range(2, 4), (8, 8))
        (range(0, 4), range(1, 4))
        """
        first = 0 if self.starts is None else min(self.starts)
        longest = None if self.lengths is None else max(self.lengths)
        return self._band(rows[0], rows[-1], first, longest, shape)

    def unmasked(self, rows: range, shape: tuple[int, int]) -> range:
        """Columns that all of these rows see, in every batch and head; there it hides nothing.

        >>> causal().unmasked(range(2, 4), (8, 8)), window(1).unmasked(range(2, 4), (8, 8))
        (range(0, 3), range(2, 3))
        """
        # A mask with other parts than bands and padding may hide any cell.
        if not self._says_only("before", "after", "lengths", "starts", "cached"):
            return range(0)
        first = 0 if self.starts is None else max(self.starts)
        shortest = None if self.lengths is None else min(self.lengths)
        return self._band(rows[-1], rows[0], first, shortest, shape)

    def _band(
        self, starts: int, stops: int, key: int, length: int | None, shape: tuple[int, int]
    ) -> range:
        """From where the band of one row starts to where that of another stops, from `key` on."""
        L, S = shape
        first = 0 if self.before is None else starts + S - L - self.before
        last = S - 1 if self.after is None else stops + S - L + self.after
        start = min(max(first, key), S)
        stop = min(last + 1, S if length is None else length)
        return range(start, max(start, stop))

    def _says_only(self, *names: str) -> bool:
        """Whether no other field hides anything, such as one that these lines don't know yet."""
        return all(value is None or name in names for name, value in vars(self).items())

    @property
    def is_causal(self) -> bool:
        """Whether it hides what comes after the query, and nothing else."""
        return replace(self, cached=None) == Keep(after=0)

    def check(self, shape: tuple[int, int, int, int], device: torch.device) -> None:
        """Raises one sentence if the mask cannot serve a map of shape (B, H, L, S)."""
        if self.cached is not None:
            check_prefill(self.cached, shape[2], shape[3])
        for name, one in (("lengths", "length"), ("starts", "start")):
            if (keys := getattr(self, name)) is not None:
                check_padding(name, one, keys, shape[0], shape[3])
        if self.cells is not None:
            check_broadcast(self.cells, shape)
            check_keep_device(self.cells, device)

    def parts(self) -> list["Keep"]:
        """What the makers below give, one for each: joined by &, they are the mask."""
        masks = []
        if self.cached is not None:
            masks.append(prefill(self.cached))
        if self.before is not None:
            masks.append(Keep(before=self.before, after=self.after))
        elif self.after is not None and masks != [Keep(after=self.after, cached=self.cached)]:
            masks.append(Keep(after=self.after))
        if self.lengths is not None:
            masks.append(Keep(lengths=self.lengths))
        if self.starts is not None:
            masks.append(Keep(starts=self.starts))
        if self.cells is not None:
            masks.append(Keep(cells=self.cells))
        if reduce(and_, masks, Keep()) != self:
            raise NotImplementedError("Keep.parts must name every field that hides something")
        return masks

    def to_json(self) -> dict:
        """The form in which a page gets the mask."""
        parts = self.parts()
        if len(parts) != 1:
            return {"kind": "and", "of": [part.to_json() for part in parts]}
        if self.lengths is not None:
            return {"kind": "padding", "lengths": list(self.lengths)}
        if self.starts is not None:
            return {"kind": "padding", "starts": list(self.starts)}
        if self.cells is not None:
            cells = in_four_axes(self.cells)
            bits = np.packbits(cells.cpu().numpy(), bitorder="little")
            packed = base64.b64encode(bits.tobytes()).decode()
            return {"kind": "dense", "shape": list(cells.shape), "bits": packed}
        if self.cached is not None:
            return {"kind": "prefill", "cached": self.cached}
        if self.is_causal:
            return {"kind": "causal"}
        if not self._says_only("before", "after"):
            raise NotImplementedError(f"Keep.to_json must know the fields of {self}")
        return {"kind": "window", "before": self.before, "after": self.after}

    def __repr__(self) -> str:
        """As one writes it."""
        parts = self.parts()
        if len(parts) != 1:
            return " & ".join(map(repr, parts)) or "Keep()"
        if self.lengths is not None:
            return f"padding({list(self.lengths)})"
        if self.starts is not None:
            return f"padding(starts={list(self.starts)})"
        if self.cells is not None:
            return f"Dense{tuple(in_four_axes(self.cells).shape)}"
        if self.cached is not None:
            return f"prefill({self.cached})"
        if not self._says_only("before", "after"):
            fields = (f"{name}={value}" for name, value in vars(self).items() if value is not None)
            return f"Keep({', '.join(fields)})"
        if None in (self.before, self.after):
            return "causal()" if self.is_causal else f"Keep({self.before}, {self.after})"
        return f"window({self.before}, {self.after})"

    def __and__(self, other: "Keep | Tensor") -> "Keep":
        """Keeps what both keep."""
        if isinstance(other, Tensor):
            other = of_cells(other)
        if not isinstance(other, Keep):
            return NotImplemented
        joins: dict[str, Callable] = {
            "before": min,
            "after": min,
            "lengths": shorter,
            "starts": later,
            "cells": both,
            "cached": agreed,
        }
        pairs = {name: (mine, getattr(other, name)) for name, mine in vars(self).items()}
        return Keep(**{name: joined_field(*pair, joins[name]) for name, pair in pairs.items()})

    def __rand__(self, other: Tensor) -> "Keep":
        """A bool tensor & a mask."""
        return self & other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keep) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple:
        """Cells are equal to themselves alone: to compare them all takes as long as a map."""
        return tuple(id(x) if isinstance(x, Tensor) else x for x in vars(self).values())


def joined_field(mine: Any, other: Any, how: Callable) -> Any:
    """A field of two masks; None hides nothing."""
    if mine is None or other is None:
        return other if mine is None else mine
    return how(mine, other)


def shorter(lengths: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    check_same("the number of lengths", len(lengths), len(other))
    return tuple(map(min, lengths, other))


def later(starts: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    check_same("the number of starts", len(starts), len(other))
    return tuple(map(max, starts, other))


def agreed(cached: int, other: int) -> int:
    check_same("cached", cached, other)
    return cached


def both(cells: Tensor, other: Tensor) -> Tensor:
    check_joined_cells(cells, other)
    return cells & other


def of_cells(cells: Bool[Tensor, "..."]) -> Keep:
    """A mask that is given cell by cell; of a copy, so that nobody writes into a mask."""
    check_bool_keep(cells)
    for axis in range(cells.ndim):
        if cells.stride(axis) == 0:
            cells = cells.narrow(axis, 0, 1)
    return Keep(cells=cells.clone())


def in_four_axes(cells: Shaped[Tensor, "..."]) -> Shaped[Tensor, "B H L S"]:
    return cells.reshape((1,) * (4 - cells.ndim) + cells.shape)


def as_slice(part: range) -> slice:
    return slice(part.start, part.stop, part.step)


def numbers(part: range, device: torch.device | str | None) -> Tensor:
    return torch.arange(part.start, part.stop, part.step, device=device)


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


def causal() -> Keep:
    """Each query sees the keys up to its own place, none after it.

    >>> causal().dense(3, 3).int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal().dense(2, 5).int()[0, 0]
    tensor([[1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)

    With 2 queries over 5 keys, the mask is aligned to the bottom right, so the last query sees the
    last key. (torch's `is_causal` is aligned to the top left.) With 5 queries over 2 keys, the
    first three rows keep nothing. Vaswani et al., "Attention Is All You Need" (2017), 3.2.3.
    Taught in chapter 06.
    """
    return Keep(after=0)


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
    return Keep(before=check_whole("before", before), after=check_whole("after", after))


def padding(
    lengths: Sequence[int] | Tensor | None = None, *, starts: Sequence[int] | Tensor | None = None
) -> Keep:
    """Each sequence of a batch keeps its own words; the padding before or after them is hidden.

    >>> padding([2, 3]).dense(1, 3).int()[:, 0, 0]
    tensor([[1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> padding(starts=[1, 0]).dense(1, 3).int()[:, 0, 0]
    tensor([[0, 1, 1],
            [1, 1, 1]], dtype=torch.int32)

    lengths: for padding on the right, the key at which it begins, one whole number for each
        sequence, at most S.
    starts: for padding on the left, the key at which the words begin, in the same form. Under
        causal() the rows of this padding keep nothing, so their weights and outputs are 0.
    TypeError if both are missing. Taught in chapter 06.
    """
    if lengths is None and starts is None:
        raise TypeError("padding must get lengths or starts, got neither")
    return Keep(lengths=check_lengths("lengths", lengths), starts=check_lengths("starts", starts))


def prefill(cached: int) -> Keep:
    """New queries behind a cache: each sees all cached keys, and the new ones up to itself.

    >>> prefill(2).dense(3, 5).int()[0, 0]
    tensor([[1, 1, 1, 0, 0],
            [1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)

    cached: how many keys are in the cache, at least 0; S must be cached + L. Taught in
    chapter 06.
    """
    return Keep(after=0, cached=check_whole("cached", cached))


def check_bool_keep(keep: object) -> None:
    if not isinstance(keep, Tensor):
        raise TypeError(
            "keep must be a bool tensor (True = keep), a mask such as causal(), or None, "
            f"got {type(keep).__name__}"
        )
    check_dense("keep", keep)
    if keep.dtype != torch.bool:
        advice = ": numbers that are added are a bias" if keep.is_floating_point() else ""
        raise TypeError(f"keep must be a bool tensor (True = keep), got {keep.dtype}{advice}")
    check_no_sample("keep", keep)


def check_broadcast(tensor: Tensor, shape: Sequence[int], name: str = "keep") -> None:
    try:
        fits = torch.broadcast_shapes(tensor.shape, shape) == torch.Size(shape)
    except RuntimeError:
        fits = False
    if not fits:
        advice = advice_on_axes(tensor.shape, shape, name)
        raise ValueError(f"{name} must broadcast to {tuple(shape)}, got {shape_of(tensor)}{advice}")


def advice_on_axes(sizes: Sequence[int], shape: Sequence[int], name: str = "keep") -> str:
    """What to write for a table whose first axis is that of the batch, if that makes it fit.

    >>> advice_on_axes((3, 6), (3, 2, 6, 6))
    ': pass keep[:, None, None] for one mask a sentence'
    """
    missing = len(shape) - len(sizes)
    spread = (*sizes[:1], *[1] * missing, *sizes[1:])
    fits = missing > 0 and all(n in (1, m) for n, m in zip(spread, shape, strict=True))
    table = "mask" if name == "keep" else "table"
    return f": pass {name}[:{', None' * missing}] for one {table} a sentence" if fits else ""


def check_joined_cells(cells: Tensor, other: Tensor) -> None:
    try:
        torch.broadcast_shapes(cells.shape, other.shape)
    except RuntimeError:
        raise ValueError(
            f"keep must broadcast to the shape of the mask that it joins, {shape_of(cells)}, "
            f"got {shape_of(other)}"
        ) from None
    if cells.device != other.device:
        raise ValueError(f"keep must be on the device {cells.device} here, got {other.device}")


def check_same(name: str, number: int, other: int) -> None:
    if number != other:
        raise ValueError(
            f"{name} must be the same in masks that are joined, got {number} and {other}"
        )


def check_keep_device(keep: Tensor, device: torch.device) -> None:
    if keep.device != device:
        raise ValueError(f"keep must be on q's device {device}, got {keep.device}")


def check_lengths(name: str, lengths: Sequence[int] | Tensor | None) -> tuple[int, ...] | None:
    if lengths is None:
        return None
    if isinstance(lengths, Tensor):
        whole = not (lengths.is_floating_point() or lengths.is_complex())
        if lengths.ndim != 1 or lengths.dtype == torch.bool or not whole:
            raise ValueError(
                f"{name} must be one whole number for each sequence, "
                f"got a {lengths.dtype} tensor of shape {shape_of(lengths)}"
            )
        lengths = lengths.tolist()
    if isinstance(lengths, (str, bytes)) or not isinstance(lengths, Sequence):
        raise TypeError(f"{name} must be a list of whole numbers, got {type(lengths).__name__}")
    if not lengths:
        raise ValueError(f"{name} must name at least one sequence, got an empty list")
    return tuple(check_whole(f"{name}[{b}]", n) for b, n in enumerate(lengths))


def check_padding(name: str, one: str, lengths: tuple[int, ...], batch: int, keys: int) -> None:
    if len(lengths) != batch:
        raise ValueError(
            f"{name} must name one {one} for each of the {batch} sequences, got {len(lengths)}"
        )
    if max(lengths) > keys:
        raise ValueError(f"{name} must be at most the {keys} keys, got {max(lengths)}")


def check_prefill(cached: int, queries: int, keys: int) -> None:
    if keys != cached + queries:
        raise ValueError(
            f"prefill({cached}) over {queries} queries must have {cached + queries} keys, "
            f"got {keys}"
        )
