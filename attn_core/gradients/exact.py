"""One head of a backward pass in float64, by the formulas, some rows or one column at a time."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core import stages, stages_backward
from attn_core.masks import as_slice
from attn_core.traced import Traced

CELLS = 2**20  # of a map at a time
Statistics = tuple[Tensor, Tensor, Tensor]  # row_max, row_sum and row_dot of some rows


@dataclass(frozen=True, eq=False)
class Cells:
    """Some rows and columns of the stages from which a line of arithmetic is written."""

    scores: Float[Tensor, "rows cols"]
    keep: Bool[Tensor, "rows cols"] | None
    weights: Float[Tensor, "rows cols"]
    survives: Bool[Tensor, "rows cols"] | None
    dropped: Float[Tensor, "rows cols"]
    grad_dropped: Float[Tensor, "rows cols"]
    grad_weights: Float[Tensor, "rows cols"]
    grad_masked: Float[Tensor, "rows cols"]
    grad_scaled: Float[Tensor, "rows cols"]
    grad_scores: Float[Tensor, "rows cols"]

    def known(self) -> dict[str, Tensor]:
        """All that there are, by name: without a mask no keep, without dropout no survives."""
        return {name: cells for name, cells in vars(self).items() if cells is not None}


class ExactHead:
    """The numbers of one head, from the stored q, k, v and grad_output."""

    def __init__(
        self, record: Traced, grad_output: Float[Tensor, "B H L Dv"], batch: int, head: int
    ) -> None:
        self.record, self.batch, self.head = record, batch, head
        self.key_head = head // record.group
        self.q = record.q[batch, head].detach().double()
        self.k = record.k[batch, self.key_head].detach().double()
        self.v = record.v[batch, self.key_head].detach().double()
        self.grad_output = grad_output[batch, head].detach().double()
        self.L, self.S = record.size
        self.p = 0.0 if record.dropout is None else record.dropout.p

    def masked(self, rows: range, cols: range) -> tuple[Tensor, Tensor, Tensor | None]:
        """Scores, masked scores, and the mask."""
        record = self.record
        part = self._part(rows, cols)
        scores = stages.scores(self.q[as_slice(rows)], self.k[as_slice(cols)])
        shape = scores.shape
        bias, keep = record.bias_of(part, torch.float64), record.keep_of(part)
        bias = None if bias is None else bias.detach().expand(1, 1, *shape)[0, 0]
        keep = None if keep is None else keep.expand(1, 1, *shape)[0, 0]
        scaled = stages.scaled(scores, record.scale, record.softcap, bias)
        return scores, stages.masked(scaled, keep), keep

    def statistics_of(self, rows: range) -> Statistics:
        """row_max, row_sum and row_dot of some rows, from all of their cells."""
        sinks = self.record.sinks
        sink = None if sinks is None else sinks[self.head : self.head + 1].detach().double()
        cols = range(self.S)
        masked = self.masked(rows, cols)[1]
        row_max, row_sum = stages.row_statistics(masked, sink)
        weights = stages.weights(masked, row_max, row_sum)
        dropped = stages.dropped(weights, self._survives(rows, cols), self.p)
        output = stages.output(dropped, self.v)
        return row_max, row_sum, stages_backward.row_dot(self.grad_output[as_slice(rows)], output)

    def cells(self, rows: range, cols: range, statistics: Statistics) -> Cells:
        """Any part of the map; statistics: those of its rows."""
        scale, cap = self.record.scale, self.record.softcap
        scores, masked, keep = self.masked(rows, cols)
        row_max, row_sum, row_dot = statistics
        weights = stages.weights(masked, row_max, row_sum)
        survives = self._survives(rows, cols)
        dropped = stages.dropped(weights, survives, self.p)
        grad_dropped = stages_backward.grad_dropped(
            self.grad_output[as_slice(rows)], self.v[as_slice(cols)]
        )
        grad_weights = stages_backward.grad_weights(grad_dropped, survives, self.p)
        grad_masked = stages_backward.grad_masked(weights, grad_weights, row_dot)
        grad_scaled = stages_backward.grad_scaled(grad_masked, keep)
        slope = None if cap is None else stages_backward.slope(scores, scale, cap)
        grad_scores = stages_backward.grad_scores(grad_scaled, scale, slope)
        forward = scores, keep, weights, survives, dropped
        return Cells(*forward, grad_dropped, grad_weights, grad_masked, grad_scaled, grad_scores)

    def row(self, i: int) -> tuple[Cells, float]:
        """All cells of one row, and its row_dot."""
        rows = range(i, i + 1)
        statistics = self.statistics_of(rows)
        return self.cells(rows, range(self.S), statistics), statistics[2].item()

    def column(self, j: int) -> Cells:
        """All cells of one key."""
        return self.cells(range(self.L), range(j, j + 1), self.statistics)

    @cached_property
    def statistics(self) -> Statistics:
        """Those of all rows."""
        parts = [self.statistics_of(rows) for rows in self._strips]
        row_max, row_sum, row_dot = (torch.cat(each) for each in zip(*parts, strict=True))
        return row_max, row_sum, row_dot

    @cached_property
    def of_inputs(self) -> dict[str, Float[Tensor, "T D"]]:
        """grad_q, and what this head adds to grad_k and grad_v."""
        grads = {name: torch.zeros_like(getattr(self, name)) for name in "qkv"}
        for rows in self._strips:
            place = as_slice(rows)
            row_max, row_sum, row_dot = (each[place] for each in self.statistics)
            cells = self.cells(rows, range(self.S), (row_max, row_sum, row_dot))
            grads["q"][place] = stages_backward.grad_q(cells.grad_scores, self.k)
            grads["k"] += stages_backward.grad_k(cells.grad_scores, self.q[place])
            grads["v"] += stages_backward.grad_v(cells.dropped, self.grad_output[place])
        return grads

    @property
    def _strips(self) -> list[range]:
        step = max(1, CELLS // self.S)
        return [range(self.L)[first : first + step] for first in range(0, self.L, step)]

    def _part(self, rows: range, cols: range) -> tuple[range, range, range, range]:
        return range(self.batch, self.batch + 1), range(self.head, self.head + 1), rows, cols

    def _survives(self, rows: range, cols: range) -> Tensor | None:
        dropout = self.record.dropout
        if dropout is None:
            return None
        return dropout.survives(*self._part(rows, cols), self.q.device)[0, 0]
