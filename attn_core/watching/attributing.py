"""Weights times their gradient, for every attention that a number depends on."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.checks import shape_of
from attn_core.watching.captured import Captured


def attributions(captured: Sequence[Captured], number: Tensor) -> list[Tensor]:
    """For each attention [*lead, L, S]; 0 where the number does not depend on it."""
    check_number(number)
    outputs = [one.output for one in captured]
    if not outputs or any(output is None for output in outputs):
        raise RuntimeError(
            "seen must have been recorded with gradients, got an attention without: run the model "
            "inside watch without torch.no_grad()"
        )
    dropping = [one.path for one in captured if one.p]
    if dropping:
        raise RuntimeError(
            f"seen must have been recorded without dropout, got {dropping[0]!r} with it: call "
            "model.eval() before"
        )
    heard = [output for output in outputs if output is not None]
    grads = torch.autograd.grad(
        number, [tensor for tensor, _ in heard], retain_graph=True, allow_unused=True
    )
    found = []
    for one, (tensor, arrange), grad in zip(captured, heard, grads, strict=True):
        grad = torch.zeros_like(tensor) if grad is None else grad
        record = one.record
        found.append(record.attribution(arrange(grad).reshape(record.output.shape)))
    return found


def check_number(number: Tensor) -> None:
    if not isinstance(number, Tensor):
        raise TypeError(f"number must be a torch tensor, got {type(number).__name__}")
    if number.numel() != 1:
        raise ValueError(f"number must be one number, got {shape_of(number)}: choose one, as of a "
                         "logit, or add them up")  # fmt: skip
    if not number.requires_grad:
        raise RuntimeError(
            "number must have a gradient, got none: compute it from the model's output inside "
            "watch, without torch.no_grad()"
        )
