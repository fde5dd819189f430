"""A row as shares of 1."""

import torch

from attn_core import stages_backward
from attn_core.arithmetic import (
    above_average_text,
    exponentials_text,
    kept_terms,
    largest_text,
    numbers,
    seen_keys,
    share_text,
)
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    STATISTICS,
    Backward,
    Inputs,
    Made,
    Operation,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import products


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
    seen = seen_keys(x)
    shown = [cell.input(0, row, seen[n]) for n in kept_terms(len(seen))]
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


def softmax_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each share times how far its gradient is above the row's average, Σ share·gradient."""
    gradient, shares = inputs
    row_dot = stages_backward.row_dot(gradient, shares)
    grad_input = stages_backward.grad_masked(shares, gradient, row_dot)
    return {"row_dot": row_dot, "grad_input": grad_input}


def softmax_backward_line(cell: Cell) -> Line:
    """0.25 · (0.31 - 0.12) = 0.0475, and the average of its row."""
    row = cell.index[0]
    if cell.stage == "row_dot":
        gradients, shares = cell.input_array(0)[row], cell.input_array(1)[row]
        return products(
            cell, shares, gradients, lambda i: [cell.input(1, row, i), cell.input(0, row, i)]
        )
    gradient, share = cell.input(0, *cell.index), cell.input(1, *cell.index)
    row_dot = cell.at("row_dot", row)
    how = above_average_text(share.value, gradient.value, row_dot.value)
    return Line(f"{how} = {written(cell.value)}", lambda: [share, gradient, row_dot])


SOFTMAX = Operation(
    "softmax",
    softmax,
    softmax_line,
    statistics=STATISTICS,
    label="chances",
    backward=Backward(
        softmax_backward, softmax_backward_line, statistics=("row_dot",), reads=("output",)
    ),
)
