"""The gradient of a number with respect to weights, of which no map was kept."""

import math

import torch
from torch import Tensor

from attn_core import stages
from attn_core.call import Call, Part
from attn_core.checks import MOST_CELLS, check_tensor, shape_of
from attn_core.masks import as_slice
from attn_core.precision import upcast


def grad_weights(call: Call, grad_output: Tensor, part: Part) -> Tensor:
    """Some batches, heads, rows and columns of it, [B, H, rows, cols].

    output = dropped · V, so its gradient is grad_output · Vᵀ, where a weight was dropped 0.
    """
    check_grad_output(call, grad_output)
    check_part(tuple(map(len, part)))
    batches, heads, rows, cols = part
    with torch.no_grad():
        grad = grad_output.detach().reshape(*call.shape[:3], -1)
        grad = upcast(grad[as_slice(batches), as_slice(heads), as_slice(rows)])
        cells = grad @ call.of_heads("v", batches, heads, cols).to(grad.dtype).mT
        if call.dropout is None:
            return cells
        survives = call.dropout.survives(batches, heads, rows, cols, call.q.device)
        return stages.dropped(cells, survives, call.dropout.p)


def check_grad_output(call: Call, grad_output: Tensor) -> None:
    check_tensor("grad_output", grad_output)
    shape = (*call.lead, call.size[0], call.v.shape[-1])
    if grad_output.shape != shape:
        raise ValueError(
            f"grad_output must have the shape of output, {shape}, got {shape_of(grad_output)}"
        )
    if not grad_output.is_floating_point():
        raise TypeError(f"grad_output must be of floating point, got {grad_output.dtype}")
    if grad_output.device != call.q.device:
        raise ValueError(
            f"grad_output must be on q's device {call.q.device}, got {grad_output.device}"
        )


def check_part(shape: tuple[int, ...]) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"the gradient of the weights must have at most 2**26 cells, got {shape}: take a tile "
            "of one head, with fewer rows and cols"
        )
