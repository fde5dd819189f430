"""Any part of any stage of a call, from its queries and keys."""

from collections.abc import Callable

import torch
from torch import Tensor

from attn_core import stages
from attn_core.call import Call, Part
from attn_core.engines.formulas import Engine, RowPair
from attn_core.masks import as_slice

CELLS = 2**22  # of a mask that is looked at at a time


def is_live(call: Call) -> bool:
    """Whether weights that are derived now can be asked for gradients."""
    tensors = call.q, call.k, *call.added().values()
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def part_of_stage(
    call: Call,
    engine: Engine,
    name: str,
    part: Part,
    statistics: Callable[[range, range], RowPair],
) -> Tensor:
    """Some batches, heads, rows and columns of a stage.

    statistics(batches, heads): row_max and row_sum of some heads, for weights and what follows.
    """
    batches, heads, rows, cols = part
    keys = range(call.size[1]) if name == "output" else cols
    cells = up_to_weights(call, engine, name, (batches, heads, rows, keys), statistics)
    if name in ("dropped", "output") and call.dropout is not None:
        survives = call.dropout.survives(batches, heads, rows, keys, call.q.device)
        cells = stages.dropped(cells, survives, call.dropout.p)
    if name != "output":
        return cells
    v = call.of_heads("v", batches, heads, keys)[..., as_slice(cols)]
    return stages.output(cells, v).to(call.v.dtype)


def up_to_weights(call, engine, name, part: Part, statistics) -> Tensor:
    """Scores, scaled, masked, or else weights."""
    if is_live(call):
        return by_formulas(call, name, part)
    batches, heads, rows, _ = part
    with torch.no_grad():
        if name in ("scores", "scaled", "masked"):
            return engine.cells(call, name, part, None)
        row_max, row_sum = (each[:, :, as_slice(rows)] for each in statistics(batches, heads))
        return engine.cells(call, "weights", part, (row_max, row_sum))


def by_formulas(call: Call, name: str, part: Part) -> Tensor:
    """The formulas one after the other, for gradients."""
    batches, heads, rows, cols = part

    def scaled(cols: range) -> Tensor:
        scores = stages.scores(*call.queries_and_keys((batches, heads, rows, cols)))
        if name == "scores":
            return scores
        bias = call.bias_of((batches, heads, rows, cols))
        return stages.scaled(scores, call.scale, call.softcap, bias)

    def masked(cols: range) -> Tensor:
        return stages.masked(scaled(cols), call.keep_of((batches, heads, rows, cols)))

    if name in ("scores", "scaled"):
        return scaled(cols)
    if name == "masked":
        return masked(cols)
    # Stored statistics are constants: through them the gradients would be silently off.
    whole_rows = masked(range(call.size[1]))
    return stages.weights(masked(cols), *stages.row_statistics(whole_rows, call.sinks_of(heads)))


def dead_rows(call: Call, row_max: Tensor, row_sum: Tensor) -> Tensor:
    """True for each row [B, H, L] that keeps nothing."""
    dead = (row_max == 0) & (row_sum == 1)
    if call.keep is None or call.sinks is not None:
        return torch.zeros_like(dead)
    L, S = call.size
    step = max(1, CELLS // S)
    for start in range(0, L, step):
        suspects = dead[..., start : start + step]
        if suspects.any():
            rows = range(start, min(start + step, L))
            suspects &= ~call.keep.tile(rows, range(S), (L, S), call.q.device).any(-1)
    return dead
