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

from collections.abc import Iterator
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attn_core import stages
from attn_core.dropout import Dropout
from attn_core.masks import Causal, Keep

Rows = Float[Tensor, "B H L"]
Heads = Float[Tensor, "B H L Dv"]

SMALL = 2**16  # cells of a map that is made whole
WIDTH = 512  # keys in a block
CELLS = 2**20  # scores in a block of several heads: 4 MB in float32, so that a cache holds them


def forward(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    v: Float[Tensor, "B H S Dv"],
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
) -> tuple[Heads, Rows, Rows]:
    """output in the dtype of v; row_max and row_sum in float32 at least, without gradient."""
    shape = (*q.shape[:3], k.shape[2])
    if prod(shape) <= SMALL:
        output, row_max, row_sum = whole(q, k, v, keep, scale, dropout)
    elif torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v)):
        output, row_max, row_sum = Tiled.apply(q, k, v, keep, scale, dropout)
    else:
        output, row_max, row_sum = tiled(q, k, v, keep, scale, dropout)
    return output.to(v.dtype), row_max.detach(), row_sum.detach()


def output_by_torch(q, k, v, keep: Keep | None, scale: float) -> Heads | None:
    """The output by torch's scaled_dot_product_attention, or None where it would not be ours.

    Its `is_causal` is aligned to the top left, so it serves for L == S alone; other rules would
    have to be written out as L×S cells. It has no dropout by place and no second derivative.
    """
    shape = (*q.shape[:3], k.shape[2])
    live = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
    is_causal = isinstance(keep, Causal) and shape[2] == shape[3]
    if prod(shape) <= SMALL or live or not (keep is None or is_causal):
        return None
    float_type = torch.promote_types(q.dtype, torch.float32)
    wide = (t.to(float_type) for t in (q, k, v))
    return scaled_dot_product_attention(*wide, is_causal=is_causal, scale=scale).to(v.dtype)


def whole(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """The six formulas one after the other, on whole maps."""
    B, H, L = q.shape[:3]
    S = k.shape[2]
    float_type = torch.promote_types(q.dtype, torch.float32)
    cells = stages.scaled(stages.scores(q.to(float_type), k.to(float_type)), scale)
    cells = stages.masked(cells, None if keep is None else keep.dense(L, S, q.device))
    row_max, row_sum = stages.row_statistics(cells)
    cells = stages.weights(cells, row_max, row_sum)
    if dropout is not None:
        survives = dropout.survives(range(B), range(H), range(L), range(S), q.device)
        cells = stages.dropped(cells, survives, dropout.p)
    return stages.output(cells, v.to(float_type)), row_max, row_sum


def tiled(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """The same without a whole map: memory for the output, two numbers a row, and one block."""
    float_type = torch.promote_types(q.dtype, torch.float32)
    row_max = q.new_empty(q.shape[:3], dtype=float_type)
    row_sum = torch.empty_like(row_max)
    output = v.new_empty((*q.shape[:3], v.shape[-1]), dtype=float_type)
    for tile in tiles(q, k, v, keep, scale, dropout):
        highest = row_max.new_full(tile.shape, -torch.inf)
        total = torch.zeros_like(highest)
        mixed = row_max.new_zeros(*tile.shape, v.shape[-1])
        for cols in tile.blocks():
            cells = tile.masked(cols)
            newest = torch.maximum(highest, cells.amax(-1))
            # A row that has kept nothing yet: −inf − (−inf) would be no number.
            shift = newest.masked_fill(newest == -torch.inf, 0.0)
            cells.sub_(shift[..., None]).exp_()
            shrink = torch.exp(highest - shift)
            highest, total = newest, total * shrink + cells.sum(-1)
            mixed.mul_(shrink[..., None]).add_(tile.drop_(cells, cols) @ tile.values(cols))
        dead = highest == -torch.inf
        row_max[tile.place] = highest.masked_fill_(dead, 0.0)
        row_sum[tile.place] = total.masked_fill_(dead, 1.0)
        output[tile.place] = mixed.div_(total[..., None])
    return output, row_max, row_sum


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


class Tile:
    """Some rows of some heads, and what they need of the keys and the values."""

    def __init__(self, q, k, v, keep, scale, dropout, part: tuple[range, range, range]) -> None:
        self.q, self.k, self.v = q, k, v
        self.keep, self.scale, self.dropout = keep, scale, dropout
        self.batches, self.head_range, self.rows = part
        self.shape = tuple(map(len, part))
        self.place = self.heads(self.rows)
        self.float_type = torch.promote_types(q.dtype, torch.float32)
        self.queries = q[self.place].to(self.float_type)

    def heads(self, rows: range) -> tuple[slice, slice, slice]:
        parts = (self.batches, self.head_range, rows)
        return tuple(slice(part.start, part.stop) for part in parts)

    def keys(self, cols: range) -> Tensor:
        return self.k[self.heads(cols)].to(self.float_type)

    def values(self, cols: range) -> Tensor:
        return self.v[self.heads(cols)].to(self.float_type)

    def blocks(self) -> Iterator[range]:
        """The columns that the rows can see, WIDTH at a time: what a mask empties is left out."""
        size = self.q.shape[2], self.k.shape[2]
        seen = range(size[1]) if self.keep is None else self.keep.visible(self.rows, size)
        for start in range(seen.start, seen.stop, WIDTH):
            yield range(start, min(start + WIDTH, seen.stop))

    def masked(self, cols: range) -> Tensor:
        """The block at this stage, the mask's tile laid only where it hides something."""
        cells = (self.queries @ self.keys(cols).mT).mul_(self.scale)
        if self.keep is not None:
            size = self.q.shape[2], self.k.shape[2]
            for edge in outside(cols, self.keep.unmasked(self.rows, size)):
                hidden = ~self.keep.tile(self.rows, edge, size, self.q.device)
                hidden = hidden[self.heads(self.rows)[0]] if len(hidden) > 1 else hidden
                hidden = hidden[:, self.heads(self.rows)[1]] if hidden.shape[1] > 1 else hidden
                first = edge.start - cols.start
                cells[..., first : first + len(edge)].masked_fill_(hidden, -torch.inf)
        return cells

    def drop_(self, cells: Tensor, cols: range) -> Tensor:
        """What dropout leaves of a block, written into it."""
        if self.dropout is None:
            return cells
        survives = self.dropout.survives(
            self.batches, self.head_range, self.rows, cols, cells.device
        )
        return cells.mul_(survives).div_(1 - self.dropout.p)


def tiles(q, k, v, keep, scale, dropout) -> Iterator[Tile]:
    """All rows of all heads, as many at a time as give blocks of CELLS scores."""
    (B, H, L), S = q.shape[:3], k.shape[2]
    height = min(L, 64 if L <= 1024 else 128)
    # The words from which dropout's bits are made take eight bytes each, several times over.
    cells = CELLS if dropout is None else CELLS // 16
    most = max(1, cells // (height * min(WIDTH, S)))
    for batches in parts(B, max(1, most // H)):
        for heads in parts(H, most):
            for rows in parts(L, height):
                yield Tile(q, k, v, keep, scale, dropout, (batches, heads, rows))


def parts(size: int, step: int) -> list[range]:
    return [range(start, min(start + step, size)) for start in range(0, size, step)]


def outside(cols: range, unmasked: range) -> list[range]:
    """The columns before and after those that need no mask.

    >>> outside(range(4, 9), range(0, 7)), outside(range(4, 9), range(0))
    ([range(7, 9)], [range(4, 9)])
    """
    start, stop = max(cols.start, unmasked.start), min(cols.stop, unmasked.stop)
    if start >= stop:
        return [cols]
    return [edge for edge in (range(cols.start, start), range(stop, cols.stop)) if edge]
