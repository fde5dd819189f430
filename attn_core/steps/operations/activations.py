"""What is done to each number by itself, or with the one in its place."""

import torch

from attn_core.arithmetic import factor
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import (
    Inputs,
    Made,
    Operation,
    Settings,
    Weights,
    check_one_shape,
)


def relu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """max(0, x)."""
    return {"output": inputs[0].clamp(min=0)}


def relu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"max(0, {written(x.value)}) = {written(cell.value)}", lambda: [x])


def gelu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·Φ(x), where Φ is the share of a normal distribution below x."""
    return {"output": inputs[0] * torch.special.ndtr(inputs[0])}


def gelu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    how = f"{factor(x.value)} · Φ({written(x.value)}) = {written(cell.value)}"
    return Line(how, lambda: [x])


def tanh(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """The hyperbolic tangent."""
    return {"output": inputs[0].tanh()}


def tanh_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    return Line(f"tanh({written(x.value)}) = {written(cell.value)}", lambda: [x])


def silu(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """x·σ(x) = x / (1 + exp(−x)), also called swish."""
    return {"output": inputs[0] * inputs[0].sigmoid()}


def silu_line(cell: Cell) -> Line:
    x = cell.input(0, *cell.index)
    how = f"{written(x.value)} / (1 + exp({written(-x.value)})) = {written(cell.value)}"
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


RELU = Operation("relu", relu, relu_line, label="ReLU")
GELU = Operation("gelu", gelu, gelu_line)
TANH = Operation("tanh", tanh, tanh_line)
SILU = Operation("silu", silu, silu_line, label="SiLU")
MULTIPLY = Operation("multiply", multiply, multiply_line, takes=(2, 2), label="gate · up")
