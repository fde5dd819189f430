"""Two arrays are the same if they differ by no more than rounding; and what is compared."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attn_core.checks import STAGES
from attn_core.mistakes import MISTAKES
from attn_core.record import AttentionTrace


class Candidate(NamedTuple):
    stage: str
    mistake: str | None
    cells: Tensor  # float64, without leading axes of size 1
    room: float  # how far a number may be off and still be the same
    empty: Tensor | None = None  # rows that keep nothing, where a plain softmax gives nan


def bare(cells: Tensor) -> Tensor:
    while cells.ndim > 2 and cells.shape[0] == 1:
        cells = cells[0]
    return cells


def bare_stages(stages: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: bare(found.double().cpu()) for name, found in stages.items()}


def rooms_of(record: AttentionTrace, eps: float, slack: float) -> dict[str, float]:
    """For each stage what a few roundings can do; an error of a score is a share of its weight."""
    wide = torch.finfo(record.float_type).eps
    size = [float(t.detach().abs().amax()) for t in (record.q, record.k, record.v)]
    most = float(record.stage("scores").detach().abs().amax())
    scores = 4 * eps * most + 2 * wide * record.q.shape[-1] * size[0] * size[1]
    scaled = scores * max(abs(record.scale), 1e-30)
    p = 0.0 if record.dropout is None else record.dropout.p
    weights = scores * max(abs(record.scale), 1.0) / 2 + 8 * eps + record.shape[3] * wide
    output = (weights / (1 - p) + 8 * max(eps, torch.finfo(record.v.dtype).eps)) * size[2]
    found = {"scores": scores, "scaled": scaled, "masked": scaled, "weights": weights}
    found |= {"dropped": weights / (1 - p), "output": output}
    return {name: 1e-12 + slack + room for name, room in found.items()}


def same(cells: Tensor, candidate: Candidate) -> bool:
    other = candidate.cells
    return cells.shape == other.shape and not bool(differing(cells, candidate).any())


def differing(cells: Tensor, candidate: Candidate) -> Tensor:
    """True where two arrays differ."""
    other = candidate.cells
    near = (cells == other) | ((cells - other).abs() <= candidate.room)
    near |= cells.isnan() & other.isnan()
    if candidate.empty is not None:
        near |= cells.isnan() & candidate.empty[..., None]
    return ~near


def wrong_candidates(
    record: AttentionTrace, right: dict[str, Tensor], rooms: dict[str, float], only: str | None
) -> Iterator[Candidate]:
    """Each stage of each mistake that differs from the right one on this input."""
    for name, mistake in MISTAKES.items():
        if mistake.is_replayed:
            made = bare_stages(mistake.apply(record))
            empty = (made["masked"] == -torch.inf).all(-1)
            for stage in STAGES:
                late = STAGES.index(stage) >= STAGES.index("weights")
                found = Candidate(stage, name, made[stage], rooms[stage], empty if late else None)
                if only in (None, stage) and not same(right[stage], found):
                    yield found


def factor_of(cells: Tensor, candidate: Candidate) -> float | None:
    """The one number that turns the stage into yours, if there is one."""
    other = candidate.cells
    finite = other.isfinite() & cells.isfinite()
    below = (other[finite] ** 2).sum()
    if not below:
        return None
    factor = float((cells[finite] * other[finite]).sum() / below)
    scaled = candidate._replace(cells=other * factor, room=candidate.room * max(1.0, abs(factor)))
    return factor if factor > 0 and same(cells, scaled) else None
