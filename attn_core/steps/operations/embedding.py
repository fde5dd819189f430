"""Rows of tables: a word's own, that of its place, one for all."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_core.checks import check_length
from attn_core.digits import written
from attn_core.layers import sinusoids
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    OFF,
    Backward,
    Inputs,
    Made,
    Operation,
    Parameter,
    Setting,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import added, nothing, passed_on, products, switched_off
from attn_core.steps.operations.sums import sum_text


def embed(inputs: Sequence[Int[Tensor, "B T"]], weights: Weights, settings: Settings) -> Made:
    """The table's row of each word, times a number."""
    return {"output": weights["weight"][inputs[0]] * settings["times"]}


def embed_line(cell: Cell) -> Line:
    """0.2344 · 5.6569 = 1.3258."""
    row, column = cell.index
    word, times = cell.input(0, row), cell.settings["times"]
    how = written(cell.value)
    if times != 1:
        number = cell.weights["weight"][int(word.value), column].item()
        how = f"{written(number, times)} · {written(times, number)} = {how}"
    return Line(how, lambda: [word])


def embed_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The row of a word gets what came to each of its places; rows of other words get 0."""
    gradient, words = inputs
    table = gradient.new_zeros(len(gradient), *weights["weight"].shape)
    places = words[..., None].expand_as(gradient)
    return {"grad_weight": table.scatter_add(1, places, gradient * settings["times"])}


def embed_backward_line(cell: Cell) -> Line:
    """0.31·5.6569 + (-0.2)·5.6569 = 0.6223."""
    word, column = cell.index
    places = (cell.input_array(1) == word).nonzero()[:, 0].tolist()
    if not places:
        return nothing("the sentence does not have this word")
    gradients, times = cell.input_array(0)[places, column], cell.settings["times"]
    if times == 1:
        return added(cell, gradients, lambda n: cell.input(0, places[n], column))
    factors = torch.full_like(gradients, times)
    return products(cell, gradients, factors, lambda n: [cell.input(0, places[n], column)])


def add_positions(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x plus the row of its place: of a table, or sines and cosines."""
    [x] = inputs
    if settings["off"]:
        return {"output": x}
    T, E = x.shape[1:]
    return {"output": x + position_rows(T, E, weights, settings).to(x)}


def position_rows(T: int, E: int, weights: Weights, settings: Settings) -> Float[Tensor, "T E"]:
    if settings["kind"] == "sinusoids":
        return sinusoids(T, E)
    check_length(T, len(weights["table"]))
    return weights["table"][:T]


def add_positions_line(cell: Cell) -> Line:
    """1.3258 + 0.5403 = 1.8661."""
    row, column = cell.index
    x = cell.input(0, row, column)
    if cell.is_off:
        return switched_off(x, "positions are")
    place = position_rows(row + 1, cell.width, cell.weights, cell.settings)[row, column].item()
    return Line(sum_text(x.value, place, cell.value), lambda: [x])


def add_positions_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The gradient goes on as it is, and to the row of each place that is in the table."""
    [gradient] = inputs
    if "table" not in weights:
        return {"grad_input": gradient}
    table = gradient.new_zeros(len(gradient), *weights["table"].shape)
    if not settings["off"]:
        table[:, : gradient.shape[1]] = gradient
    return {"grad_input": gradient, "grad_table": table}


def add_positions_backward_line(cell: Cell) -> Line:
    row, column = cell.index
    if cell.stage == "grad_table":
        if cell.is_off:
            return nothing("the positions are switched off")
        if row >= len(cell.input_array(0)):
            return nothing("the sentence does not have this place")
    return passed_on(cell.input(0, row, column))


def add_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x plus the same row of a table, everywhere."""
    return {"output": inputs[0] + weights["table"][settings["row"]]}


def add_row_line(cell: Cell) -> Line:
    row, column = cell.index
    x = cell.input(0, row, column)
    added = cell.weights["table"][cell.settings["row"], column].item()
    return Line(sum_text(x.value, added, cell.value), lambda: [x])


def add_row_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The gradient goes on as it is; the row that was added everywhere gets the sum."""
    [gradient] = inputs
    table = gradient.new_zeros(len(gradient), *weights["table"].shape)
    table[:, settings["row"]] = gradient.sum(1)
    return {"grad_input": gradient, "grad_table": table}


def add_row_backward_line(cell: Cell) -> Line:
    row, column = cell.index
    if cell.stage == "grad_input":
        return passed_on(cell.input(0, row, column))
    if row != cell.settings["row"]:
        return nothing("another row is added")
    gradients = cell.input_array(0)[:, column]
    return added(cell, gradients, lambda place: cell.input(0, place, column))


EMBED = Operation(
    "embed",
    embed,
    embed_line,
    parameters={"weight": Parameter("E F")},
    settings={"times": Setting("number", default=1.0)},
    label="embedding",
    backward=Backward(embed_backward, embed_backward_line, inputs=(None,), reads=("inputs",)),
)
ADD_POSITIONS = Operation(
    "add_positions",
    add_positions,
    add_positions_line,
    parameters={"table": Parameter("N E", unless=("kind", "sinusoids"))},
    settings={
        "kind": Setting("choice", default="table", choices=("table", "sinusoids")),
        "off": OFF,
    },
    switches={"positions_off": {"off": True}},
    label="+ place",
    backward=Backward(add_positions_backward, add_positions_backward_line),
)
ADD_ROW = Operation(
    "add_row",
    add_row,
    add_row_line,
    parameters={"table": Parameter("N E")},
    settings={"row": Setting("whole", least=0)},
    backward=Backward(add_row_backward, add_row_backward_line),
)
