"""Attention in one call: its output, or the record from which every stage follows."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from attn_core.bias import Bias
from attn_core.call import Call
from attn_core.checks import check_cells, check_is, check_no_sample
from attn_core.compiling import between_graphs, is_exporting
from attn_core.dropout import Dropout
from attn_core.engines.choose import engine_for
from attn_core.engines.formulas import Engine, whole
from attn_core.masks import Keep
from attn_core.observing import observed
from attn_core.record import AttentionTrace
from attn_core.source import Projection, check_projection, check_rotary, check_source

AUTOCAST = (torch.float16, torch.bfloat16, torch.float32)  # the dtypes that it casts


@between_graphs
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    keep: Tensor | Keep | None = None,
    scale: float | None = None,
    dropout: Dropout | None = None,
    bias: Tensor | Bias | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """For each query the average of the values, weighted by softmax(scale·q·k).

    >>> from attn_core import attention, toy
    >>> x = toy.journey().x
    >>> attention(x, x, x, scale=1.0)[1]
    tensor([0.4419, 0.6515, 0.5683])

    q [*, L, D], k [*, S, D], v [*, S, Dv]: [T, D] is one sequence, [B, T, D] a batch with one head,
        [B, H, T, D] the full form; further leading axes are batch axes. All three must be finite
        floats of one dtype on one device. k and v may have fewer heads, if their number divides H:
        each of them then serves a group of neighbouring heads of q.
    keep: which keys a query may see (True = keep): a bool tensor that broadcasts to [*, L, S], or
        causal(), window(), padding(), prefill(), or several of them joined by &. As always in
        torch, sizes are matched from the right: over [B, H, L, S], a table [B, L, S] is read as one
        for each head. For one table per sentence pass keep[:, None]; for a tokenizer's [B, S] pass
        keep[:, None, None].
    scale: what the scores are multiplied by. Defaults to 1/√D.
    dropout: Dropout(p, seed), or None.
    bias: what is added to the scaled scores: a float tensor that broadcasts to [*, L, S], or
        alibi(), relative() or buckets(), or a sum of them.
    softcap: scaled scores are softcap · tanh(scaled / softcap), before the bias is added.
    sinks: an additional score for each head, [H]. It has no key and no value, and takes its share
        of each row's sum, so the weights may add up to less than 1.

    Returns [*, L, Dv] in the dtype of v. A query that keeps nothing gets 0. If an argument does not
    fit, ValueError or TypeError says so in one sentence. Vaswani et al., "Attention Is All You
    Need" (2017), equation 1. Taught in chapter 03.

    The call decides which code does the computing. Up to 65,536 cells, the six formulas run on
    whole maps. Above that, torch's scaled_dot_product_attention does the computing, in float32 at
    least, if v is as wide as k and there is no dropout. It can take any mask; a mask that torch
    does not know is written out some rows at a time. All other calls are computed tile by tile in
    torch's operations. Whatever computes the output also computes its gradients. On a GPU, Triton
    kernels do all this. torch's attention
    replaces them, in the dtype of q, if only the output is requested, without gradients or dropout,
    and torch knows the mask; float64 and heads wider than 256 take torch's operations. All of them
    agree up to rounding. `engines.choose` has the table.

    Second derivatives and forward mode take whole maps, and are refused above 2**26 cells. Under
    torch.vmap each sample is computed by itself. torch.compile does not compile the call: it runs
    unchanged, between two compiled graphs. torch.export writes down the six formulas, even for a
    length that varies: the Dim of that length needs a `max` and, with padding(), a `min` equal to
    the longest length.
    """
    call = Call.of(q, k, v, keep, scale, dropout, bias=bias, softcap=softcap, sinks=sinks)
    if is_exporting():
        check_cells("weights", call.shape)
        return call.in_lead(whole(call).to(v.dtype))
    with without_autocast(q.device):
        return call.in_lead(observed(call, lambda: output_of(call)))


def output_of(call: Call) -> Tensor:
    return engine_for(call, output_alone=True).forward(call)[0]


@between_graphs
def trace(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    keep: Tensor | Keep | None = None,
    scale: float | None = None,
    dropout: Dropout | None = None,
    bias: Tensor | Bias | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    source: Projection | None = None,
) -> AttentionTrace:
    """The record of one attention call: its output, and every stage on demand.

    >>> from attn_core import toy, trace
    >>> x = toy.journey().x
    >>> trace(x, x, x, scale=1.0).stage("scores")[1]
    tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])

    source: Projection(x, w_query, w_key, w_value, biases) from which q, k and v were made, so that
        arithmetic and editing reach down to x; without it, they end at q, k and v. It may rotate
        queries and keys (rotary=). It projects one x for all three, so it is for self-attention
        only. Under torch.autocast, the record has x and the matrices in autocast's dtype, the one
        in which they are multiplied.
    All other arguments, the errors and the paper are those of `attention`. Taught in chapter 03.
    """
    check_is("source", source, Projection)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        check_no_sample(name, tensor)
    call = Call.of(q, k, v, keep, scale, dropout, bias=bias, softcap=softcap, sinks=sinks)
    if source is not None and is_made_by_autocast(q):
        source = source.each(as_multiplied)
    return recorded(call, engine_for(call), source)


def recorded(call: Call, engine: Engine, source: Projection | None = None) -> AttentionTrace:
    """The record that an engine makes of a call; the numbers are the same whichever it is."""
    with without_autocast(call.q.device):
        output, statistics = engine.forward(call)
        if source is not None:
            compare_projection(source, call)
    known = {} if statistics is None else {call.everywhere: statistics}
    return AttentionTrace(
        call.q, call.k, call.v, call.keep, call.scale, call.dropout, call.lead,
        output, engine, source, known=known,
        bias=call.bias, softcap=call.softcap, sinks=call.sinks,
    )  # fmt: skip


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Lower precision is the caller's to choose, by the dtype of q, k and v."""
    is_on = torch.is_autocast_enabled(device.type)
    return torch.autocast(device.type, enabled=False) if is_on else nullcontext()


def is_made_by_autocast(tensor: Tensor) -> bool:
    """Whether autocast is on and gives products this dtype."""
    kind = tensor.device.type
    return torch.is_autocast_enabled(kind) and tensor.dtype == torch.get_autocast_dtype(kind)


def as_multiplied(tensor: Tensor) -> Tensor:
    """As autocast hands a tensor to a product; anything else is named by a later check."""
    if not isinstance(tensor, Tensor) or tensor.dtype not in AUTOCAST:
        return tensor
    return tensor.to(torch.get_autocast_dtype(tensor.device.type))


def compare_projection(source: Projection, call: Call) -> None:
    matrices = (source.w_query, source.w_key, source.w_value)
    check_projection(source.x, matrices, source.biases, call.q)
    check_rotary(source, call.q)
    with torch.no_grad():
        named = zip(("q", "k", "v"), (call.q, call.k, call.v), source.project(), strict=True)
        for name, tensor, made in named:
            heads_side_by_side = tensor.transpose(1, 2).flatten(2)
            check_source(name, heads_side_by_side, made.reshape(-1, *made.shape[-2:]))
