"""A map cut into tiles: some rows of some heads, and the columns that they can see."""

from collections.abc import Callable, Iterator
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.call import Call, Part
from attn_core.engines.scaling import add_bias_, cap_
from attn_core.engines.strips import mask_
from attn_core.masks import as_slice
from attn_core.precision import upcast
from attn_core.threads import parallel_map

Rows = Float[Tensor, "B H L"]
HeadRows = tuple[range, range, range]  # batches, heads and rows

WIDTH = 2048  # keys in a block
CELLS = 2**18  # scores in a block: 1 MB in float32, so that a cache holds them
# A GPU has thousands of threads to feed, and a launch for each operation to pay.
GPU_HEIGHT, GPU_CELLS = 2048, 2**24
WIDEST = 256  # heads for which Triton's tiles fit into a multiprocessor


class Tile:
    """Some rows of some heads, and what they need of the keys and the values."""

    def __init__(self, call: Call, part: HeadRows) -> None:
        self.call, self.keep, self.size = call, call.keep, call.size
        self.batches, self.head_range, self.rows = part
        self.shape = tuple(map(len, part))
        self.place = self.heads(self.rows)
        self.queries = upcast(call.q[self.place])

    @property
    def sinks(self) -> Tensor | None:
        """Of its heads, to be met by each row."""
        return self.call.sinks_of(self.head_range)

    def nothing_yet(self) -> tuple[Rows, Rows]:
        """The highest score and the total of rows that have met no key, only their head's sink."""
        shape = self.queries.shape[:3]
        if self.sinks is not None:
            return self.sinks.detach().expand(shape).clone(), self.queries.new_ones(shape)
        return self.queries.new_full(shape, -torch.inf), self.queries.new_zeros(shape)

    def heads(self, rows: range) -> tuple[slice, slice, slice]:
        return as_slice(self.batches), as_slice(self.head_range), as_slice(rows)

    def keys(self, cols: range) -> Tensor:
        return self.call.of_heads("k", self.batches, self.head_range, cols)

    def values(self, cols: range) -> Tensor:
        return self.call.of_heads("v", self.batches, self.head_range, cols)

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

    def capped(self, cols: range) -> Tensor:
        """The block's scores, scaled and capped, without bias."""
        return cap_(self.queries @ self.keys(cols).mT, self.call)

    def mask_(self, capped: Tensor, cols: range) -> Tensor:
        """The block at the stage "masked", written into it."""
        part = self.part(cols)
        return mask_(add_bias_(capped, self.call, part), self.keep, part, self.size)

    def masked(self, cols: range) -> Tensor:
        """The block at this stage."""
        return self.mask_(self.capped(cols), cols)

    def part(self, cols: range) -> Part:
        """Of the map: the rows, and some columns."""
        return self.batches, self.head_range, self.rows, cols

    def drop_(self, cells: Tensor, cols: range) -> Tensor:
        """What dropout leaves of a block, written into it."""
        dropout = self.call.dropout
        if dropout is None or not cols:
            return cells
        survives = dropout.survives(self.batches, self.head_range, self.rows, cols, cells.device)
        return cells.mul_(survives).div_(1 - dropout.p)


def for_each_tile(work: Callable[[Tile], None], call: Call, part: HeadRows | None = None) -> None:
    """work(tile) for all rows of all heads or of a part; each writes to a place of its own."""
    part = part or call.everything[:3]
    cells = prod(map(len, part)) * call.size[1]
    parallel_map(lambda rows: work(Tile(call, rows)), cut(call, part), cells, call.q.device)


def cut(call: Call, part: HeadRows | None = None) -> list[HeadRows]:
    """All rows of all heads or of a part, as many at a time as give blocks of CELLS scores."""
    L, S = call.size
    batch_range, head_range, row_range = part or call.everything[:3]
    # The words from which dropout's bits are made take eight bytes each, several times over.
    cells, least, most = (CELLS, 32, 256) if call.dropout is None else (CELLS // 16, 64, 128)
    height = min(L, least if L <= 512 else 64 if L <= 1024 else 128 if L <= 8192 else most)
    if call.q.device.type != "cpu":
        cells, height = GPU_CELLS, min(L, GPU_HEIGHT)
    maps = max(1, cells // (height * min(WIDTH, S)))
    return [
        (batches, heads, rows)
        for batches in parts(batch_range, max(1, maps // len(head_range)))
        for heads in parts(head_range, maps)
        for rows in parts(row_range, height)
    ]


def parts(whole: range, step: int) -> list[range]:
    return [whole[first : first + step] for first in range(0, len(whole), step)]
