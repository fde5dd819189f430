"""Rows brought to one size."""

from collections.abc import Callable

from attn_core.arithmetic import difference, factor, listed
from attn_core.digits import written
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


def layer_norm(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each row to mean 0 and variance 1, then times a gain plus a bias."""
    [x] = inputs
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).square().mean(-1, keepdim=True)
    normed = (x - mean) / (variance + settings["eps"]).sqrt()
    output = x if settings["off"] else normed * weights["gain"] + weights["bias"]
    return {"mean": mean, "variance": variance, "normed": normed, "output": output}


def layer_norm_line(cell: Cell) -> Line:
    """Each stage has its line: (1.6554 + 0.3) / 2 = 0.9777."""
    row, column = cell.index
    if cell.stage == "output":
        return norm_output(cell)
    x = cell.input_row(0, row)
    mean, variance = cell.at("mean", row, 0), cell.at("variance", row, 0)
    if cell.stage == "mean":
        return Line(average_text(cell, x, factor), lambda: cell.shown_of_input(0, row))
    if cell.stage == "variance":
        how = average_text(cell, x, lambda number: f"({difference(number, mean.value)})²")
        return Line(how, lambda: [*cell.shown_of_input(0, row), mean])
    above = f"({difference(x[column], mean.value)})"
    how = f"{above} / {root_text(variance, cell)} = {written(cell.value)}"
    return Line(how, lambda: [cell.input(0, row, column), mean, variance])


def average_text(cell: Cell, x: list[float], write: Callable[[float], str]) -> str:
    """(1.6554 + 0.3) / 2 = 0.9777."""
    return f"({listed(x, write, ' + ')}) / {len(x)} = {written(cell.value)}"


def root_text(square: Cell, cell: Cell) -> str:
    """What a number is divided by; eps as it is, since rounded it would be nothing."""
    eps = str(cell.settings["eps"]).removesuffix(".0")
    return f"√({written(square.value)} + {eps})"


def norm_output(cell: Cell) -> Line:
    """0.8312 · 1.0441 + (-0.0312) = 0.8367."""
    row, column = cell.index
    if cell.is_off:
        return switched_off(cell.input(0, row, column), "norm is")
    normed = cell.at("normed", row, column)
    gain = cell.weights["gain"][column].item()
    how = f"{written(normed.value, gain)} · {factor(gain, normed.value)}"
    if "bias" in cell.weights:
        how += f" + {factor(cell.weights['bias'][column].item())}"
    return Line(f"{how} = {written(cell.value)}", lambda: [normed])


def rms_norm(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each row divided by the root of its mean square, then times a gain.

    Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4.
    """
    [x] = inputs
    mean_square = x.square().mean(-1, keepdim=True)
    normed = x / (mean_square + settings["eps"]).sqrt()
    output = x if settings["off"] else normed * weights["gain"]
    return {"mean_square": mean_square, "normed": normed, "output": output}


def rms_norm_line(cell: Cell) -> Line:
    """Each stage has its line: ((1.6554)² + (-0.3)²) / 2 = 1.4152."""
    row, column = cell.index
    if cell.stage == "output":
        return norm_output(cell)
    x = cell.input_row(0, row)
    if cell.stage == "mean_square":
        how = average_text(cell, x, lambda number: f"({written(number)})²")
        return Line(how, lambda: cell.shown_of_input(0, row))
    mean_square = cell.at("mean_square", row, 0)
    how = f"{factor(x[column])} / {root_text(mean_square, cell)} = {written(cell.value)}"
    return Line(how, lambda: [cell.input(0, row, column), mean_square])


LAYER_NORM = Operation(
    "layer_norm",
    layer_norm,
    layer_norm_line,
    stages=("mean", "variance", "normed", "output"),
    parameters={"gain": Parameter("E"), "bias": Parameter("E")},
    settings={"eps": Setting("number", least=0), "off": OFF},
    switches={"norms_off": {"off": True}},
    label="norm",
)
RMS_NORM = Operation(
    "rms_norm",
    rms_norm,
    rms_norm_line,
    stages=("mean_square", "normed", "output"),
    parameters={"gain": Parameter("E")},
    settings={"eps": Setting("number", least=0), "off": OFF},
    switches={"norms_off": {"off": True}},
    label="norm",
)
