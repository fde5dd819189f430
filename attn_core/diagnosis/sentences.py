"""What is said of an array: the answer of `diagnose`."""

from dataclasses import dataclass

from torch import Tensor

from attn_core.checks import STAGES
from attn_core.diagnosis.classes import shown_by, tells_apart
from attn_core.diagnosis.comparing import Candidate, differing
from attn_core.diagnosis.slips import REPLAYED
from attn_core.digits import fixed
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.questions import Question, questions

NAMES = {
    "scores": "these are the scores",
    "scaled": "these are the scaled scores",
    "masked": "these are the masked scores",
    "weights": "these are the weights",
    "dropped": "these are the dropped weights",
    "output": "this is the output",
}
SIDE_BY_SIDE = "; they belong side by side"


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What an array is; its text is the answer in a sentence or two."""

    text: str
    verdict: str  # "right", "mistake", "transposed", "factor" or "unknown"
    stages: tuple[str, ...] = ()  # the stages that it may be
    mistakes: tuple[str, ...] = ()  # the mistakes that give it, not all of which the gallery has
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


def is_right(fitting: list[Candidate], seen: set[str], decimals: str) -> Diagnosis:
    names = tuple(candidate.stage for candidate in fitting)
    text = f"right: {NAMES[names[0]]}{decimals}"
    if len(names) > 1:
        text += f" (here {' and '.join(names)} are the same)"
    unseen = tuple(
        name
        for name, mistake in MISTAKES.items()
        if name not in seen and mistake.is_replayed
        if STAGES.index(names[0]) >= STAGES.index(mistake.first_stage)
    )
    question = None
    if unseen:
        shown = [len(shown_by(n, names[0]) & set(unseen)) for n in range(len(questions()))]
        question = questions()[shown.index(max(shown))]
        many = "known mistake gives" if len(unseen) == 1 else "known mistakes give"
        text += f". {len(unseen)} {many} the same on this input"
    return Diagnosis(text, "right", names, unseen=unseen, tell_apart=question)


def is_wrong(wrong: list[Candidate], right: list[Candidate], decimals: str) -> Diagnosis:
    first: dict[str, Candidate] = {}
    for candidate in wrong:
        first.setdefault(candidate.mistake, candidate)
    names, stages = tuple(first), tuple(dict.fromkeys(c.stage for c in first.values()))
    said = [f"{NAMES[c.stage]} with {REPLAYED[name].title}" for name, c in first.items()]
    text = ", or ".join(said) + decimals
    if len(names) == 1:
        place = next(c for c in right if c.stage == stages[0])
        row = differing(wrong[0].cells, place).any(-1).nonzero()[0].tolist()
        text += f". Equal until {REPLAYED[names[0]].first_stage}"
        text += f"; the first row that differs is {row_name(row)}"
        return Diagnosis(text, "mistake", stages, names)
    numbers = range(len(questions()))
    telling = (n for n in numbers if tells_apart(n, names, stages[0]))
    question = next((questions()[n] for n in telling), None)
    text += ". On this input they are the same"
    return Diagnosis(text, "mistake", stages, names, tell_apart=question)


def of_some(found: list[tuple[Candidate, str]], count: int, decimals: str) -> Diagnosis:
    """One head of several, or all of them in one."""
    stage = found[0][0].stage
    ways = [way for candidate, way in found if candidate.stage == stage]
    text = ", or ".join(NAMES[stage] + of_way(way, stage, count) for way in ways) + decimals
    names = {"mean": "mean-of-heads", "sum": "sum-of-heads"}
    mistakes = dict.fromkeys(names.get(way, "one-head") for way in ways)
    return Diagnosis(text, "mistake", (stage,), tuple(mistakes))


def of_way(way: str, stage: str, count: int) -> str:
    """What was done with the heads.

    >>> of_way("head 1", "weights", 2), of_way("sum", "scores", 2)
    (' of head 1 alone, one of 2', ', the 2 heads added up')
    """
    if way == "mean":
        as_torch = ", as torch's need_weights gives them" if stage in ("weights", "dropped") else ""
        return f", averaged over the {count} heads{as_torch}"
    if way == "sum":
        return f", the {count} heads added up" + SIDE_BY_SIDE * (stage == "output")
    return f" of {way} alone, one of {count}"


def of_dropout(cells: Tensor, factor: float, has_dropout: bool, decimals: str) -> Diagnosis:
    """Weights of which a random part is 0."""
    what = "with another draw of dropout" if has_dropout else "with dropout left on"
    text = f"{NAMES['weights']} {what}{decimals}: {int((cells == 0).sum())} of {cells.numel()} are "
    text += f"0, and the others are {fixed(factor)} times as large, as p = {fixed(1 - 1 / factor)} "
    text += "makes them" + ("" if has_dropout else ". model.eval() turns dropout off")
    name = "dropout-drawn-anew" if has_dropout else "dropout-left-on"
    return Diagnosis(text, "mistake", ("weights",), (name,))


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


def places(slack: float) -> int:
    """How many decimals half a unit of the last one belongs to."""
    return next(n for n in (3, 4, 5) if slack > 10.0 ** -(n + 1))


def row_name(index: list[int]) -> str:
    lead = f" of {index[:-1]}" if index[:-1] else ""
    return f"row {index[-1]}{lead}"
