"""Rows that go on as they are: side by side, the last alone, one again and again."""

import torch

from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Inputs, Made, Operation, Settings, Weights
from attn_core.steps.operations.lines import passed_on


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


def last_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The last row alone."""
    return {"output": inputs[0][:, -1:]}


def last_row_line(cell: Cell) -> Line:
    rows = cell.run.value(cell.step.inputs[0]).shape[1]
    return passed_on(cell.input(0, rows - 1, cell.index[1]))


def repeat(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The one row of the first input, once for each row of the second."""
    row, wanted = inputs
    return {"output": row.expand(-1, wanted.shape[1], -1)}


def repeat_line(cell: Cell) -> Line:
    return passed_on(cell.input(0, 0, cell.index[1]))


CONCAT = Operation("concat", concat, concat_line, takes=(1, None), label="side by side")
LAST_ROW = Operation("last_row", last_row, last_row_line, label="c")
REPEAT = Operation("repeat", repeat, repeat_line, takes=(2, 2), label="c, again")
