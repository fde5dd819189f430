"""What was done to a product of two tensors, up to the softmax and beyond it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from attn_core.watching.axes import Axes, Axis, Labelled, axis, regrouped

MOST = 16  # deeds; scores have a few, and each may hold a table

# What was done, with a number or a Labelled, and a number: for "plus" how often it was added, for
# "hide" what was filled in.
Deed = tuple[str, Any, float]


@dataclass(frozen=True)
class Softmax:
    """Over which axis it went, and which axes the scores had then."""

    axes: Axes
    over: int


@dataclass(frozen=True)
class Chain:
    """A tensor that follows from a product [batch, row, column] by steps that are known."""

    left: Tensor  # [batch, row, width]
    right: Tensor  # [batch, width, column]
    axes: Axes  # of the tensor now
    axes_at_first: Axes
    deeds: tuple[Deed, ...] = ()
    sink: Labelled | None = None  # one more column
    beside_sink: Axis | None = None  # the columns that it was put beside
    has_sink: str = ""  # "first" or "last", while the axis has it
    softmax: Softmax | None = None
    dropout: float = 0.0
    paths: tuple[str, ...] = ()  # modules that had a part in it
    is_by_weights: bool = False

    def but(self, **changes: Any) -> "Chain":
        """As by dataclasses.replace, which takes as long as an operation of a model."""
        other = object.__new__(Chain)
        vars(other).update(vars(self) | changes)
        return other

    def viewed(self, shape: Sequence[int]) -> "Chain | None":
        axes = regrouped(self.axes, shape)
        return None if axes is None else self.but(axes=axes)

    def permuted(self, order: Sequence[int]) -> "Chain":
        return self.but(axes=tuple(self.axes[place] for place in order))

    def doing(self, what: str, operand: Any, number: float = 0.0) -> "Chain | None":
        """One more step on the scores, with a number or a tensor that broadcasts to them."""
        if isinstance(operand, Tensor):
            operand = self.labelled(operand)
            # What a linear layer gives may be scores of learned keys. A table of other activations
            # is not added to these; it is a residual stream, which must not be kept.
            if operand is None or (self.is_by_weights and operand.is_whole):
                return None
        if len(self.deeds) == MOST:
            return None
        return self.but(deeds=(*self.deeds, (what, operand, number)))

    def labelled(self, tensor: Tensor) -> Labelled | None:
        """A tensor that broadcasts to this one, with the axes that it has of it."""
        missing = len(self.axes) - tensor.ndim
        if missing < 0:
            return None
        axes: list[Axis] = []
        for size, own in zip(tensor.shape, self.axes[missing:], strict=True):
            if size > 1 and not own:
                return None  # the scores would grow
            axes.append(own if size > 1 else ())
        return Labelled(tensor, tuple(axes))


class Product(NamedTuple):
    """left [batch, row, width] @ right [batch, width, column]; without a batch, too.

    Most products of a model are no scores, and never become a chain.
    """

    left: Tensor
    right: Tensor
    paths: tuple[str, ...]
    is_by_weights: bool  # of the model, as a linear layer's output is

    @property
    def softmax(self) -> None:
        """None yet."""

    def chain(self) -> Chain:
        batch = [axis("batch", size) for size in self.left.shape[:-2]]
        axes = (*batch, axis("row", self.left.shape[-2]), axis("column", self.right.shape[-1]))
        left, right, paths, is_by_weights = self
        return Chain(left, right, axes, axes, paths=paths, is_by_weights=is_by_weights)


def with_sink(chain: Chain, sink: Tensor, place: int, is_first: bool) -> Chain | None:
    """The chain with more columns beside its own, which a softmax shares in."""
    has_axes = sink.ndim == len(chain.axes)
    if chain.softmax or chain.sink or not has_axes or sink.shape[place] != 1:
        return None
    own = chain.axes[place]
    labelled = chain.labelled(sink)
    if labelled is None or len({atom.source for atom in own}) != 1:
        return None
    size = 1
    for atom in own:
        size *= atom.size
    axes = (*chain.axes[:place], axis("wide", size + 1), *chain.axes[place + 1 :])
    return chain.but(
        axes=axes,
        deeds=(*chain.deeds, ("sink", None, 0.0)),
        sink=labelled,
        beside_sink=own,
        has_sink="first" if is_first else "last",
    )


def cut(chain: Chain, place: int, start: int, stop: int, size: int) -> Chain | None:
    """A slice: the whole axis, or all but the sink once the softmax is taken."""
    if (start, stop) == (0, size):
        return chain
    own = chain.beside_sink
    if chain.softmax is None or own is None or chain.axes[place] != axis("wide", size):
        return None
    if (start, stop) != {"first": (1, size), "last": (0, size - 1)}[chain.has_sink]:
        return None
    return chain.but(axes=(*chain.axes[:place], own, *chain.axes[place + 1 :]), has_sink="")
