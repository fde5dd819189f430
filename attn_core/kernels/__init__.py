"""Attention in one call: its output, or the record from which every stage follows."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attn_core import masks
from attn_core.checks import (
    check_broadcast,
    check_cells,
    check_is,
    check_no_sample,
    check_projection,
    check_qkv,
    check_scale,
    check_source,
)
from attn_core.compiling import between_graphs, is_exporting
from attn_core.dropout import Dropout
from attn_core.kernels.choosing import kernel_for
from attn_core.kernels.whole_maps import whole
from attn_core.masks import Keep, of_cells
from attn_core.record import AttentionTrace, Kernel, everything, versions_of
from attn_core.source import Projection


@between_graphs
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    keep: Tensor | Keep | None = None,
    scale: float | None = None,
    dropout: Dropout | None = None,
) -> Tensor:
    """For each query the average of the values, weighted by softmax(scale·q·k).

    >>> from attn_core import attention, toy
    >>> x = toy.journey().x
    >>> attention(x, x, x, scale=1.0)[1]
    tensor([0.4419, 0.6515, 0.5683])

    q [*, L, D], k [*, S, D], v [*, S, Dv]: [T, D] is one sequence, [B, T, D] a batch with one
        head, [B, H, T, D] the full form; further leading axes are batch. Floats of one dtype on
        one device, all finite.
    keep: which keys a query may see (True = keep): a bool tensor that broadcasts to [*, L, S], or
        causal(), window(), padding(), prefill(), or several of them joined by &.
    scale: what the scores are multiplied by; 1/√D unless given.
    dropout: Dropout(p, seed), or None.

    Gives [*, L, Dv] in the dtype of v. A query that keeps nothing gets 0. ValueError or TypeError
    with one sentence for what does not fit. Vaswani et al., "Attention Is All You Need" (2017),
    equation 1. Taught in chapter 03.

    Which code computes: up to 65,536 cells the six formulas on whole maps. Above it torch's
    scaled_dot_product_attention, in float32 at least, where it makes no whole map, no gradient is
    asked for, there is no dropout, the scale is above 0, and the mask is None, or causal() with
    L = S; else tiles. On a GPU the same choice is between scaled_dot_product_attention, in the
    dtype of q, and kernels of Triton, which `trace` always takes; float64 and heads wider than 256
    take tiles in torch's operations. Between all of them lies rounding and nothing more.

    Gradients of long calls are computed in tiles, too; second derivatives and forward mode take
    whole maps, and are refused above 2**26 cells. Under torch.vmap each sample is computed by
    itself. torch.compile runs the call as it stands, between its graphs.
    """
    q4, k4, v4, keep, scale = prepared(q, k, v, keep, scale, dropout)
    if is_exporting():
        check_cells("weights", (*q4.shape[:3], k4.shape[2]))
        output = whole(q4, k4, v4, keep, scale, dropout)[0].to(v.dtype)
        return output.reshape(*q.shape[:-1], v.shape[-1])
    with without_autocast(q.device):
        # Asked first: a GPU that Triton does not serve is refused whatever would compute.
        forward = kernel_of(q, v).forward
        output, _ = forward(q4, k4, v4, keep, scale, dropout, q.shape[:-2], output_alone=True)
    return output.reshape(*q.shape[:-1], v.shape[-1])


@between_graphs
def trace(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    keep: Tensor | Keep | None = None,
    scale: float | None = None,
    dropout: Dropout | None = None,
    source: Projection | None = None,
) -> AttentionTrace:
    """The record of one attention: its output, and every stage on demand.

    >>> from attn_core import toy, trace
    >>> x = toy.journey().x
    >>> trace(x, x, x, scale=1.0).stage("scores")[1]
    tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])

    source: Projection(x, w_query, w_key, w_value, biases) from which q, k and v were made, so that
        arithmetic and editing reach down to x; None ends them at q, k and v. One projection of x
        for all three: self-attention only.
    All other arguments, the errors and the source are those of `attention`. Taught in chapter 03.
    """
    check_is("source", source, Projection)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        check_no_sample(name, tensor)
    q4, k4, v4, keep, scale = prepared(q, k, v, keep, scale, dropout)
    kernel, lead = kernel_of(q, v), tuple(q.shape[:-2])
    with without_autocast(q.device):
        output, statistics = kernel.forward(q4, k4, v4, keep, scale, dropout, lead)
        if source is not None:
            compare_projection(source, q4, k4, v4)
    versions = versions_of(q4, k4, v4, output, source)
    known = {} if statistics is None else {everything(q4): statistics}
    return AttentionTrace(
        q4, k4, v4, keep, scale, dropout, output, lead, kernel, source, versions, known
    )


def prepared(q, k, v, keep, scale, dropout) -> tuple[Tensor, Tensor, Tensor, Keep | None, float]:
    """What both functions are given, with four axes, and checked but for the numbers themselves."""
    check_qkv(q, k, v)
    check_is("dropout", dropout, Dropout)
    scale = check_scale(scale, q)
    q4, k4, v4 = with_four_axes(q), with_four_axes(k), with_four_axes(v)
    if keep is not None:
        keep = as_keep(keep, q.shape[:-2], (*q4.shape[:3], k4.shape[2]), q.device)
    return q4, k4, v4, keep, scale


def kernel_of(q: Tensor, v: Tensor) -> Kernel:
    return kernel_for(q.device, q.dtype, max(q.shape[-1], v.shape[-1]))


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Lower precision is the caller's to choose, by the dtype of q, k and v."""
    is_on = torch.is_autocast_enabled(device.type)
    return torch.autocast(device.type, enabled=False) if is_on else nullcontext()


def with_four_axes(tensor: Tensor) -> Tensor:
    """[T, D] → [1, 1, T, D], [B, T, D] → [B, 1, T, D], [..., H, T, D] → [B, H, T, D]."""
    if tensor.requires_grad and not torch.is_grad_enabled():
        # A view made here would ask for gradients of its own, which never reach the caller.
        tensor = tensor.detach()
    if tensor.ndim == 2:
        return tensor[None, None]
    if tensor.ndim == 3:
        return tensor[:, None]
    return tensor if tensor.ndim == 4 else tensor.reshape(-1, *tensor.shape[-3:])


def as_keep(
    keep: Tensor | Keep | None,
    lead: tuple[int, ...],
    shape: tuple[int, int, int, int],
    device: torch.device,
) -> Keep | None:
    if keep is None:
        return None
    rule = keep if isinstance(keep, Keep) else of_cells(keep)
    if rule.cells is not None:
        if rule is not keep:
            check_broadcast(rule.cells, (*lead, *shape[2:]))
        rule = replace(rule, cells=cells_of(rule.cells, lead, shape))
    rule.check(shape, device)
    return rule


def cells_of(
    cells: Tensor, lead: tuple[int, ...], shape: tuple[int, int, int, int]
) -> Bool[Tensor, "B H L S"]:
    """Cells that are written for the caller's axes, or for [B, H, L, S] already."""
    if len(lead) < 2 and cells.ndim == 4:
        return cells
    check_broadcast(cells, (*lead, *shape[2:]))
    if len(lead) == 1 and cells.ndim == 3:
        return cells[:, None]
    if len(lead) > 2 and cells.ndim > 3:
        spread = cells.expand(*lead, *cells.shape[-2:])
        return spread.reshape(*shape[:2], *cells.shape[-2:])
    return masks.in_four_axes(cells)


def compare_projection(source: Projection, q: Tensor, k: Tensor, v: Tensor) -> None:
    matrices = (source.w_query, source.w_key, source.w_value)
    check_projection(source.x, matrices, source.biases, q)
    with torch.no_grad():
        named = zip(("q", "k", "v"), (q, k, v), source.project(), strict=True)
        for name, tensor, made in named:
            heads_side_by_side = tensor.transpose(1, 2).flatten(2)
            check_source(name, heads_side_by_side, made.reshape(-1, *made.shape[-2:]))
