"""What is done to each number by itself."""

import torch

from attn_core.arithmetic import factor
from attn_core.digits import written
from attn_core.steps.cells import Cell, Line
from attn_core.steps.operation import Inputs, Made, Operation, Settings, Weights


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


RELU = Operation("relu", relu, relu_line)
GELU = Operation("gelu", gelu, gelu_line)
TANH = Operation("tanh", tanh, tanh_line)
