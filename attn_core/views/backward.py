"""The way back in an explorer: its stages, and what a page gets of it."""

from torch import Tensor

from attn_core.gradients.cells import STAGES as MAPS
from attn_core.record import AttentionTrace
from attn_core.views.compact import stored
from attn_core.views.given import GivenWeights, Numbers
from attn_core.views.payload import array

OF_INPUTS = ("grad_q", "grad_k", "grad_v")
STAGES = (*MAPS, *OF_INPUTS)


def sizes_of(record: Numbers, stage: str) -> tuple[int, int]:
    """The rows and the columns of one head of a stage, forward or back."""
    if isinstance(record, AttentionTrace) and stage in OF_INPUTS:
        rows, columns = getattr(record, stage.removeprefix("grad_")).shape[2:]
        return rows, columns
    return record.shape[2], record.columns(stage)


def grad_output_of(record: Numbers, grad_output: Tensor, store: str | None, others: bool) -> dict:
    """The gradient of the output as it is sent, checked.

    others: whether mistakes or a second run are shown, whose way back would be another one.
    """
    if isinstance(record, GivenWeights):
        raise ValueError(
            "grad_output must be left out where there are only weights, since no q, k and v came "
            "with them"
        )
    if others:
        raise ValueError("grad_output must be left out beside mistakes and other, got one")
    sent = record.gradients(grad_output).grad_output_4d
    return array(stored(sent, "grad_output", store))
