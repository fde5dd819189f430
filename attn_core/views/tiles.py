"""Tiles for a live explorer: what a page asks of a long map, and Python's answer."""

import torch
from torch import Tensor

from attn_core.checks import check_index, check_stage
from attn_core.derive import CELLS
from attn_core.views.given import Numbers

MOST_SENT = 2**20  # numbers in one answer


def answer(record: Numbers, asked: dict) -> tuple[dict, list[bytes]]:
    """The answer to a message of the page, and its numbers as float32, little endian.

    asked: {"kind": "tile", "id", "stage", "batch", "head", "rows": [from, to], "cols": [from, to],
    "pool": None or [n, m], "how": "mean" or "max"}; `to` is not included. What can't be answered is
    said in a sentence under "error".
    """
    reply = {"kind": "tile", "id": asked.get("id"), "shape": None, "error": None}
    try:
        cells = tile_of(record, asked)
    except (ValueError, TypeError, IndexError, KeyError, RuntimeError) as error:
        return reply | {"error": str(error)}, []
    numbers = cells.detach().to("cpu", torch.float32).contiguous().numpy().astype("<f4")
    return reply | {"shape": list(cells.shape)}, [numbers.tobytes()]


@torch.no_grad()
def tile_of(record: Numbers, asked: dict) -> Tensor:
    stage, pool, how = asked["stage"], asked.get("pool"), asked.get("how", "mean")
    check_stage(stage)
    check_index("batch", asked["batch"], record.shape[0])
    check_index("head", asked["head"], record.shape[1])
    sizes = record.shape[2], record.columns(stage)
    rows, cols = (
        part_of(name, asked, size) for name, size in zip(("rows", "cols"), sizes, strict=True)
    )
    place = {"batch": asked["batch"], "head": asked["head"]}
    count = len(rows) * len(cols) if pool is None else pool[0] * pool[1]
    if not 0 < count <= MOST_SENT:
        raise ValueError(f"a tile must have at most {MOST_SENT} numbers, got {count}")
    if pool is None:
        return record.tile(stage, rows, cols, **place)
    if (len(rows), len(cols)) == sizes and stage != "masked":
        return record.pooled(stage, pool, how, **place)
    if how not in ("mean", "max"):
        raise ValueError(f"how must be 'mean' or 'max', got {how!r}")
    return pooled_part(record, stage, rows, cols, pool, how, place)


def part_of(name: str, asked: dict, size: int) -> range:
    start, stop = asked[name]
    if not 0 <= start < stop <= size:
        raise ValueError(f"{name} must lie within 0 to {size}, got {start} to {stop}")
    return range(start, stop)


def pooled_part(
    record: Numbers,
    stage: str,
    rows: range,
    cols: range,
    pool: list[int],
    how: str,
    place: dict,
) -> Tensor:
    """Blocks of a part of a map, by the rule of `pooled`: block r from r·rows//n on.

    As in the page, the mean of masked scores is that of those that are kept.
    """
    n, m = pool
    if not (0 < n <= len(rows) and 0 < m <= len(cols)):
        raise ValueError(f"pool must be at most {len(rows)}, {len(cols)}, got {n}, {m}")
    block = torch.div(torch.arange(1, len(cols) + 1) * m - 1, len(cols), rounding_mode="floor")
    step = max(1, CELLS // record.shape[3])
    reduce, start_at = ("amax", -torch.inf) if how == "max" else ("sum", 0.0)
    pooled = torch.full((n, m), start_at, dtype=torch.float64)
    counts = torch.zeros(n, m, dtype=torch.long)
    for r in range(n):
        part = rows[r * len(rows) // n : (r + 1) * len(rows) // n]
        for start in range(part.start, part.stop, step):
            some = range(start, min(start + step, part.stop))
            cells = record.tile(stage, some, cols, **place).cpu().double()
            kept = cells > -torch.inf
            counts[r].scatter_add_(0, block, kept.sum(0))
            cells = cells.amax(0) if how == "max" else cells.where(kept, 0.0).sum(0)
            pooled[r].scatter_reduce_(0, block, cells, reduce)
    return pooled if how == "max" else torch.where(counts > 0, pooled / counts, -torch.inf)
