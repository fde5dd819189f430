"""What one attention of a model was computed from, as the model had it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.dropout import Dropout
from attn_core.masks import Keep
from attn_core.watching.masking import Masks


@dataclass(frozen=True)
class Arguments:
    """q [*lead, L, D], k [*lead, S, D], v [*lead, S, Dv], and what else was in the formula.

    Fewer heads of k and v serve a group of query heads each. Tables broadcast to [*lead, L, S].
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float | None = None
    keep: Keep | None = None
    hidden: tuple[tuple[Tensor, float], ...] = ()  # where these are True, with what was put there
    added: tuple[Tensor, ...] = ()
    softcap: float | None = None
    sinks: Tensor | None = None  # [H]
    dropout: Dropout | None = None
    bias: Bias | None = None  # beside what is added
    p: float = 0.0  # of a dropout whose bits are torch's

    def call(self, masks: Masks) -> Call:
        """The call; of masks that say a rule, by the rule."""
        shape = (*self.q.shape[:-1], self.k.shape[-2])
        keep, bias = masks.read(self.hidden, self.added, shape)
        if self.keep is not None:
            keep = self.keep if keep is None else self.keep & keep
        return Call.of(
            self.q, self.k, self.v, keep, self.scale, self.dropout,
            bias=bias if self.bias is None else self.bias,
            softcap=self.softcap,
            sinks=self.sinks,
        )  # fmt: skip

    def each(self, change: Callable[[Tensor], Tensor]) -> "Arguments":
        """With q, k and v changed."""
        return replace(self, q=change(self.q), k=change(self.k), v=change(self.v))


def of_call(call: Call) -> Arguments:
    """Those of an attention of this library."""
    return Arguments(
        call.q, call.k, call.v, call.scale, call.keep,
        bias=call.bias, softcap=call.softcap, sinks=call.sinks, dropout=call.dropout,
    )  # fmt: skip


def in_two(arguments: Arguments, heads: int | None) -> Arguments:
    """With two leading axes, batch and heads, where there are more, or where they are in one."""
    return split_heads(flattened(arguments), heads)


def flattened(arguments: Arguments) -> Arguments:
    """With two leading axes at most; all others are batch."""
    lead = arguments.q.shape[:-2]
    if len(lead) < 3:
        return arguments

    def flat(tensor: Tensor, lead: tuple[int, ...]) -> Tensor:
        return tensor.expand(*lead, *tensor.shape[-3:]).flatten(0, -4)

    def table(tensor: Tensor) -> Tensor:
        return flat(tensor, tuple(lead[:-1])) if tensor.ndim > 3 else tensor

    return replace(
        arguments.each(lambda tensor: flat(tensor, tuple(lead[:-1]))),
        hidden=tuple((table(cells), value) for cells, value in arguments.hidden),
        added=tuple(map(table, arguments.added)),
    )


def split_heads(arguments: Arguments, heads: int | None) -> Arguments:
    """[B·H, T, D] as [B, H, T, D], where the module says how many heads it has."""
    q, k, v = arguments.q, arguments.k, arguments.v
    together = q.ndim == 3 and q.shape[0] == k.shape[0] == v.shape[0]
    if not heads or heads < 2 or not together or q.shape[0] % heads:
        return arguments
    n = q.shape[0]

    def split(tensor: Tensor) -> Tensor:
        if tensor.ndim < 3 or tensor.shape[0] != n:
            return tensor[None] if tensor.ndim == 3 else tensor
        return tensor.reshape(n // heads, heads, *tensor.shape[1:])

    return replace(
        arguments.each(split),
        hidden=tuple((split(table), value) for table, value in arguments.hidden),
        added=tuple(map(split, arguments.added)),
    )


def ungrouped(arguments: Arguments) -> Arguments:
    """k and v without heads that only repeat others, as a model repeats them for its groups."""
    k, v = arguments.k, arguments.v
    if k.ndim < 4 or k.shape[:-2] != v.shape[:-2]:
        return arguments
    heads = k.shape[-3]
    if heads == 1 or not torch.equal(k[..., 0, :1, :], k[..., 1, :1, :]):
        return arguments  # the first two are in one group, if there are any
    for group in (g for g in range(heads, 1, -1) if heads % g == 0):
        if repeats(k, group) and repeats(v, group):
            k, v = (tensor[..., ::group, :, :].clone() for tensor in (k, v))
            return replace(arguments, k=k, v=v)
    return arguments


def repeats(tensor: Tensor, group: int) -> bool:
    """Whether each `group` heads that follow one another are the same."""
    split = tensor.unflatten(-3, (-1, group))
    if split.stride(-3) == 0:
        return True
    first = split[..., :1, :, :]
    quick = split[..., :1, :] == first[..., :1, :]
    return bool(quick.all()) and bool((split == first).all())
