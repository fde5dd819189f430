"""Attention on a GPU, in kernels of Triton: what tiled.py computes, with the same bits of dropout.

float16, bfloat16 and float32, computed in float32. The backward pass is that of the tiles.
"""

from torch import Tensor

from attn_core.call import Call, Part
from attn_core.engines.formulas import Engine, Map, RowPair
from attn_core.engines.tiled import Tiled
from attn_core.engines.triton.parts import cells, overview_of
from attn_core.engines.triton.passes import one_pass
from attn_core.masks import as_slice


class Triton(Tiled):
    def one_pass(self, call: Call) -> tuple[Tensor, Tensor, Tensor]:
        return one_pass(call)

    def row_statistics(self, call: Call, batches: range, heads: range) -> RowPair:
        """row_max and row_sum of some heads: the same pass over one number a key."""
        part = as_slice(batches), as_slice(heads)
        row_max, row_sum = one_pass(call.call_with(v=call.k[..., :1], dropout=None))[1:]
        return row_max[part], row_sum[part]

    def weights(self, call: Call) -> Map:
        statistics = self.row_statistics(call, *call.everywhere)
        return self.cells(call, "weights", call.everything, statistics)

    def cells(self, call: Call, name: str, part: Part, statistics: RowPair | None) -> Tensor:
        return cells(call, name, part, statistics)

    def overview(self, call, name, place, shape, how, statistics, derive) -> Tensor:
        return overview_of(call, name, place, shape, how, statistics)


TRITON: Engine = Triton()
