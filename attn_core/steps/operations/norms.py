"""Rows brought to one size."""

from collections.abc import Callable

import torch

from attn_core.arithmetic import difference, factor, kept_terms, listed, sum_of_products
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
)
from attn_core.steps.operations.lines import (
    added,
    nothing,
    product_text,
    products,
    switched_off,
)


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


GRADIENT, NORMED, SQUARE = range(3)  # the inputs of a backward step


def layer_norm_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """(g − mean g − x̂·mean(g·x̂)) / √(variance + eps) of each row; g: the gradient of x̂.

    x̂ is the row with mean 0 and variance 1. Ba, Kiros and Hinton, "Layer Normalization" (2016).
    """
    return norm_backward(inputs, weights, settings, is_centred=True)


def rms_norm_backward(inputs: Inputs, weights: Weights, settings: Settings) -> Made:
    """(g − y·mean(g·y)) / √(mean square + eps) of each row; y before the gain, g its gradient."""
    return norm_backward(inputs, weights, settings, is_centred=False)


def norm_backward(inputs: Inputs, weights: Weights, settings: Settings, is_centred: bool) -> Made:
    gradient, normed, square = inputs
    arrived = torch.zeros_like(gradient) if settings["off"] else gradient
    grad_normed = arrived * weights["gain"]
    mean = grad_normed.mean(-1, keepdim=True)
    product = (grad_normed * normed).mean(-1, keepdim=True)
    above = grad_normed - normed * product
    if is_centred:
        above = above - mean
    return {
        "grad_normed": grad_normed,
        "mean_grad": mean,
        "mean_product": product,
        "grad_input": gradient if settings["off"] else above / (square + settings["eps"]).sqrt(),
        "grad_gain": (arrived * normed).sum(1),
        "grad_bias": arrived.sum(1),
    }


def norm_backward_line(cell: Cell) -> Line:
    """Each stage has its line: (0.31 - 0.12 - 1.2·0.05) / √(0.88 + 1e-05) = 0.1386."""
    if cell.is_off:
        if cell.stage == "grad_input":
            return switched_off(cell.input(GRADIENT, *cell.index), "norm is")
        return nothing("the norm is switched off")
    if cell.stage in ("grad_gain", "grad_bias"):
        return of_parameter(cell)
    row, column = cell.index
    if cell.stage == "grad_normed":
        gradient, gain = cell.input(GRADIENT, row, column), cell.weights["gain"][column].item()
        how = f"{product_text(gradient.value, gain)} = {written(cell.value)}"
        return Line(how, lambda: [gradient])
    if cell.stage in ("mean_grad", "mean_product"):
        return mean_of_row(cell, row)
    normed, square = cell.input(NORMED, row, column), cell.input(SQUARE, row, 0)
    grad, product = cell.at("grad_normed", row, column), cell.at("mean_product", row, 0)
    parts = [grad, normed, product, square]
    how = written(grad.value)
    if "mean_grad" in cell.step.arrays:
        mean = cell.at("mean_grad", row, 0)
        parts.insert(1, mean)
        how += f" - {factor(mean.value)}"
    how += f" - {sum_of_products([(normed.value, product.value)])}"
    how = f"({how}) / {root_text(square, cell)} = {written(cell.value)}"
    return Line(how, lambda: parts)


def of_parameter(cell: Cell) -> Line:
    """0.31·1.2 + (-0.2)·0.7 = 0.2320, a product for each row; of a bias the gradients alone."""
    [column] = cell.index
    gradients = cell.input_array(GRADIENT)[:, column]
    if cell.stage == "grad_bias":
        return added(cell, gradients, lambda row: cell.input(GRADIENT, row, column))
    return products(
        cell,
        gradients,
        cell.input_array(NORMED)[:, column],
        lambda row: [cell.input(GRADIENT, row, column), cell.input(NORMED, row, column)],
    )


def mean_of_row(cell: Cell, row: int) -> Line:
    """(0.31 + (-0.2)) / 2 = 0.0550, or of products with the normed row."""
    gradients = [cell.at("grad_normed", row, i) for i in range(cell.input_array(NORMED).shape[-1])]
    if cell.stage == "mean_grad":
        how = average_text(cell, [gradient.value for gradient in gradients], factor)
        return Line(how, lambda: [gradients[i] for i in kept_terms(len(gradients))])
    normed = cell.input_row(NORMED, row)
    pairs = [(gradient.value, x) for gradient, x in zip(gradients, normed, strict=True)]
    how = f"({sum_of_products(pairs)}) / {len(pairs)} = {written(cell.value)}"
    return Line(
        how,
        lambda: [
            part
            for i in kept_terms(len(pairs))
            for part in (gradients[i], cell.input(NORMED, row, i))
        ],
    )


LAYER_NORM = Operation(
    "layer_norm",
    layer_norm,
    layer_norm_line,
    stages=("mean", "variance", "normed", "output"),
    parameters={"gain": Parameter("E"), "bias": Parameter("E")},
    settings={"eps": Setting("number", least=0), "off": OFF},
    switches={"norms_off": {"off": True}},
    label="norm",
    backward=Backward(
        layer_norm_backward,
        norm_backward_line,
        stages=("grad_normed", "mean_grad", "mean_product"),
        reads=("normed", "variance"),
    ),
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
    backward=Backward(
        rms_norm_backward,
        norm_backward_line,
        stages=("grad_normed", "mean_product"),
        reads=("normed", "mean_square"),
    ),
)
