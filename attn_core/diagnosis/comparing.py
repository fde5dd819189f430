"""Two arrays are the same if they differ by no more than rounding; and what is compared."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from attn_core.checks import STAGES
from attn_core.diagnosis.slips import REPLAYED, SLIPS
from attn_core.mistakes.mistake import Variant, right_stages
from attn_core.record import AttentionTrace

SMALLEST_HALF = 2.0**-24  # between it and 0 float16 has no numbers
MOST_SHARE = 0.9  # below 1, or zeros would be the same as anything
MOST_SHARE_OF_SLIP = 0.1


class Room(NamedTuple):
    """How far a number may be off and still be the same: `yours + base`, and a share of its size.

    >>> Room(yours=0.0, base=0.25, share=0.5).at(torch.tensor([0.0, 1.0, 2.0]))
    tensor([0.2500, 0.7500, 1.2500])
    """

    yours: float  # what the decimals or the dtype of yours leave open
    base: float
    share: float

    def at(self, sizes: Tensor) -> Tensor:
        return self.yours + self.base + self.share * sizes

    def times(self, factor: float) -> "Room":
        """The room of a stage times a factor; twice `yours`, as the factor comes from yours."""
        return Room(2 * self.yours, self.base * factor, self.share)


class Candidate(NamedTuple):
    stage: str
    mistake: str  # its name; "": the right stage
    cells: Tensor  # float64, without leading axes of size 1
    sizes: Tensor  # what a rounding is a share of; none is negative
    room: Room
    empty: Tensor | None = None  # rows that keep nothing, where a plain softmax gives nan


def bare(cells: Tensor) -> Tensor:
    while cells.ndim > 2 and cells.shape[0] == 1:
        cells = cells[0]
    return cells


def compared_stages(record: AttentionTrace, mistake: Variant | None = None) -> dict[str, Tensor]:
    """The six stages, right or as a mistake makes them, and "size": Σ |dropped|·|v|."""
    stages = right_stages(record) if mistake is None else mistake.apply(record)
    taken = record if mistake is None or mistake.inputs is None else mistake.inputs(record)
    v = taken.v.detach().abs().reshape(*record.lead, *taken.v.shape[2:])
    compared = {name: bare(cells.double().cpu()) for name, cells in stages.items()}
    return compared | {"size": compared["dropped"].abs() @ bare(v.double().cpu())}


def candidate(
    stage: str, mistake: str, stages: dict[str, Tensor], rooms: dict[str, Room]
) -> Candidate:
    """One stage and its room, of which an error of a score is a share, from the weights on."""
    cells, room = stages[stage], rooms[stage]
    if STAGES.index(stage) < STAGES.index("weights"):
        return Candidate(stage, mistake, cells, cells.abs(), room)
    most = {name: float(stages[name].abs().amax()) for name in ("scores", "scaled")}
    scale = most["scaled"] / (most["scores"] or 1.0)  # its own: a mistake may have forgotten it
    share = min(MOST_SHARE, room.share + rooms["scores"].base * scale)
    sizes = stages["size"] if stage == "output" else cells.abs()
    empty = (stages["masked"] == -torch.inf).all(-1) if mistake else None
    return Candidate(stage, mistake, cells, sizes, room._replace(share=share), empty)


def rooms_of(record: AttentionTrace, eps: float, slack: float) -> dict[str, Room]:
    """For each stage what a few roundings can do; `candidate` adds what errors of its scores do.

    A rounding is a share of a weight. Weights below a rounding of 1 are as good as 0.
    """
    wide = torch.finfo(record.float_type).eps
    size = [float(t.detach().abs().amax()) for t in (record.q, record.k, record.v)]
    most = float(record.stage("scores").detach().abs().amax())
    scores = 4 * eps * most + 2 * wide * record.q.shape[-1] * size[0] * size[1]
    scaled = scores * abs(record.scale)
    p = 0.0 if record.dropout is None else record.dropout.p
    weights = record.shape[3] * wide
    share, of_values = 8 * eps, 8 * max(eps, torch.finfo(record.v.dtype).eps)
    shares = {"scores": (scores, 0.0), "scaled": (scaled, 0.0), "masked": (scaled, 0.0)}
    shares |= {"weights": (weights, share), "dropped": (weights / (1 - p), share)}
    shares |= {"output": (weights / (1 - p) * size[2], share + of_values)}
    yours = slack + (SMALLEST_HALF if eps == torch.finfo(torch.float16).eps else 0.0)
    return {name: Room(yours, 1e-12 + base, share) for name, (base, share) in shares.items()}


def agree(cells: Tensor, candidate: Candidate) -> bool:
    other = candidate.cells
    return cells.shape == other.shape and not bool(differing(cells, candidate).any())


def differing(cells: Tensor, candidate: Candidate) -> Tensor:
    """True where two arrays differ."""
    other = candidate.cells
    # Not ≤: where the room is inf, because the number is, nothing else is near it.
    near = (cells == other) | ((cells - other).abs() < candidate.room.at(candidate.sizes))
    near |= cells.isnan() & other.isnan()
    if candidate.empty is not None:
        near |= cells.isnan() & candidate.empty[..., None]
    return ~near


def is_vague(cells: Tensor, candidate: Candidate) -> bool:
    """Whether a slip agrees as equal weights would, too: its room is too wide to name it."""
    if candidate.mistake not in SLIPS:
        return False
    axis = -2 if candidate.stage == "output" else -1
    seen = cells.isfinite() & (cells != 0)
    sums = torch.where(seen, cells, 0.0).sum(axis, keepdim=True)
    flat = torch.where(seen, sums / seen.sum(axis, keepdim=True), cells)
    return candidate.room.share > MOST_SHARE_OF_SLIP or agree(flat, candidate)


def wrong_candidates(
    record: AttentionTrace, right: dict[str, Tensor], rooms: dict[str, Room], only: str | None
) -> Iterator[Candidate]:
    """Each stage of each mistake that differs from the right one on this input."""
    for name, mistake in REPLAYED.items():
        made = compared_stages(record, mistake)
        for stage in STAGES:
            wrong = candidate(stage, name, made, rooms)
            if only in (None, stage) and not agree(right[stage], wrong):
                yield wrong


def factor_of(cells: Tensor, candidate: Candidate) -> float | None:
    """The one number that turns the stage into yours, if there is one that zeros don't fit too."""
    other = candidate.cells
    finite = other.isfinite() & cells.isfinite()
    below = (other[finite] ** 2).sum()
    if not below:
        return None
    factor = float((cells[finite] * other[finite]).sum() / below)
    if factor <= 0:
        return None
    room = candidate.room.times(factor)
    times = candidate._replace(cells=other * factor, sizes=candidate.sizes * factor, room=room)
    zeros = torch.where(cells.isfinite(), 0.0, cells)
    return factor if agree(cells, times) and not agree(zeros, times) else None
