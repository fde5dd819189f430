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
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.checks import check_numbers, check_output
from attn_core.dropout import Dropout
from attn_core.kernels import parts, sdpa
from attn_core.kernels.gradients import Pass, is_live
from attn_core.kernels.tiles import WIDTH, Rows, Tile, tiles
from attn_core.kernels.whole_maps import Heads, Map, is_small, whole_and_checked, whole_weights
from attn_core.masks import Keep
from attn_core.precision import float_type
from attn_core.record import Kernel


def forward(
    q: Float[Tensor, "B H L D"],
    k: Float[Tensor, "B H S D"],
    v: Float[Tensor, "B H S Dv"],
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
    lead: tuple[int, ...] | None = None,
    output_alone: bool = False,
) -> tuple[Heads, tuple[Rows, Rows] | None]:
    """output in the dtype of v; row_max and row_sum, without gradient, if they were on the way.

    One sentence is raised if q, k or v holds what is no finite number, or if they give such.
    lead: the caller's axes before the last two, in which that sentence names a place. output_alone:
    whether nothing else will be asked for, which makes no difference here.
    """
    if is_small(q, k):
        return whole_and_checked(q, k, v, keep, scale, dropout, lead)
    one_pass = partial(checked, tiled if is_live(q, k, v) else fastest, lead)
    output, *statistics = Pass.apply(one_pass, row_statistics, q, k, v, keep, scale, dropout)
    return output.to(v.dtype), tuple(statistics) or None


def checked(one_pass, lead, q, k, v, keep, scale, dropout) -> tuple[Tensor, ...]:
    """One pass over numbers that are looked at before it and after it."""
    size = check_numbers(q, k, v, scale, lead=lead)
    output, *statistics = one_pass(q, k, v, keep, scale, dropout)
    check_output(output, size, dropout, v.dtype)
    return output, *statistics


def fastest(q, k, v, keep, scale, dropout) -> tuple[Tensor, ...]:
    """The output, and row_max and row_sum if they are on its way."""
    if dropout is None and sdpa.knows(keep, q, k, v, scale):
        return (sdpa.output(q, k, v, keep, scale),)
    if dropout is None and k.shape[2] <= WIDTH:
        return (whole_rows(q, k, v, keep, scale, None),)
    return tiled(q, k, v, keep, scale, dropout)


def tiled(q, k, v, keep, scale, dropout) -> tuple[Heads, Rows, Rows]:
    """Output, row_max and row_sum: memory for them and for one block, and no whole map."""
    row_max = q.new_empty(q.shape[:3], dtype=float_type(q))
    row_sum = torch.empty_like(row_max)
    output = v.new_empty((*q.shape[:3], v.shape[-1]), dtype=float_type(q))
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
    row_max = q.new_empty(q.shape[:3], dtype=float_type(q))
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
    """The weights of all heads, without gradient."""
    if is_small(q, k):
        return whole_weights(q, k, keep, scale)[0]
    found = empty_map(q, k)
    for tile, cells in weighed(q, k, None, keep, scale, None):
        write(tile, cells, found)
    return found


def empty_map(q: Tensor, k: Tensor) -> Map:
    return q.new_empty((*q.shape[:3], k.shape[2]), dtype=float_type(q))


def whole_rows(q, k, v, keep, scale, dropout) -> Heads:
    """The output in the dtype of v, in tiles of whole rows."""
    output = v.new_empty((*q.shape[:3], v.shape[3]))
    for tile, cells in weighed(q, k, v, keep, scale, dropout):
        output[tile.place] = tile.drop_(cells, tile.seen) @ tile.values(tile.seen)
    return output


def weighed(q, k, v, keep, scale, dropout) -> Iterator[tuple[Tile, Tensor]]:
    """Tiles of whole rows, each of which meets all its keys at once, with their weights."""
    for tile in tiles(q, k, v, keep, scale, dropout):
        cells = tile.masked(tile.seen)
        is_alive = tile.is_alive or not tile.seen
        dead = None if is_alive else cells.amax(-1, keepdim=True) == -torch.inf
        torch.softmax(cells, -1, out=cells)
        if dead is not None:
            cells.masked_fill_(dead, 0.0)
        yield tile, cells


def write(tile: Tile, cells: Tensor, found: Map) -> None:
    """The weights of a tile into a map; 0 where its rows see nothing."""
    rows, cols = found[tile.place], tile.seen
    rows[..., : cols.start] = rows[..., cols.stop :] = 0.0
    rows[..., cols.start : cols.stop] = cells


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


KERNEL = Kernel(forward, row_statistics, parts.cells, weights)
