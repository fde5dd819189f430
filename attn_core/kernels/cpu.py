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

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attn_core import stages
from attn_core.dropout import Dropout
from attn_core.masks import Causal, Keep, of_heads
from attn_core.record import Kernel

Rows = Float[Tensor, "B H L"]
Heads = Float[Tensor, "B H L Dv"]
Map = Float[Tensor, "B H L S"]

SMALL = 2**16  # cells of a map that is made whole
WIDTH = 2048  # keys in a block
CELLS = 2**18  # scores in a block: 1 MB in float32, so that a cache holds them


def forward(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    v: Float[Tensor, "B H S Dv"],
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
) -> tuple[Heads, tuple[Rows, Rows] | None]:
    """output in the dtype of v; row_max and row_sum, without gradient, if they were on the way."""
    statistics = None
    if is_small(q, k):
        output, *statistics = whole(q, k, v, keep, scale, dropout)
    elif is_live(q, k, v):
        output, *statistics = Tiled.apply(q, k, v, keep, scale, dropout)
    elif dropout is None and (keep is None or is_torchs(keep, q, k)):
        output = output_by_torch(q, k, v, keep, scale)
    else:
        output, *statistics = tiled(q, k, v, keep, scale, dropout)
    if statistics is not None:
        statistics = tuple(found.detach() for found in statistics)
    return output.to(v.dtype), statistics


def is_small(q: Tensor, k: Tensor) -> bool:
    return q.shape[:3].numel() * k.shape[2] <= SMALL


def is_live(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def is_torchs(keep: Keep, q: Tensor, k: Tensor) -> bool:
    """Whether torch knows the mask: its `is_causal` is aligned to the top left, so for L == S.

    Other masks would have to be written out for it as L×S cells.
    """
    return isinstance(keep, Causal) and q.shape[2] == k.shape[2]


def output_by_torch(q, k, v, keep, scale) -> Heads:
    """The output alone: torch's own pass over tiles keeps its row statistics to itself."""
    float_type = torch.promote_types(q.dtype, torch.float32)
    wide = (tensor.to(float_type) for tensor in (q, k, v))
    return scaled_dot_product_attention(*wide, is_causal=keep is not None, scale=scale)


def whole(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """The six formulas one after the other, on whole maps."""
    B, H, L = q.shape[:3]
    cells, row_max, row_sum = whole_weights(q, k, keep, scale)
    if dropout is not None:
        survives = dropout.survives(range(B), range(H), range(L), range(k.shape[2]), q.device)
        cells = stages.dropped(cells, survives, dropout.p)
    return stages.output(cells, v.to(cells.dtype)), row_max, row_sum


def whole_weights(q, k, keep, scale) -> tuple[Map, Rows, Rows]:
    """Scores to weights on whole maps; row_max and row_sum."""
    L, S = q.shape[2], k.shape[2]
    float_type = torch.promote_types(q.dtype, torch.float32)
    cells = stages.scaled(stages.scores(q.to(float_type), k.to(float_type)), scale)
    cells = stages.masked(cells, None if keep is None else keep.dense(L, S, q.device))
    return softmax(cells, keep is None or bool(keep.unmasked(range(L), (L, S))))


def softmax(
    masked: Float[Tensor, "*lead L S"], is_alive: bool
) -> tuple[Float[Tensor, "*lead L S"], Float[Tensor, "*lead L"], Float[Tensor, "*lead L"]]:
    """Weights, row_max and row_sum. Where all rows keep something, each exp is taken once."""
    if not is_alive:
        statistics = stages.row_statistics(masked)
        return stages.weights(masked, *statistics), *statistics
    row_max = masked.detach().amax(-1)
    exps = torch.exp(masked - row_max[..., None])
    row_sum = exps.sum(-1)
    return exps / row_sum[..., None], row_max, row_sum


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
    """The weights of all heads, without gradient: tiles of whole rows, each written once.

    Where a mask empties a row's end, the zeros are those of the fresh memory.
    """
    if is_small(q, k):
        return whole_weights(q, k, keep, scale)[0]
    shape = (*q.shape[:3], k.shape[2])
    found = torch.zeros(shape, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
    for tile in tiles(q, k, None, keep, scale, None):
        cols = tile.seen
        if not cols:
            continue
        cells = tile.masked(cols)
        dead = None if tile.is_alive else cells.amax(-1, keepdim=True) == -torch.inf
        torch.softmax(cells, -1, out=cells)
        if dead is not None:
            cells.masked_fill_(dead, 0.0)
        found[tile.place][..., cols.start : cols.stop] = cells
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


class Tile:
    """Some rows of some heads, and what they need of the keys and the values."""

    def __init__(self, q, k, v, keep, scale, dropout, part: tuple[range, range, range]) -> None:
        self.q, self.k, self.v = q, k, v
        self.keep, self.scale, self.dropout = keep, scale, dropout
        self.batches, self.head_range, self.rows = part
        self.size = q.shape[2], k.shape[2]  # L, S
        self.shape = tuple(map(len, part))
        self.place = self.heads(self.rows)
        self.float_type = torch.promote_types(q.dtype, torch.float32)
        self.queries = q[self.place].to(self.float_type)

    def nothing_yet(self) -> tuple[Rows, Rows]:
        """The highest score and the total of rows that have met no key."""
        shape = self.queries.shape[:3]
        return self.queries.new_full(shape, -torch.inf), self.queries.new_zeros(shape)

    def heads(self, rows: range) -> tuple[slice, slice, slice]:
        parts = (self.batches, self.head_range, rows)
        return tuple(slice(part.start, part.stop) for part in parts)

    def keys(self, cols: range) -> Tensor:
        return self.k[self.heads(cols)].to(self.float_type)

    def values(self, cols: range) -> Tensor:
        return self.v[self.heads(cols)].to(self.float_type)

    @property
    def seen(self) -> range:
        """The columns outside of which the rows see nothing."""
        if self.keep is None:
            return range(self.size[1])
        return self.keep.visible(self.rows, self.size)

    @property
    def is_alive(self) -> bool:
        """Whether each row is known to keep something."""
        return self.keep is None or bool(self.keep.unmasked(self.rows, self.size))

    def blocks(self) -> Iterator[range]:
        """The columns that the rows can see, WIDTH at a time: what a mask empties is left out."""
        return iter(parts(self.seen, WIDTH))

    def masked(self, cols: range) -> Tensor:
        """The block at this stage, the mask's tile laid only where it hides something."""
        cells = (self.queries @ self.keys(cols).mT).mul_(self.scale)
        if self.keep is not None:
            for edge in outside(cols, self.keep.unmasked(self.rows, self.size)):
                kept = self.keep.tile(self.rows, edge, self.size, self.q.device)
                hidden = ~of_heads(kept, self.batches, self.head_range)
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


def tiles(
    q, k, v, keep, scale, dropout, part: tuple[range, range, range] | None = None
) -> Iterator[Tile]:
    """All rows of all heads or of a part, as many at a time as give blocks of CELLS scores."""
    L, S = q.shape[2], k.shape[2]
    batch_range, head_range, row_range = part or tuple(map(range, q.shape[:3]))
    height = min(L, 64 if L <= 1024 else 128)
    # The words from which dropout's bits are made take eight bytes each, several times over.
    cells = CELLS if dropout is None else CELLS // 16
    most = max(1, cells // (height * min(WIDTH, S)))
    for batches in parts(batch_range, max(1, most // len(head_range))):
        for heads in parts(head_range, most):
            for rows in parts(row_range, height):
                yield Tile(q, k, v, keep, scale, dropout, (batches, heads, rows))


def parts(whole: range, step: int) -> list[range]:
    return [whole[first : first + step] for first in range(0, len(whole), step)]


def outside(cols: range, unmasked: range) -> list[range]:
    """The columns before and after those that need no mask.

    >>> outside(range(4, 9), range(0, 7)), outside(range(4, 9), range(0))
    ([range(7, 9)], [range(4, 9)])
    """
    start, stop = max(cols.start, unmasked.start), min(cols.stop, unmasked.stop)
    if start >= stop:
        return [cols]
    return [edge for edge in (range(cols.start, start), range(stop, cols.stop)) if edge]


KERNEL = Kernel(row_statistics, weights)
