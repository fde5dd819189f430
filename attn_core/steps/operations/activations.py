"""What is done to each number by itself, or with the one in its place.

The gradient of a function's input is the slope of the function there, times that of its output.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attn_core.arithmetic import factor
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    Backward,
    Inputs,
    Made,
    Operation,
    Settings,
    Weights,
    check_one_shape,
)
from attn_core.steps.operations.lines import product_text


def back_by(
    slope: Callable[[Tensor], Tensor], slope_line: Callable[[Cell], Line], reads: str = "inputs"
) -> Backward:
    """The backward pass of a function of one number; slope: from its input or its output."""

    def formula(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
        gradient, x = inputs
        slopes = slope(x)
        return {"slope": slopes, "grad_input": gradient * slopes}

    def line(cell: Cell) -> Line:
        if cell.stage == "slope":
            return slope_line(cell)
        gradient, slope = cell.input(0, *cell.index), cell.at("slope", *cell.index)
        how = f"{product_text(gradient.value, slope.value)} = {written(cell.value)}"
        return Line(how, lambda: [gradient, slope])

    return Backward(formula, line, stages=("slope",), reads=(reads,))


def relu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """max(0, x)."""
    return {"output": inputs[0].clamp(min=0)}


def relu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"max(0, {written(x.value)}) = {written(cell.value)}", lambda: [x])


def relu_slope(x: Tensor) -> Tensor:
    """1 above 0, else 0."""
    return (x > 0).to(x)


def relu_slope_line(cell: Cell) -> Line:
    """1, because 0.31 is above 0."""
    x = cell.input(1, *cell.index)
    is_or_not = "is" if x.value > 0 else "is not"
    return Line(
        f"{written(cell.value)}, because {written(x.value)} {is_or_not} above 0", lambda: [x]
    )


def gelu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·Φ(x), where Φ is the share of a normal distribution below x."""
    return {"output": inputs[0] * torch.special.ndtr(inputs[0])}


def gelu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    how = f"{factor(x.value)} · Φ({written(x.value)}) = {written(cell.value)}"
    return Line(how, lambda: [x])


def gelu_slope(x: Tensor) -> Tensor:
    """Φ(x) + x·φ(x), where φ is the density of a normal distribution.

    >>> gelu_slope(torch.tensor([0.0, 1.0, -(2**0.5)]))
    tensor([ 0.5000,  1.0833, -0.1289])
    """
    density = (-x.square() / 2).exp() / math.sqrt(2 * math.pi)
    return torch.special.ndtr(x) + x * density


def gelu_slope_line(cell: Cell) -> Line:
    """Φ(1) + 1·φ(1) = 1.0833."""
    x = cell.input(1, *cell.index)
    number = written(x.value)
    how = f"Φ({number}) + {factor(x.value)}·φ({number}) = {written(cell.value)}"
    return Line(how, lambda: [x])


def tanh(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The hyperbolic tangent."""
    return {"output": inputs[0].tanh()}


def tanh_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"tanh({written(x.value)}) = {written(cell.value)}", lambda: [x])


def tanh_slope(y: Tensor) -> Tensor:
    """1 − tanh², from what tanh gave."""
    return 1 - y.square()


def tanh_slope_line(cell: Cell) -> Line:
    """1 - (0.7616)² = 0.4200."""
    y = cell.input(1, *cell.index)
    return Line(f"1 - ({written(y.value)})² = {written(cell.value)}", lambda: [y])


def silu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·σ(x) = x / (1 + exp(−x)), also called swish."""
    return {"output": inputs[0] * inputs[0].sigmoid()}


def silu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    how = f"{written(x.value)} / (1 + exp({written(-x.value)})) = {written(cell.value)}"
    return Line(how, lambda: [x])


def silu_slope(x: Tensor) -> Tensor:
    """σ(x)·(1 + x·(1 − σ(x))).

    >>> silu_slope(torch.tensor([0.0, math.log(3)]))
    tensor([0.5000, 0.9560])
    """
    share = x.sigmoid()
    return share * (1 + x * (1 - share))


def silu_slope_line(cell: Cell) -> Line:
    """σ(1) · (1 + 1·(1 - σ(1))) = 0.9277."""
    x = cell.input(1, *cell.index)
    share = f"σ({written(x.value)})"
    how = f"{share} · (1 + {factor(x.value)}·(1 - {share})) = {written(cell.value)}"
    return Line(how, lambda: [x])


def multiply(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·y, number by number."""
    x, y = inputs
    check_one_shape("multiply", x, y)
    return {"output": x * y}


def multiply_line(cell: Cell) -> Line:
    """0.824 · 4 = 3.296."""
    x, y = cell.input(0, *cell.index), cell.input(1, *cell.index)
    how = f"{written(x.value, y.value)} · {factor(y.value, x.value)} = {written(cell.value)}"
    return Line(how, lambda: [x, y])


def multiply_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """Each of the two gets the gradient times the other."""
    gradient, x, y = inputs
    return {"grad_x": gradient * y, "grad_y": gradient * x}


def multiply_backward_line(cell: Cell) -> Line:
    """0.31 · 4 = 1.24."""
    gradient = cell.input(0, *cell.index)
    other = cell.input(2 if cell.stage == "grad_x" else 1, *cell.index)
    how = f"{product_text(gradient.value, other.value)} = {written(cell.value)}"
    return Line(how, lambda: [gradient, other])


RELU = Operation(
    "relu", relu, relu_line, label="ReLU", backward=back_by(relu_slope, relu_slope_line)
)
GELU = Operation("gelu", gelu, gelu_line, backward=back_by(gelu_slope, gelu_slope_line))
TANH = Operation("tanh", tanh, tanh_line, backward=back_by(tanh_slope, tanh_slope_line, "output"))
SILU = Operation(
    "silu", silu, silu_line, label="SiLU", backward=back_by(silu_slope, silu_slope_line)
)
MULTIPLY = Operation(
    "multiply",
    multiply,
    multiply_line,
    takes=(2, 2),
    label="gate · up",
    backward=Backward(
        multiply_backward,
        multiply_backward_line,
        inputs=("grad_x", "grad_y"),
        reads=("inputs",),
    ),
)
