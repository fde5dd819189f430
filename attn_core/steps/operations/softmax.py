"""A row as shares of 1."""

import torch

from attn_core.arithmetic import (
    exponentials_text,
    kept_terms,
    largest_text,
    numbers,
    share_text,
)
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import STATISTICS, Inputs, Made, Operation, Settings, Weights


def softmax(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """exp(x − max)/Σ of each row."""
    [x] = inputs
    row_max = x.amax(-1)
    exps = (x - row_max[..., None]).exp()
    row_sum = exps.sum(-1)
    return {"row_max": row_max, "row_sum": row_sum, "output": exps / row_sum[..., None]}


def softmax_line(cell: Cell) -> Line:
    """exp(1.2 - 3.4) / 1.5 = 0.0739, and the two numbers of its row."""
    row = cell.index[0]
    x = cell.input_row(0, row)
    shown = [cell.input(0, row, i) for i in kept_terms(len(x))]
    row_max, row_sum = cell.at("row_max", row), cell.at("row_sum", row)
    if cell.stage == "row_max":
        return Line(largest_text(x, cell.value), lambda: shown)
    if cell.stage == "row_sum":
        exps = numbers((torch.tensor(x, dtype=torch.float64) - row_max.value).exp())
        how = exponentials_text(x, row_max.value, exps, cell.value)
        return Line(how, lambda: [*shown, row_max])
    column = cell.index[1]
    how = share_text(x[column], row_max.value, row_sum.value, cell.value)
    return Line(how, lambda: [cell.input(0, row, column), row_max, row_sum])


SOFTMAX = Operation("softmax", softmax, softmax_line, statistics=STATISTICS, label="chances")
