"""What a backward pass needs beside the backward operations: its start, and its sums."""

from functools import reduce

import torch
from torch import Tensor

from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Inputs, Made, Operation, Setting, Settings, Weights
from attn_core.steps.operations.lines import added, nothing, values

NOT_TWICE = "gradients of gradients are not computed"


def itself(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The gradient of one number of a step with respect to all numbers of the step."""
    gradient = torch.zeros_like(inputs[0])
    gradient[(settings["batch"], *settings["index"])] = 1.0
    return {"output": gradient}


def itself_line(cell: Cell) -> Line:
    if (cell.batch, *cell.index) == (cell.settings["batch"], *cell.settings["index"]):
        return Line("1, because this is the number itself")
    return nothing("this is another number")


def add_up(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The sum of all inputs: a number that is used more than once gets each use's gradient."""
    return {"output": reduce(Tensor.add, inputs)}


def add_up_line(cell: Cell) -> Line:
    """0.31 + (-0.2) = 0.11."""
    parts = [cell.input(n, *cell.index) for n in range(len(cell.step.inputs))]
    return added(cell, values(parts), parts.__getitem__)


def add_up_sentences(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The sum of all inputs over all sentences: each sentence uses the same weights."""
    return {"output": add_up(inputs, weights, settings)["output"].sum(0, keepdim=True)}


def add_up_sentences_line(cell: Cell) -> Line:
    parts = [
        part
        for n in range(len(cell.step.inputs))
        for part in cell.input(n, *cell.index).in_each_sentence()
    ]
    return added(cell, values(parts), parts.__getitem__)


ITSELF = Operation(
    "itself",
    itself,
    itself_line,
    settings={"index": Setting("index"), "batch": Setting("whole", default=0, least=0)},
    is_on_page=False,
    backward=NOT_TWICE,
)
SUM = Operation("sum", add_up, add_up_line, takes=(1, None), is_on_page=False, backward=NOT_TWICE)
SUM_OF_SENTENCES = Operation(
    "sum_of_sentences",
    add_up_sentences,
    add_up_sentences_line,
    takes=(1, None),
    is_on_page=False,
    backward=NOT_TWICE,
)
