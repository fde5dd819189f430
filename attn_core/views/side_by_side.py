"""The heads of several records as those of one, so that one explorer shows all of them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.api import recorded
from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.engines.choose import engine_for
from attn_core.masks import Keep
from attn_core.record import AttentionTrace


def kind_of(call: Call) -> tuple:
    """What calls must have in common to stand side by side."""
    sizes = call.q.shape[0], *call.size, call.q.shape[-1], call.v.shape[-1]
    return *sizes, call.q.dtype, call.scale, call.softcap, call.dropout, call.group


@torch.no_grad()
def side_by_side(calls: Sequence[Call]) -> AttentionTrace:
    """The record of all heads, those of the first call first; the calls are of one `kind_of`.

    >>> from attn_core import toy
    >>> call = Call.of(*[toy.journey().x] * 3)
    >>> side_by_side([call, call]).shape
    (1, 2, 6, 6)
    """
    first = calls[0]
    tensors = {
        name: torch.cat([getattr(call, name).detach() for call in calls], 1) for name in "qkv"
    }
    lead = (tensors["q"].shape[0], tensors["q"].shape[1])
    added = {"bias": joined_bias(calls), "sinks": joined_sinks(calls)}
    call = first.call_with(**tensors, lead=lead, keep=joined_keep(calls), **added)
    return recorded(call, engine_for(call))


def joined_keep(calls: Sequence[Call]) -> Keep | None:
    """The rule that all have, or the masks of all heads cell by cell."""
    keeps = [call.keep for call in calls]
    if all(keep == keeps[0] for keep in keeps):
        return keeps[0]
    parts = []
    for call in calls:
        keep = Keep() if call.keep is None else call.keep
        parts.append(keep.dense(*call.size, call.q.device).expand(*call.shape))
    return Keep(cells=torch.cat(parts, 1))


def joined_bias(calls: Sequence[Call]) -> Bias | None:
    """Rules stay rules where all have the same; else a table of all heads."""
    biases = [call.bias for call in calls]
    if all(bias is None for bias in biases):
        return None
    names = {name for bias in biases if bias is not None for name in bias.tensors()}
    for name in ("slopes", "relative"):
        fields = [getattr(bias, name) for bias in biases if bias is not None]
        is_of_all = names == {name} and len(fields) == len(biases)
        if is_of_all and len({field.shape[1:] for field in fields}) == 1:
            return Bias(**{name: torch.cat([field.detach() for field in fields])})
    return Bias(table=torch.cat([dense_bias(call) for call in calls], 1))


def dense_bias(call: Call) -> Tensor:
    if call.bias is None:
        return call.q.new_zeros(call.shape, dtype=call.float_type)
    return call.bias.dense(*call.size, call.float_type).detach().expand(call.shape)


def joined_sinks(calls: Sequence[Call]) -> Tensor | None:
    """A head without a sink has one that takes nothing, if another has one."""
    if all(call.sinks is None for call in calls):
        return None
    lowest = torch.finfo(calls[0].float_type).min
    return torch.cat(
        [
            call.q.new_full((call.shape[1],), lowest, dtype=call.float_type)
            if call.sinks is None
            else call.sinks.detach().to(call.float_type)
            for call in calls
        ]
    )
