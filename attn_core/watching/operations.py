"""What each operation of torch does to scores that are followed; what is not here ends a chain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attn_core.recognising import HIDDEN
from attn_core.watching.chain import Chain, Softmax, cut, with_sink
from attn_core.watching.quiet import above_autograd


@dataclass(frozen=True)
class Operation:
    """One that has just been computed."""

    x: Tensor  # the argument whose chain is known
    args: tuple
    kwargs: dict[str, Any]
    out: Tensor

    @property
    def other(self) -> Any:
        """The other one of two arguments, as a number if it holds one."""
        return as_number(self.args[1] if self.is_first else self.args[0])

    @property
    def is_first(self) -> bool:
        return self.x is self.args[0]

    @property
    def keeps_shape(self) -> bool:
        return self.out.shape == self.x.shape


Follow = Callable[[Chain, Operation], Chain | None]  # the chain of what came out


def same(chain: Chain, done: Operation) -> Chain | None:
    return chain if done.keeps_shape else None


def view(chain: Chain, done: Operation) -> Chain | None:
    return chain.viewed(done.out.shape) if done.out.numel() == done.x.numel() else None


def permute(chain: Chain, done: Operation) -> Chain:
    return chain.permuted([place % done.x.ndim for place in done.args[1]])


def transpose(chain: Chain, done: Operation) -> Chain:
    axes = done.args[1:] or (0, 1)
    first, second = (place % done.x.ndim for place in axes)
    order = list(range(done.x.ndim))
    order[first], order[second] = second, first
    return chain.permuted(order)


def slice_(chain: Chain, done: Operation) -> Chain | None:
    named = dict(zip(("dim", "start", "end", "step"), done.args[1:], strict=False))
    place = named.get("dim", 0) % done.x.ndim
    size = done.x.shape[place]
    part = slice(named.get("start"), named.get("end"), named.get("step", 1))
    start, stop, step = part.indices(size)
    return cut(chain, place, start, stop, size) if step == 1 else None


def plus(chain: Chain, done: Operation) -> Chain | None:
    """x + alpha·other, or other + alpha·x."""
    alpha = done.kwargs.get("alpha", 1)
    if not done.is_first and alpha != 1:
        return None
    return added(chain, done, alpha)


def minus(chain: Chain, done: Operation) -> Chain | None:
    return added(chain, done, -done.kwargs.get("alpha", 1)) if done.is_first else None


def added(chain: Chain, done: Operation, times: float) -> Chain | None:
    if chain.softmax or not done.keeps_shape:
        return None
    other = done.other
    return chain.doing("plus", other * times if isinstance(other, (int, float)) else other, times)


def times(chain: Chain, done: Operation) -> Chain | None:
    return None if chain.softmax or not done.keeps_shape else chain.doing("times", done.other)


def divide(chain: Chain, done: Operation) -> Chain | None:
    is_plain = done.is_first and done.keeps_shape and "rounding_mode" not in done.kwargs
    if not is_plain or chain.softmax:
        return None
    with above_autograd():
        return chain.doing("times", 1 / done.other)


def tanh(chain: Chain, done: Operation) -> Chain | None:
    return None if chain.softmax else chain.doing("tanh", None)


def masked_fill(chain: Chain, done: Operation) -> Chain | None:
    _, mask, value = done.args
    return filled(chain, mask, value) if done.is_first and done.keeps_shape else None


def where(chain: Chain, done: Operation) -> Chain | None:
    condition, first, second = done.args
    if not done.keeps_shape:
        return None
    if done.x is first:
        return filled(chain, ~condition, second)
    return filled(chain, condition, first)


def filled(chain: Chain, hidden: Tensor, value: Any) -> Chain | None:
    value = as_number(value)
    if not isinstance(value, (int, float)):
        return None
    if chain.softmax:
        # Weights that were 0 already, or a row of NaN; if not, the output differs from the record.
        return chain if value == 0 else None
    return chain.doing("hide", hidden, float(value)) if value <= HIDDEN else None


def softmax(chain: Chain, done: Operation) -> Chain | None:
    if chain.softmax:
        return None
    return chain.but(softmax=Softmax(chain.axes, done.args[1] % done.x.ndim))


def dropout(chain: Chain, done: Operation) -> Chain | None:
    _, p, is_on = done.args
    if not chain.softmax:
        return None
    return chain if is_on is False else chain.but(dropout=float(p))


def concatenated(chain: Chain, done: Operation) -> Chain | None:
    """Scores with one more column."""
    tensors, place = done.args[0], done.args[1] if len(done.args) > 1 else 0
    if len(tensors) != 2:
        return None
    is_first = tensors[1] is done.x
    return with_sink(chain, tensors[not is_first], place % done.x.ndim, is_first)


def as_number(value: Any) -> Any:
    """A tensor of one number as this number."""
    return value.item() if isinstance(value, Tensor) and value.ndim == 0 else value


FOLLOW: dict[str, Follow] = {
    **dict.fromkeys(("clone", "contiguous", "detach", "alias", "_to_copy", "nan_to_num"), same),
    **dict.fromkeys(("view", "_unsafe_view", "_reshape_alias", "unsqueeze", "squeeze"), view),
    **dict.fromkeys(("expand", "select"), view),
    "permute": permute,
    **dict.fromkeys(("transpose", "t"), transpose),
    "slice": slice_,
    "add": plus,
    "sub": minus,
    "mul": times,
    "div": divide,
    "tanh": tanh,
    "masked_fill": masked_fill,
    "where": where,
    **dict.fromkeys(("_softmax", "_safe_softmax"), softmax),
    "native_dropout": dropout,
    "cat": concatenated,
}
