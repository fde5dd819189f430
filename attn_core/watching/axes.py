"""Which axes of a product each axis of a tensor came from, through views, splits and merges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import NamedTuple

from torch import Tensor


class Atom(NamedTuple):
    """A part of an axis of a product: every `stride`-th of its places, `size` of them."""

    source: str  # "batch", "row" or "column"
    stride: int
    size: int


Axis = tuple[Atom, ...]  # outermost first; none where the axis has size 1
Axes = tuple[Axis, ...]


class Unreadable(Exception):
    """What was done between a product and its softmax is not an attention that a record can say."""


@dataclass(frozen=True)
class Labelled:
    """A tensor whose first axes are known; those behind them are its width."""

    tensor: Tensor
    axes: Axes

    @property
    def is_whole(self) -> bool:
        """Whether it differs from row to row and from column to column."""
        return {"row", "column"} <= {atom.source for axis in self.axes for atom in axis}


def axis(source: str, size: int) -> Axis:
    return (Atom(source, 1, size),) if size > 1 else ()


def regrouped(axes: Axes, shape: Sequence[int]) -> Axes | None:
    """The axes after a view, or None if it mixes them.

    >>> [[a.size for a in axis] for axis in regrouped((axis("batch", 6), axis("row", 4)), (2, 12))]
    [[2], [3, 4]]
    """
    left = [atom for axis in axes for atom in axis]
    made = []
    for size in shape:
        parts: list[Atom] = []
        while size > 1:
            if not left:
                return None
            source, stride, length = left.pop(0)
            taken = min(size, length)
            if size % taken or length % taken:
                return None
            inner = length // taken
            parts.append(Atom(source, stride * inner, taken))
            if inner > 1:
                left.insert(0, Atom(source, stride, inner))
            size //= taken
        made.append(joined(parts))
    return tuple(made)


def joined(parts: Iterable[Atom]) -> Axis:
    """Neighbours that are one axis again, as one."""
    made: list[Atom] = []
    for atom in parts:
        before = made[-1] if made else None
        if before and before.source == atom.source and before.stride == atom.stride * atom.size:
            made[-1] = Atom(atom.source, atom.stride, before.size * atom.size)
        else:
            made.append(atom)
    return tuple(made)


def aligned(labelled: Labelled, target: Sequence[Axis]) -> Tensor:
    """The tensor with an axis for each of the target, of size 1 where it has none of it.

    A view where it can be. Unreadable if the tensor has axes that the target has not.
    """
    tensor, axes = labelled.tensor, labelled.axes
    width = tensor.shape[len(axes) :]
    known = [atom for axis in (*axes, *target) for atom in axis]
    own = [piece for axis in axes for atom in axis for piece in pieces(atom, known)]
    wanted = [[piece for atom in axis for piece in pieces(atom, known)] for axis in target]
    flat = [piece for parts in wanted for piece in parts]
    if not set(own) <= set(flat) or len(set(own)) < len(own):
        raise Unreadable("a view of its scores mixes queries with keys")
    tensor = tensor.reshape(*(piece.size for piece in own), *width)
    order = [own.index(piece) for piece in flat if piece in own]
    tensor = tensor.permute(*order, *range(len(own), tensor.ndim))
    sizes, full, whole = [], [], []
    for parts in wanted:
        has_some = any(piece in own for piece in parts)
        sizes += [piece.size if piece in own else 1 for piece in parts]
        full += [piece.size if has_some else 1 for piece in parts]
        whole.append(length(parts) if has_some else 1)
    return tensor.reshape(*sizes, *width).expand(*full, *width).reshape(*whole, *width)


def pieces(atom: Atom, known: Sequence[Atom]) -> list[Atom]:
    """An atom, cut wherever one of the known ones begins or ends."""
    ends = {end for a in known if a.source == atom.source for end in (a.stride, a.stride * a.size)}
    lowest, highest = atom.stride, atom.stride * atom.size
    cuts = sorted(end for end in ends if lowest <= end <= highest)
    made = []
    for low, high in pairwise(cuts):
        if high % low:
            raise Unreadable("a view of its scores mixes queries with keys")
        made.append(Atom(atom.source, low, high // low))
    return made[::-1]


def length(parts: Iterable[Atom]) -> int:
    return prod(atom.size for atom in parts)


def sources(axis: Axis) -> set[str]:
    return {atom.source for atom in axis}
