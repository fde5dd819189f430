"""Any part of any stage of a backward pass: what `derive` is for the forward pass."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from attn_core import stages_backward
from attn_core.call import Part
from attn_core.masks import as_slice
from attn_core.traced import Traced

STAGES = (
    "grad_output", "grad_dropped", "grad_weights", "grad_masked", "grad_scaled", "grad_scores"
)  # fmt: skip
BEHIND_SOFTMAX = STAGES[3:]  # 0 where a weight is


def part_of_stage(
    record: Traced,
    name: str,
    part: Part,
    grad_output: Float[Tensor, "B H L Dv"],
    row_dot: Callable[[], Float[Tensor, "B H L"]],
) -> Float[Tensor, "b h rows cols"]:
    """Some batches, heads, rows and columns; row_dot() is asked from the softmax on."""
    batches, heads, rows, cols = part
    place = as_slice(batches), as_slice(heads), as_slice(rows)
    grad = grad_output[place]
    if name == "grad_output":
        return grad[..., as_slice(cols)].clone()
    cells = stages_backward.grad_dropped(grad, record.of_heads("v", batches, heads, cols))
    if name == "grad_dropped":
        return cells
    if record.dropout is not None:
        survives = record.dropout.survives(*part, cells.device)
        cells = stages_backward.grad_weights(cells, survives, record.dropout.p)
    if name == "grad_weights":
        return cells
    weights = record.derive("weights", part)
    cells = stages_backward.grad_masked(weights, cells, row_dot()[place])
    if name == "grad_masked":
        return cells
    cells = stages_backward.grad_scaled(cells, record.keep_of(part))
    if name == "grad_scaled":
        return cells
    slope = None
    if record.softcap is not None:
        scores = record.derive("scores", part)
        slope = stages_backward.slope(scores, record.scale, record.softcap)
    return stages_backward.grad_scores(cells, record.scale, slope)
