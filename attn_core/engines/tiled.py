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
"FlashAttention" (2022), algorithm 1.
"""

import torch
from torch import Tensor

from attn_core.call import Call
from attn_core.engines.finite import check_numbers, check_output
from attn_core.engines.formulas import Engine, Heads, Map, RowPair, Rows
from attn_core.engines.gradients import through_tiles, with_gradients
from attn_core.engines.tiles import Tile, for_each_tile
from attn_core.masks import as_slice


class Tiled(Engine):
    """One pass over tiles, forward and back; kinds of it know other passes.

    A pass gives the output, float32 at least, and what is saved for its backward pass.
    """

    def forward(self, call: Call) -> tuple[Heads, RowPair | None]:
        output, *saved = with_gradients(self.checked, self.backward, call)
        return output.to(call.v.dtype), self.statistics_of(saved)

    def checked(self, call: Call) -> tuple[Tensor, ...]:
        """One pass, and a look at its numbers; a GPU computes before it is waited for."""
        output, *saved = self.one_pass(call)
        size = check_numbers(call)
        check_output(output, size, call.dropout, call.v.dtype)
        return output, *saved

    def one_pass(self, call: Call) -> tuple[Tensor, ...]:
        return tiled(call)

    def backward(self, call: Call, grad_output: Tensor, output: Tensor, *saved: Tensor):
        """The gradients of the call's tensors, each in its dtype."""
        return through_tiles(call, grad_output, output, *saved)

    def statistics_of(self, saved: list[Tensor]) -> RowPair | None:
        """row_max and row_sum, if a pass keeps them."""
        row_max, row_sum = saved
        return row_max, row_sum

    def row_statistics(self, call: Call, batches: range, heads: range) -> RowPair:
        return row_statistics(call, batches, heads)

    def weights(self, call: Call) -> Map:
        return weights(call)


def tiled(call: Call) -> tuple[Heads, Rows, Rows]:
    """Output, row_max and row_sum: memory for them and for one block, and no whole map."""
    row_max = call.q.new_empty(call.q.shape[:3], dtype=call.float_type)
    row_sum = torch.empty_like(row_max)
    output = row_max.new_empty(*row_max.shape, call.v.shape[-1])

    def attend(tile: Tile) -> None:
        highest, total = tile.nothing_yet()
        mixed = row_max.new_zeros(*tile.shape, call.v.shape[-1])
        for cols in tile.blocks():
            exps, highest, total, shrink = add_block(tile.masked(cols), highest, total)
            mixed.mul_(shrink[..., None]).add_(tile.drop_(exps, cols) @ tile.values(cols))
        row_max[tile.place], row_sum[tile.place] = highest, total = finished(highest, total)
        output[tile.place] = mixed.div_(total[..., None])

    for_each_tile(attend, call)
    return output, row_max, row_sum


def row_statistics(call: Call, batches: range, heads: range) -> RowPair:
    """row_max and row_sum of some heads: the same pass without the values."""
    row_max = call.q.new_empty(call.q.shape[:3], dtype=call.float_type)
    row_sum = torch.empty_like(row_max)

    def sum_up(tile: Tile) -> None:
        row_max[tile.place], row_sum[tile.place] = tile_statistics(tile)

    for_each_tile(sum_up, call.call_with(dropout=None), (batches, heads, range(call.size[0])))
    part = as_slice(batches), as_slice(heads)
    return row_max[part], row_sum[part]


def tile_statistics(tile: Tile) -> RowPair:
    """row_max and row_sum of a tile's rows."""
    highest, total = tile.nothing_yet()
    for cols in tile.blocks():
        _, highest, total, _ = add_block(tile.masked(cols), highest, total)
    return finished(highest, total)


def weights(call: Call) -> Map:
    """The weights of all heads, in tiles of whole rows, each of which meets its keys at once."""
    out = call.q.new_empty(call.shape, dtype=call.float_type)

    def weigh(tile: Tile) -> None:
        seen = tile.seen
        rows = out[tile.place]
        rows[..., : seen.start] = rows[..., seen.stop :] = 0.0
        rows[..., seen.start : seen.stop] = softmax_of(tile)

    for_each_tile(weigh, call.call_with(dropout=None))
    return out


def softmax_of(tile: Tile) -> Tensor:
    """The weights of a tile's rows, for the keys that they can see."""
    cells = tile.masked(tile.seen)
    if tile.call.sinks is not None:
        row_max, row_sum = tile_statistics(tile)
        return cells.sub_(row_max[..., None]).exp_().div_(row_sum[..., None])
    is_alive = tile.is_alive or not tile.seen
    dead = None if is_alive else cells.amax(-1, keepdim=True) == -torch.inf
    torch.softmax(cells, -1, out=cells)
    return cells if dead is None else cells.masked_fill_(dead, 0.0)


def add_block(cells: Tensor, highest: Rows, total: Rows) -> tuple[Tensor, Rows, Rows, Rows]:
    """One block more: exp(cells − highest') in the place of the cells, highest', total', shrink."""
    newest = torch.maximum(highest, cells.amax(-1))
    # A row that has kept nothing yet: −inf − (−inf) would be no number.
    shift = newest.masked_fill(newest == -torch.inf, 0.0)
    exps = cells.sub_(shift[..., None]).exp_()
    shrink = torch.exp(highest - shift)
    return exps, newest, total * shrink + exps.sum(-1), shrink


def finished(highest: Rows, total: Rows) -> tuple[Rows, Rows]:
    """After the last block; a row that kept nothing has maximum 0 and sum 1."""
    dead = highest == -torch.inf
    return highest.masked_fill(dead, 0.0), total.masked_fill(dead, 1.0)


TILED = Tiled()
