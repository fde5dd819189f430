"""The gradients of what went into an attention: of q, k and v, what is added, and a source."""

import torch
from jaxtyping import Float
from torch import Tensor

from attn_core.engines.gradients import through_tiles, with_tensors
from attn_core.precision import upcast
from attn_core.source import Projection
from attn_core.traced import Traced


def of_tensors(
    record: Traced, grad_output: Float[Tensor, "B H L Dv"], output: Float[Tensor, "B H L Dv"]
) -> dict[str, Tensor]:
    """Those of q, k and v, and of the tensors of the bias and the sinks; float32 at least."""
    added = {name: upcast(x.detach()) for name, x in record.added().items()}
    q, k, v = (upcast(x.detach()) for x in (record.q, record.k, record.v))
    call = with_tensors(record.call_with(), list(added), q, k, v, *added.values())
    grads = through_tiles(call, grad_output, output, *record.row_statistics(*record.everywhere))
    return dict(zip(("q", "k", "v", *added), grads, strict=True))


def of_source(
    source: Projection,
    grad_q: Float[Tensor, "B H T D"],
    grad_k: Float[Tensor, "B Hkv T D"],
    grad_v: Float[Tensor, "B Hkv T Dv"],
) -> dict[str, Tensor]:
    """Those of x, of the matrices, and of the biases, from those of q, k and v."""
    lead = source.x.shape[:-1]
    q, k, v = (grad.transpose(1, 2).reshape(*lead, -1) for grad in (grad_q, grad_k, grad_v))
    rows = {"query": unrotated(q, source), "key": unrotated(k, source), "value": v}
    x = upcast(source.x.detach()).flatten(0, -2)
    grads = {"x": torch.zeros_like(source.x, dtype=x.dtype)}
    for role, grad in rows.items():
        flat = grad.flatten(0, -2)
        matrix = upcast(getattr(source, f"w_{role}").detach())
        grads[f"w_{role}"] = x.mT @ flat
        grads["x"] += grad @ matrix.mT
        if source.biases is not None:
            grads[f"bias_{role}"] = flat.sum(0)
    return grads


def unrotated(
    grad: Float[Tensor, "*B T nD"], source: Projection, batch: int | None = None
) -> Float[Tensor, "*B T nD"]:
    """The gradient before a rotary: rotated back, as the transpose of a rotation does.

    batch: whose rows these are, if not those of all sentences.
    """
    if source.rotary is None:
        return grad
    positions = source.positions if batch is None else source.positions_of(batch)
    if positions is None:
        positions = torch.arange(grad.shape[-2], device=grad.device)
    return source.rotary.rotate(grad, -positions.double())
