"""Rows that go on as they are: side by side, the last alone, one again and again."""

import torch

from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Backward, Inputs, Made, Operation, Settings, Weights
from attn_core.steps.operations.lines import added, nothing, passed_on


def concat(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The inputs side by side."""
    return {"output": torch.cat(list(inputs), dim=-1)}


def concat_line(cell: Cell) -> Line:
    row, column = cell.index
    for n in range(len(cell.step.inputs)):
        width = len(cell.input_row(n, row))
        if column < width:
            break
        column -= width
    return passed_on(cell.input(n, row, column))


def concat_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each input gets its columns of the gradient."""
    gradient, *beside = inputs
    parts = gradient.split([x.shape[-1] for x in beside], dim=-1)
    return {f"grad_input_{n}": part for n, part in enumerate(parts)}


def concat_backward_line(cell: Cell) -> Line:
    row, column = cell.index
    n = int(cell.stage.rpartition("_")[2])
    before = sum(cell.input_array(i).shape[-1] for i in range(1, 1 + n))
    return passed_on(cell.input(0, row, before + column))


def last_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The last row alone."""
    return {"output": inputs[0][:, -1:]}


def last_row_line(cell: Cell) -> Line:
    rows = cell.run.value(cell.step.inputs[0]).shape[1]
    return passed_on(cell.input(0, rows - 1, cell.index[1]))


def last_row_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The last row gets the gradient, the others 0."""
    gradient, rows = inputs
    before = torch.zeros_like(rows[:, :-1])
    return {"grad_input": torch.cat([before, gradient], dim=1)}


def last_row_backward_line(cell: Cell) -> Line:
    row, column = cell.index
    if row < len(cell.input_array(1)) - 1:
        return nothing("the last row alone goes on")
    return passed_on(cell.input(0, 0, column))


def repeat(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The one row of the first input, once for each row of the second."""
    row, wanted = inputs
    return {"output": row.expand(-1, wanted.shape[1], -1)}


def repeat_line(cell: Cell) -> Line:
    return passed_on(cell.input(0, 0, cell.index[1]))


def repeat_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The one row gets the sum of what came to all its copies."""
    return {"grad_input": inputs[0].sum(1, keepdim=True)}


def repeat_backward_line(cell: Cell) -> Line:
    """0.31 + (-0.2) = 0.11."""
    column = cell.index[1]
    copies = cell.input_array(0)[:, column]
    return added(cell, copies, lambda row: cell.input(0, row, column))


CONCAT = Operation(
    "concat",
    concat,
    concat_line,
    takes=(1, None),
    label="side by side",
    backward=Backward(concat_backward, concat_backward_line, reads=("inputs",)),
)
LAST_ROW = Operation(
    "last_row",
    last_row,
    last_row_line,
    label="c",
    backward=Backward(last_row_backward, last_row_backward_line, reads=("inputs",)),
)
REPEAT = Operation(
    "repeat",
    repeat,
    repeat_line,
    takes=(2, 2),
    label="c, again",
    backward=Backward(repeat_backward, repeat_backward_line, inputs=("grad_input", None)),
)
