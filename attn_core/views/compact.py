"""Numbers stored in fewer bits, and the largest error of a weight that comes of it."""

import torch
from torch import Tensor

from attn_core import stages
from attn_core.record import TILE_CELLS, AttentionTrace

STORES = {None: None, "float32": torch.float32, "float16": torch.float16}


def stored(tensor: Tensor, name: str, store: str | None) -> Tensor:
    """The tensor as it is sent. float16 holds three digits, and nothing above 65504."""
    if STORES[store] is None:
        return tensor
    shorter = tensor.detach().to(STORES[store])
    if not shorter.isfinite().all():
        most = tensor.abs().max().item()
        raise ValueError(f"{name} must be at most 65504 to be stored as {store}, got {most:g}")
    return shorter


def check_store(store: str | None) -> None:
    if store not in STORES:
        raise ValueError(f"store must be 'float16', 'float32' or None, got {store!r}")


@torch.no_grad()
def weight_error(record: AttentionTrace, store: str | None) -> float:
    """The largest error of a weight that comes from storing q and k in fewer bits.

    Over all batches and heads, against the same weights from the record's own q and k, both in
    float64; row by row, so that no whole map is made.
    """
    B, H, L, S = record.shape
    step = max(1, TILE_CELLS // S)
    largest = 0.0
    for b in range(B):
        for h in range(H):
            pairs = [(record.q[b, h].double(), record.k[b, h].double())]
            names = zip((record.q[b, h], record.k[b, h]), "qk", strict=True)
            pairs.append(tuple(stored(tensor, name, store).double() for tensor, name in names))
            for start in range(0, L, step):
                rows = range(start, min(start + step, L))
                given, sent = (weights_of(record, q, k, rows, b, h) for q, k in pairs)
                largest = max(largest, (given - sent).abs().max().item())
    return largest


def weights_of(
    record: AttentionTrace, q: Tensor, k: Tensor, rows: range, batch: int, head: int
) -> Tensor:
    L, S = record.shape[2:]
    keep = None
    if record.keep is not None:
        tile = record.keep.tile(rows, range(S), (L, S), q.device)
        keep = tile[batch if tile.shape[0] > 1 else 0, head if tile.shape[1] > 1 else 0]
    masked = stages.masked(stages.scaled(stages.scores(q[rows], k), record.scale), keep)
    return stages.weights(masked, *stages.row_statistics(masked))
