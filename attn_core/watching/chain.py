"""What was done to a product of two tensors, up to the softmax and beyond it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from attn_core.watching.axes import Axes, Axis, Labelled, axis, regrouped

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

    def viewed(self, shape: Sequence[int]) -> "Chain | None":
        axes = regrouped(self.axes, shape)
        return None if axes is None else replace(self, axes=axes)

    def permuted(self, order: Sequence[int]) -> "Chain":
        return replace(self, axes=tuple(self.axes[place] for place in order))

    def doing(self, what: str, operand: Any, number: float = 0.0) -> "Chain | None":
        """One more step on the scores, with a number or a tensor that broadcasts to them."""
        if isinstance(operand, Tensor):
            operand = self.labelled(operand)
            if operand is None:
                return None
        return replace(self, deeds=(*self.deeds, (what, operand, number)))

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


def of_product(left: Tensor, right: Tensor, paths: tuple[str, ...]) -> Chain:
    """left [batch, row, width] @ right [batch, width, column]; without a batch, too."""
    batch = [axis("batch", size) for size in left.shape[:-2]]
    axes = (*batch, axis("row", left.shape[-2]), axis("column", right.shape[-1]))
    return Chain(left, right, axes, axes, paths=paths)


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
    return replace(
        chain,
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
    return replace(chain, axes=(*chain.axes[:place], own, *chain.axes[place + 1 :]), has_sink="")
