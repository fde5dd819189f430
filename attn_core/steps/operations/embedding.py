"""Rows of tables: a word's own, that of its place, one for all."""

from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor

from attn_core.checks import check_length
from attn_core.digits import written
from attn_core.layers import sinusoids
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    OFF,
    Inputs,
    Made,
    Operation,
    Parameter,
    Setting,
    Settings,
    Weights,
)
from attn_core.steps.operations.lines import switched_off
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


def add_row(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x plus the same row of a table, everywhere."""
    return {"output": inputs[0] + weights["table"][settings["row"]]}


def add_row_line(cell: Cell) -> Line:
    row, column = cell.index
    x = cell.input(0, row, column)
    added = cell.weights["table"][cell.settings["row"], column].item()
    return Line(sum_text(x.value, added, cell.value), lambda: [x])


EMBED = Operation(
    "embed",
    embed,
    embed_line,
    parameters={"weight": Parameter("E F")},
    settings={"times": Setting("number", default=1.0)},
    label="embedding",
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
)
ADD_ROW = Operation(
    "add_row",
    add_row,
    add_row_line,
    parameters={"table": Parameter("N E")},
    settings={"row": Setting("whole", least=0)},
)
