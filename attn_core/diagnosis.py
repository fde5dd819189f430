"""Which mistake is this? An array is compared with each stage of a record, right and wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attn_core.checks import STAGES, check_fits_a_stage, check_no_nan, check_stage, check_yours
from attn_core.digits import fixed
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.mistake import right_stages
from attn_core.mistakes.questions import Question, questions
from attn_core.record import AttentionTrace

NAMES = {
    "scores": "these are the scores",
    "scaled": "these are the scaled scores",
    "masked": "these are the masked scores",
    "weights": "these are the weights",
    "dropped": "these are the dropped weights",
    "output": "this is the output",
}


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What an array is; its text is the answer in a sentence or two."""

    text: str
    verdict: str  # "right", "mistake", "transposed", "factor" or "unknown"
    stages: tuple[str, ...] = ()  # the stages that it may be
    mistakes: tuple[str, ...] = ()  # the mistakes that give it
    unseen: tuple[str, ...] = ()  # the mistakes that would give the right numbers here
    factor: float | None = None
    tell_apart: Question | None = None  # an input on which what can't be told here differs

    @property
    def hint(self) -> str:
        """Which of its fields say more."""
        if self.tell_apart is None:
            return ""
        if self.verdict == "mistake":
            return "; .tell_apart is one on which they differ"
        return "; .unseen names them, .tell_apart is an input that shows more"

    def __str__(self) -> str:
        return self.text + self.hint

    __repr__ = __str__


class Candidate(NamedTuple):
    stage: str
    mistake: str | None
    cells: Tensor  # float64, without leading axes of size 1
    room: float  # how far a number may be off and still be the same
    empty: Tensor | None = None  # rows that keep nothing, where a plain softmax gives nan


def diagnose(yours: Any, trace: AttentionTrace, *, stage: str | None = None) -> Diagnosis:
    """Says in a sentence what your array is: right, or which mistake it comes from.

    >>> from attn_core import diagnose, toy, trace
    >>> x = toy.journey().x
    >>> record = trace(x, x, x)
    >>> print(str(diagnose(torch.softmax(x @ x.T / 3**0.5, dim=0), record)).split(". ")[0])
    these are the weights with softmax over queries
    >>> diagnose(2 * record.stage("scores"), record)
    right up to a factor of 2.0000: these are the scores times it

    yours: a tensor, a NumPy array or nested lists, as large as a stage; axes of size 1 in front
        make no difference.
    trace: the record of the same q, k and v.
    stage: what yours should be, if it should be one stage only: "weights".

    Two numbers are the same if they differ by no more than a few roundings of the coarser dtype; if
    all of yours have three to five decimals, by no more than half of the last. Every mistake
    that gives these numbers is named, and if there are several, `tell_apart` is an input on which
    they differ. It never guesses. Taught in chapter 06, under
    *break it*.
    """
    if stage is not None:
        check_stage(stage)
    cells, eps, slack = check_yours(yours)
    cells = bare(cells)
    rooms = rooms_of(trace, eps, slack)
    stages = bare_stages(right_stages(trace))
    right = [
        Candidate(name, None, found, rooms[name])
        for name, found in stages.items()
        if stage in (None, name)
    ]
    check_fits_a_stage(cells, [candidate.cells for candidate in right])
    decimals = f", to the {places(slack)} decimals given" if slack else ""
    found = [c for c in right if same(cells, c)]
    if found:
        seen = {c.mistake for c in wrong_candidates(trace, stages, rooms, found[0].stage)}
        return is_right(found, seen, decimals)
    wrong = [c for c in wrong_candidates(trace, stages, rooms, stage) if same(cells, c)]
    if wrong:
        return is_wrong(wrong, right, decimals)
    check_no_nan(cells)
    for candidate in right:
        if same(cells.mT, candidate):
            text = f"{NAMES[candidate.stage]}, transposed: rows and columns are exchanged"
            return Diagnosis(text, "transposed", (candidate.stage,))
    fitting = [c for c in right if c.cells.shape == cells.shape]
    if not fitting:
        stage = next(c.stage for c in right if c.cells.shape == cells.mT.shape)
        text = f"not recognised. It has the shape of {stage} transposed, but not its numbers"
        return Diagnosis(text, "unknown", (stage,))
    for candidate in fitting:
        factor = factor_of(cells, candidate)
        if factor is not None:
            text = f"right up to a factor of {fixed(factor)}: {NAMES[candidate.stage]} times it"
            return Diagnosis(text, "factor", (candidate.stage,), factor=factor)
    return nearest(cells, fitting)


def places(slack: float) -> int:
    """How many decimals half a unit of the last one belongs to."""
    return next(n for n in (3, 4, 5) if slack > 10.0 ** -(n + 1))


def bare(cells: Tensor) -> Tensor:
    while cells.ndim > 2 and cells.shape[0] == 1:
        cells = cells[0]
    return cells


def rooms_of(record: AttentionTrace, eps: float, slack: float) -> dict[str, float]:
    """For each stage what a few roundings can do; an error of a score is a share of its weight."""
    wide = torch.finfo(record.row_max.dtype).eps
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


def bare_stages(stages: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: bare(found.double()) for name, found in stages.items()}


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


def is_right(found: list[Candidate], seen: set[str], decimals: str) -> Diagnosis:
    names = tuple(candidate.stage for candidate in found)
    text = f"right: {NAMES[names[0]]}{decimals}"
    if len(names) > 1:
        text += f" (here {' and '.join(names)} are the same)"
    unseen = tuple(
        name
        for name, mistake in MISTAKES.items()
        if name not in seen and mistake.is_replayed
        if STAGES.index(names[0]) >= STAGES.index(first_stage(name))
    )
    question = None
    if unseen:
        shown = [len(shown_by(n, names[0]) & set(unseen)) for n in range(len(questions()))]
        question = questions()[shown.index(max(shown))]
        many = "known mistake gives" if len(unseen) == 1 else "known mistakes give"
        text += f". {len(unseen)} {many} the same on this input"
    return Diagnosis(text, "right", names, unseen=unseen, tell_apart=question)


def first_stage(name: str) -> str:
    where = MISTAKES[name].where
    return where if where in STAGES else "scores"


def is_wrong(wrong: list[Candidate], right: list[Candidate], decimals: str) -> Diagnosis:
    first: dict[str, Candidate] = {}
    for candidate in wrong:
        first.setdefault(candidate.mistake, candidate)
    names, stages = tuple(first), tuple(dict.fromkeys(c.stage for c in first.values()))
    said = [f"{NAMES[c.stage]} with {MISTAKES[name].title}" for name, c in first.items()]
    text = ", or ".join(said) + decimals
    if len(names) == 1:
        place = next(c for c in right if c.stage == stages[0])
        row = differing(wrong[0].cells, place).any(-1).nonzero()[0].tolist()
        text += f". Equal until {first_stage(names[0])}"
        text += f"; the first row that differs is {row_name(row)}"
        return Diagnosis(text, "mistake", stages, names)
    numbers = range(len(questions()))
    telling = (n for n in numbers if tells_apart(n, names, stages[0]))
    question = next((questions()[n] for n in telling), None)
    text += ". On this input they are the same"
    return Diagnosis(text, "mistake", stages, names, tell_apart=question)


def row_name(index: list[int]) -> str:
    lead = f" of {index[:-1]}" if index[:-1] else ""
    return f"row {index[-1]}{lead}"


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


def nearest(cells: Tensor, fitting: list[Candidate]) -> Diagnosis:
    """Not recognised: what it is nearest to, as a fact."""

    def far(candidate: Candidate) -> float:
        off = (cells - candidate.cells).abs()
        return float(off[~off.isnan()].amax())

    closest = min(fitting, key=far)
    rows = differing(cells, closest).any(-1)
    text = f"not recognised. Nearest: {closest.stage}, off by at most {fixed(far(closest))}"
    text += f"; {int((~rows).sum())} of {rows.numel()} rows are equal"
    text += f", the first row that differs is {row_name(rows.nonzero()[0].tolist())}"
    return Diagnosis(text, "unknown", (closest.stage,))


@cache
def classes_of(number: int, stage: str) -> dict[str, int]:
    """What one of the questions tells apart in a stage: equal numbers are the same; 0 is right."""
    record = questions()[number].trace()
    room = rooms_of(record, 2**-23, 0.0)[stage]
    kinds = [bare_stages(right_stages(record))[stage]]
    found = {}
    for mistake in MISTAKES.values():
        if mistake.is_replayed:
            cells = bare(mistake.apply(record)[stage].double())
            ours = [same(cells, Candidate(stage, None, kind, room)) for kind in kinds]
            found[mistake.name] = ours.index(True) if True in ours else len(kinds)
            if found[mistake.name] == len(kinds):
                kinds.append(cells)
    return found


def shown_by(number: int, stage: str) -> set[str]:
    """The mistakes that one of the questions shows in a stage."""
    return {name for name, kind in classes_of(number, stage).items() if kind}


def tells_apart(number: int, names: tuple[str, ...], stage: str) -> bool:
    """True if no two of these mistakes give the same stage on this input."""
    classes = classes_of(number, stage)
    return len({classes[name] for name in names}) == len(names)
