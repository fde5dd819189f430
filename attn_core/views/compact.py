"""What is sent of a long record or of many heads: shorter numbers, one head's v, an overview."""

import base64
from itertools import product

import torch
from torch import Tensor

from attn_core import stages
from attn_core.bias import Part
from attn_core.call import Call
from attn_core.record import AttentionTrace

STORES = {"float32": torch.float32, "float16": torch.float16}
MOST_WHOLE = 512  # longer maps are sent with an overview, and with the values of one head
MOST_HEADS = 12  # of more heads only the values of the chosen one are sent, and no overview
OVERVIEW = 96
MOST_CELLS = 2**19  # of a map at a time, so that they stay near the processor


def stored(tensor: Tensor, name: str, store: str | None) -> Tensor:
    """The tensor as it is sent. float16 holds three digits, and nothing above 65504."""
    if store is None:
        return tensor
    shorter = tensor.detach().to(STORES[store])
    if not shorter.isfinite().all():
        most, largest = torch.finfo(STORES[store]).max, tensor.abs().max().item()
        raise ValueError(
            f"{name} must be at most {most:g} to be stored as {store}, got {largest:g}"
        )
    return shorter


def check_store(store: str | None) -> None:
    if store not in (None, *STORES):
        raise ValueError(f"store must be 'float16', 'float32' or None, got {store!r}")


def sends_one_head(record: AttentionTrace) -> bool:
    """Whether only the values of the chosen head are sent: v is a third of the numbers."""
    _, H, L, S = record.shape
    return H > MOST_HEADS or (H > 1 and max(L, S) > MOST_WHOLE)


@torch.no_grad()
def weight_error(record: AttentionTrace, store: str | None) -> float:
    """The largest error of a weight that comes from storing q, k, bias and sinks in fewer bits.

    Over all batches and heads, against the same weights from the record's own numbers, both in
    float64; row by row, so that no whole map is made.
    """
    B, H, L, S = record.shape
    step = max(1, MOST_CELLS // S)
    largest = 0.0
    shorter = {name: stored(tensor, name, store) for name, tensor in record.added().items()}
    q, k = (stored(getattr(record, name), name, store) for name in "qk")
    sent = record.with_added(**shorter).call_with(q=q, k=k)
    for b, h, start in product(range(B), range(H), range(0, L, step)):
        rows, cols = range(start, min(start + step, L)), range(S)
        if record.keep is not None:
            cols = record.keep.visible(rows, (L, S))
        if cols:
            part = range(b, b + 1), range(h, h + 1), rows, cols
            error = weights_in_float64(record, part) - weights_in_float64(sent, part)
            largest = max(largest, error.abs().max().item())
    return largest


def weights_in_float64(call: Call, part: Part) -> Tensor:
    """Some rows of weights, which see no other columns than these."""
    q, k = (tensor.double() for tensor in call.queries_and_keys(part))
    bias, sinks = call.bias_of(part, torch.float64), call.sinks_of(part[1], torch.float64)
    scaled = stages.scaled(stages.scores(q, k), call.scale, call.softcap, bias)
    masked = stages.masked(scaled, call.keep_of(part))
    return stages.weights(masked, *stages.row_statistics(masked, sinks))


@torch.no_grad()
def overview(record: AttentionTrace) -> dict | None:
    """The weights of every head in at most 96×96 blocks, their mean and their max.

    A block is one byte: byte/255 times the `scale` of its head, half a step off at most. None for
    maps that a page derives at once, and for more heads than it shows at once: it draws those that
    come into view.
    """
    B, H, L, S = record.shape
    if max(L, S) <= MOST_WHOLE or H > MOST_HEADS:
        return None
    shape = min(L, OVERVIEW), min(S, OVERVIEW)
    pooled: dict = {"stage": "weights"}
    for how in ("mean", "max"):
        blocks = torch.stack(
            [
                record.pooled("weights", shape, how, batch=b, head=h)
                for b in range(B)
                for h in range(H)
            ]
        )
        most = blocks.amax((1, 2))
        most = torch.where(most > 0, most, 1)
        levels = (blocks / most[:, None, None] * 255).round().to(torch.uint8)
        pooled[how] = {
            "dtype": "uint8",
            "shape": [B, H, *shape],
            "data": base64.b64encode(levels.cpu().numpy().tobytes()).decode("ascii"),
            "scale": most.tolist(),
        }
    return pooled
