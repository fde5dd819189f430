"""Attention in one pass over tiles, as flash attention does it, in torch's own operations.

The map of all scores is never made. A few rows of queries meet their keys block by block. A
softmax needs the largest score of its row and the sum over all of it, yet both can be kept up to
date while the blocks go by:

    highest' = max(highest, the scores of the block)
    shrink   = exp(highest − highest')
    total'   = total · shrink + Σ exp(scores − highest')
    output'  = output · shrink + exp(scores − highest') @ v

After the last block, output / total is the average of the values, as if the whole row had been
there. Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao et al.,
"FlashAttention" (2022), algorithm 1. A small map is made whole, by the six formulas.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attn_core.checks import check_numbers, check_output
from attn_core.dropout import Dropout
from attn_core.kernels.tiles import tiles
from attn_core.kernels.whole_maps import (
    Heads,
    Map,
    Rows,
    whole,
    whole_and_checked,
    whole_weights,
    widened,
)
from attn_core.masks import Causal, Keep
from attn_core.record import Kernel

SMALL = 2**16  # cells of a map that is made whole


def forward(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    v: Float[Tensor, "B H S Dv"],
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
    given: tuple[Tensor, Tensor, Tensor] | None = None,
) -> tuple[Heads, tuple[Rows, Rows] | None]:
    """output in the dtype of v; row_max and row_sum, without gradient, if they were on the way.

    One sentence is raised if q, k or v holds what is no finite number, or if they give such.
    given: the three in the caller's rank, in which that sentence names a place.
    """
    if is_small(q, k):
        return whole_and_checked(q, k, v, keep, scale, dropout, given)
    size, statistics = check_numbers(*(given or (q, k, v)), scale), None
    if is_live(q, k, v):
        output, *statistics = Tiled.apply(q, k, v, keep, scale, dropout)
    elif dropout is None and (keep is None or is_torchs(keep, q, k, scale)):
        output = output_by_torch(q, k, v, keep, scale)
    else:
        output, *statistics = tiled(q, k, v, keep, scale, dropout)
    output = output.to(v.dtype)
    check_output(output, size, dropout)
    return output, None if statistics is None else tuple(statistics)


def is_small(q: Tensor, k: Tensor) -> bool:
    return q.numel() * k.shape[2] <= SMALL * q.shape[3]


def is_live(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def is_torchs(keep: Keep, q: Tensor, k: Tensor, scale: float) -> bool:
    """Whether torch knows the mask: its `is_causal` is aligned to the top left, so for L == S.

    It multiplies its −inf by the scale, which gives NaN at 0 and +inf below. Other masks would
    have to be written out for it as L×S cells.
    """
    is_positive = scale >= torch.finfo(torch.float32).tiny
    return isinstance(keep, Causal) and q.shape[2] == k.shape[2] and is_positive


def output_by_torch(q, k, v, keep, scale) -> Heads:
    """The output alone: torch's own pass over tiles keeps its row statistics to itself."""
    wide = map(widened, (q, k, v))
    return scaled_dot_product_attention(*wide, is_causal=keep is not None, scale=scale)


def tiled(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """The same without a whole map: memory for the output, two numbers a row, and one block."""
    float_type = torch.promote_types(q.dtype, torch.float32)
    row_max = q.new_empty(q.shape[:3], dtype=float_type)
    row_sum = torch.empty_like(row_max)
    output = v.new_empty((*q.shape[:3], v.shape[-1]), dtype=float_type)
    for tile in tiles(q, k, v, keep, scale, dropout):
        highest, total = tile.nothing_yet()
        mixed = row_max.new_zeros(*tile.shape, v.shape[-1])
        for cols in tile.blocks():
            exps, highest, total, shrink = meet(tile.masked(cols), highest, total)
            mixed.mul_(shrink[..., None]).add_(tile.drop_(exps, cols) @ tile.values(cols))
        row_max[tile.place], row_sum[tile.place] = highest, total = settled(highest, total)
        output[tile.place] = mixed.div_(total[..., None])
    return output, row_max, row_sum


def row_statistics(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    keep: Keep | None,
    scale: float,
    batches: range,
    heads: range,
) -> tuple[Float[Tensor, "b h L"], Float[Tensor, "b h L"]]:
    """row_max and row_sum of some heads: the same pass without the values."""
    row_max = q.new_empty(q.shape[:3], dtype=torch.promote_types(q.dtype, torch.float32))
    row_sum = torch.empty_like(row_max)
    for tile in tiles(q, k, None, keep, scale, None, (batches, heads, range(q.shape[2]))):
        highest, total = tile.nothing_yet()
        for cols in tile.blocks():
            _, highest, total, _ = meet(tile.masked(cols), highest, total)
        row_max[tile.place], row_sum[tile.place] = settled(highest, total)
    part = slice(batches.start, batches.stop), slice(heads.start, heads.stop)
    return row_max[part], row_sum[part]


def weights(
    q: Float[Tensor, "B H L D"], k: Float[Tensor, "B H S D"], keep: Keep | None, scale: float
) -> Map:
    """The weights of all heads, without gradient: tiles of whole rows, each written once."""
    if is_small(q, k):
        return whole_weights(q, k, keep, scale)[0]
    shape = (*q.shape[:3], k.shape[2])
    found = q.new_empty(shape, dtype=torch.promote_types(q.dtype, torch.float32))
    for tile in tiles(q, k, None, keep, scale, None):
        cols, rows = tile.seen, found[tile.place]
        rows[..., : cols.start] = rows[..., cols.stop :] = 0.0
        if not cols:
            continue
        cells = tile.masked(cols)
        dead = None if tile.is_alive else cells.amax(-1, keepdim=True) == -torch.inf
        torch.softmax(cells, -1, out=cells)
        if dead is not None:
            cells.masked_fill_(dead, 0.0)
        rows[..., cols.start : cols.stop] = cells
    return found


def meet(cells: Tensor, highest: Rows, total: Rows) -> tuple[Tensor, Rows, Rows, Rows]:
    """One block more: exp(cells − highest') in the place of the cells, highest', total', shrink."""
    newest = torch.maximum(highest, cells.amax(-1))
    # A row that has kept nothing yet: −inf − (−inf) would be no number.
    shift = newest.masked_fill(newest == -torch.inf, 0.0)
    exps = cells.sub_(shift[..., None]).exp_()
    shrink = torch.exp(highest - shift)
    return exps, newest, total * shrink + exps.sum(-1), shrink


def settled(highest: Rows, total: Rows) -> tuple[Rows, Rows]:
    """After the last block; a row that kept nothing has maximum 0 and sum 1."""
    dead = highest == -torch.inf
    return highest.masked_fill(dead, 0.0), total.masked_fill(dead, 1.0)


class Tiled(torch.autograd.Function):
    """`tiled` with its gradients: the weights are derived again, block by block, on the way back.

    With w the weights, d what dropout leaves of them, g the gradient of the output: that of v is
    dᵀ @ g, that of a weight what dropout leaves of g·v, that of a masked score
    w · (the weight's − g·output), as the softmax demands. Whoever asks for a graph of the
    gradients, to differentiate them again, gets it through whole maps.
    """

    @staticmethod
    def forward(ctx, q, k, v, keep, scale, dropout):
        output, row_max, row_sum = tiled(q, k, v, keep, scale, dropout)
        ctx.save_for_backward(q, k, v, output, row_max, row_sum)
        ctx.settings = keep, scale, dropout
        ctx.mark_non_differentiable(row_max, row_sum)
        return output, row_max, row_sum

    @staticmethod
    def backward(ctx, of_output, *_):
        q, k, v, output, row_max, row_sum = ctx.saved_tensors
        if torch.is_grad_enabled():
            live = [tensor for tensor in (q, k, v) if tensor.requires_grad]
            made = whole(q, k, v, *ctx.settings)[0]
            found = iter(torch.autograd.grad(made, live, of_output, create_graph=True))
            of_inputs = [next(found) if t.requires_grad else None for t in (q, k, v)]
            return *of_inputs, None, None, None
        of_q, of_k, of_v = (torch.zeros_like(t, dtype=output.dtype) for t in (q, k, v))
        with torch.autocast(q.device.type, enabled=False):
            for tile in tiles(q, k, v, *ctx.settings):
                pull = of_output[tile.place]
                along = (pull * output[tile.place]).sum(-1, keepdim=True)
                for cols in tile.blocks():
                    weights = tile.masked(cols).sub_(row_max[tile.place][..., None]).exp_()
                    weights.div_(row_sum[tile.place][..., None])
                    of_weights = tile.drop_(pull @ tile.values(cols).mT, cols)
                    of_scores = weights * of_weights.sub_(along) * tile.scale
                    of_q[tile.place] += of_scores @ tile.keys(cols)
                    of_k[tile.heads(cols)] += of_scores.mT @ tile.queries
                    of_v[tile.heads(cols)] += tile.drop_(weights, cols).mT @ pull
        return of_q.to(q.dtype), of_k.to(k.dtype), of_v.to(v.dtype), None, None, None


KERNEL = Kernel(row_statistics, weights)
