"""Sums: of two rows, and of a row's products with a matrix."""

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.arithmetic import factor, numbers, sum_of_products
from attn_core.digits import written
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
    check_one_shape,
)
from attn_core.steps.operations.lines import added, nothing, passed_on, products, switched_off


def add(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x + y; with x switched off y alone."""
    x, y = inputs
    check_one_shape("add", x, y)
    return {"output": y if settings["off"] else x + y}


def add_line(cell: Cell) -> Line:
    """1.8661 + (-0.2107) = 1.6554."""
    x, y = cell.input(0, *cell.index), cell.input(1, *cell.index)
    if cell.is_off:
        return switched_off(y, "residual is")
    return Line(sum_text(x.value, y.value, cell.value), lambda: [x, y])


def sum_text(x: float, y: float, value: float) -> str:
    return f"{written(x)} + {factor(y)} = {written(value)}"


def add_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The gradient goes on to both; with x switched off to y alone."""
    [gradient] = inputs
    return {
        "grad_x": torch.zeros_like(gradient) if settings["off"] else gradient,
        "grad_y": gradient,
    }


def add_backward_line(cell: Cell) -> Line:
    if cell.is_off and cell.stage == "grad_x":
        return nothing("the residual is switched off")
    return passed_on(cell.input(0, *cell.index))


def linear(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each row times a matrix, plus a bias."""
    return {"output": affine(inputs[0], matrix(weights, settings), weights.get("bias"))}


def matrix(weights: Weights, settings: Settings) -> Float[Tensor, "F E"]:
    """A row for each number that is made, as torch keeps it."""
    weight = weights["weight"]
    return weight.mT if settings["transposed"] else weight


def affine(x: Tensor, weight: Float[Tensor, "F E"], bias: Float[Tensor, "F"] | None) -> Tensor:
    made = x @ weight.mT
    return made if bias is None else made + bias


def linear_line(cell: Cell) -> Line:
    """1.8661·0.12 + 0.5403·(-0.3) + 0.01 = 0.0719."""
    row, column = cell.index
    weight, bias = matrix(cell.weights, cell.settings)[column], cell.weights.get("bias")
    how = affine_text(cell.input_row(0, row), weight, None if bias is None else bias[column])
    return Line(f"{how} = {written(cell.value)}", lambda: cell.shown_of_input(0, row))


def affine_text(x: list[float], weight: Tensor, bias: Tensor | None) -> str:
    """A row times a row of a matrix, plus a number."""
    products = sum_of_products(list(zip(x, numbers(weight), strict=True)))
    return products if bias is None else f"{products} + {factor(bias.item())}"


def linear_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Back through the same matrix; each of its numbers gets its products, summed over the rows."""
    gradient, x = inputs
    grad_weight = gradient.mT @ x
    return {
        "grad_input": gradient @ matrix(weights, settings),
        "grad_weight": grad_weight.mT if settings["transposed"] else grad_weight,
        "grad_bias": gradient.sum(1),
    }


def linear_backward_line(cell: Cell) -> Line:
    """0.31·0.12 + (-0.2)·0.5 = -0.0628."""
    gradient, x = cell.input_array(0), cell.input_array(1)
    if cell.stage == "grad_input":
        row, column = cell.index
        weight = matrix(cell.weights, cell.settings)[:, column]
        return products(cell, gradient[row], weight, lambda made: [cell.input(0, row, made)])
    if cell.stage == "grad_bias":
        [made] = cell.index
        return added(cell, gradient[:, made], lambda row: cell.input(0, row, made))
    made, taken = reversed(cell.index) if cell.settings["transposed"] else cell.index
    return products(
        cell,
        gradient[:, made],
        x[:, taken],
        lambda row: [cell.input(0, row, made), cell.input(1, row, taken)],
    )


ADD = Operation(
    "add",
    add,
    add_line,
    takes=(2, 2),
    settings={"off": OFF},
    switches={"residuals_off": {"off": True}},
    label="+ x",
    backward=Backward(add_backward, add_backward_line, inputs=("grad_x", "grad_y")),
)
LINEAR = Operation(
    "linear",
    linear,
    linear_line,
    parameters={
        "weight": Parameter("F E", turned_by="transposed"),
        "bias": Parameter("F", is_optional=True),
    },
    settings={"transposed": Setting("flag", default=False)},
    backward=Backward(linear_backward, linear_backward_line, reads=("inputs",)),
)
