"""What keeps only a part of the weights' numbers: one head of several, their mean, dropout."""

from torch import Tensor

from attn_core.checks import STAGES
from attn_core.diagnosis.comparing import (
    Candidate,
    Room,
    agree,
    bare,
    candidate,
    compared_stages,
)
from attn_core.record import AttentionTrace

FEWEST = 4  # weights with one factor; fewer may have it by chance


def of_heads(
    cells: Tensor, record: AttentionTrace, rooms: dict[str, Room], only: str | None
) -> list[tuple[Candidate, str]]:
    """The stages of one head, or of all heads in one, that these cells are.

    Each comes with what was done: "mean", "sum" or "head 1".
    """
    H = record.shape[1]
    if H == 1:
        return []
    stages = {
        name: part.reshape(-1, H, *part.shape[-2:])
        for name, part in compared_stages(record).items()
    }
    found = []
    for way in ("mean", "sum", *(f"head {h}" for h in range(H))):
        taken = {name: bare(in_one(part, way)) for name, part in stages.items()}
        for stage in STAGES:
            made = candidate(stage, "", taken, rooms)
            if only in (None, stage) and agree(cells, made):
                found.append((made, way))
    return found


def in_one(heads: Tensor, way: str) -> Tensor:
    if way == "mean":
        return heads.mean(1)
    return heads.sum(1) if way == "sum" else heads[:, int(way.removeprefix("head "))]


def dropped_anew(cells: Tensor, weights: Candidate) -> float | None:
    """The factor of the weights that are not 0, if the others were set to 0 as dropout does.

    Weights that were hidden and then made to add up to 1 again have one factor in a single row;
    so at least one row has to add up to something else.
    """
    if cells.shape != weights.cells.shape or not cells.isfinite().all():
        return None
    survives = cells != 0
    below = (weights.cells[survives] ** 2).sum()
    if not below:
        return None
    factor = float((cells[survives] * weights.cells[survives]).sum() / below)
    room = weights.room.times(factor).at(weights.sizes * factor)
    times = weights.cells * factor
    is_near = (cells - times).abs() < room
    is_large = times > 4 * room
    sums_to_one = (cells.sum(-1) - 1).abs() <= room.sum(-1)
    is_drop = (
        factor > 1
        and bool(is_near[survives].all())
        and int((survives & is_large).sum()) >= FEWEST
        and bool((~survives & is_large).any())
        and not bool(sums_to_one.all())
    )
    return factor if is_drop else None
