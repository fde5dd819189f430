"""The line of each operation but attention and GRU: how a number of it is written out."""

import torch
from torch import Tensor

from attn_core.arithmetic import (
    difference,
    exponentials_text,
    factor,
    kept_terms,
    largest_text,
    listed,
    numbers,
    share_text,
    sum_of_products,
)
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operations import matrix, position_rows


def words(cell: Cell) -> Line:
    """chases (17)."""
    vocabulary, word = cell.run.steps.words.get(cell.step.name), int(cell.value)
    return Line(str(word) if vocabulary is None else f"{vocabulary[word]} ({word})")


def given(cell: Cell) -> Line:
    return Line(written(cell.value))


def embed(cell: Cell) -> Line:
    """0.2344 · 5.6569 = 1.3258."""
    row, column = cell.index
    word, times = cell.input(0, row), cell.settings["times"]
    how = written(cell.value)
    if times != 1:
        number = cell.weights["weight"][int(word.value), column].item()
        how = f"{written(number, times)} · {written(times, number)} = {how}"
    return Line(how, lambda: [word])


def add_positions(cell: Cell) -> Line:
    """1.3258 + 0.5403 = 1.8661."""
    row, column = cell.index
    x = cell.input(0, row, column)
    if cell.is_off:
        return Line(f"{written(x.value)}, because the positions are switched off", lambda: [x])
    width = cell.run.value(cell.step.name).shape[-1]
    place = position_rows(row + 1, width, cell.weights, cell.settings)[row, column].item()
    return Line(sum_text(x.value, place, cell.value), lambda: [x])


def add_row(cell: Cell) -> Line:
    row, column = cell.index
    x = cell.input(0, row, column)
    added = cell.weights["table"][cell.settings["row"], column].item()
    return Line(sum_text(x.value, added, cell.value), lambda: [x])


def add(cell: Cell) -> Line:
    """1.8661 + (-0.2107) = 1.6554."""
    x, y = cell.input(0, *cell.index), cell.input(1, *cell.index)
    if cell.is_off:
        return Line(f"{written(y.value)}, because the residual is switched off", lambda: [y])
    return Line(sum_text(x.value, y.value, cell.value), lambda: [x, y])


def sum_text(x: float, y: float, value: float) -> str:
    return f"{written(x)} + {factor(y)} = {written(value)}"


def linear(cell: Cell) -> Line:
    """1.8661·0.12 + 0.5403·(-0.3) + 0.01 = 0.0719."""
    row, column = cell.index
    weight, bias = matrix(cell.weights, cell.settings)[column], cell.weights.get("bias")
    how = affine_text(cell.input_row(0, row), weight, None if bias is None else bias[column])
    return Line(f"{how} = {written(cell.value)}", lambda: cell.shown_of_input(0, row))


def affine_text(x: list[float], weight: Tensor, bias: Tensor | None) -> str:
    """A row times a row of a matrix, plus a number."""
    products = sum_of_products(list(zip(x, numbers(weight), strict=True)))
    return products if bias is None else f"{products} + {factor(bias.item())}"


def layer_norm(cell: Cell) -> Line:
    """Each stage has its line: (1.6554 + 0.3) / 2 = 0.9777."""
    row, column = cell.index
    if cell.stage == "output":
        return norm_output(cell)
    x = cell.input_row(0, row)
    mean, variance = cell.at("mean", row, 0), cell.at("variance", row, 0)
    value = written(cell.value)
    if cell.stage == "mean":
        how = f"({listed(x, factor, ' + ')}) / {len(x)} = {value}"
        return Line(how, lambda: cell.shown_of_input(0, row))
    if cell.stage == "variance":
        squares = listed(x, lambda number: f"({difference(number, mean.value)})²", " + ")
        how = f"({squares}) / {len(x)} = {value}"
        return Line(how, lambda: [*cell.shown_of_input(0, row), mean])
    # eps as it is: rounded it would be nothing.
    spread = f"√({written(variance.value)} + {cell.settings['eps']})"
    how = f"({difference(x[column], mean.value)}) / {spread} = {value}"
    return Line(how, lambda: [cell.input(0, row, column), mean, variance])


def norm_output(cell: Cell) -> Line:
    """0.8312 · 1.0441 + (-0.0312) = 0.8367."""
    row, column = cell.index
    if cell.is_off:
        x = cell.input(0, row, column)
        return Line(f"{written(x.value)}, because the norm is switched off", lambda: [x])
    normed = cell.at("normed", row, column)
    gain, bias = (cell.weights[role][column].item() for role in ("gain", "bias"))
    product = f"{written(normed.value, gain)} · {factor(gain, normed.value)}"
    return Line(f"{product} + {factor(bias)} = {written(cell.value)}", lambda: [normed])


def relu(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"max(0, {written(x.value)}) = {written(cell.value)}", lambda: [x])


def gelu(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    how = f"{factor(x.value)} · Φ({written(x.value)}) = {written(cell.value)}"
    return Line(how, lambda: [x])


def tanh(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"tanh({written(x.value)}) = {written(cell.value)}", lambda: [x])


def softmax(cell: Cell) -> Line:
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


def concat(cell: Cell) -> Line:
    row, column = cell.index
    for n in range(len(cell.step.inputs)):
        width = len(cell.input_row(n, row))
        if column < width:
            break
        column -= width
    return same(cell, cell.input(n, row, column))


def last_row(cell: Cell) -> Line:
    rows = cell.run.value(cell.step.inputs[0]).shape[1]
    return same(cell, cell.input(0, rows - 1, cell.index[1]))


def repeat(cell: Cell) -> Line:
    return same(cell, cell.input(0, 0, cell.index[1]))


def same(cell: Cell, other: Cell) -> Line:
    return Line(written(cell.value), lambda: [other])
