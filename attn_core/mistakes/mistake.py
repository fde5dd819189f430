"""What a mistake is, and how a wrong formula is put in the place of the right one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attn_core import stages
from attn_core.checks import STAGES, Fits, check_cells
from attn_core.masks import Keep
from attn_core.record import AttentionTrace


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the six formulas take: a record's tensors, each with the four axes of a map."""

    q: Float[Tensor, "B H L D"]
    k: Float[Tensor, "B H S D"]
    v: Float[Tensor, "B H S Dv"]
    keep: Bool[Tensor, "B H L S"] | None  # True = keep; None: no mask
    rule: Keep | None  # the same mask as its rule
    scale: float
    survives: Bool[Tensor, "B H L S"] | None  # None: no dropout
    p: float
    model_width: int  # E of the tokens where they are known, else the heads side by side

    @classmethod
    def of(cls, record: AttentionTrace) -> "Inputs":
        record.check_plain("record")
        B, H, L, S = record.shape
        wide = record.float_type
        q, k, v = (tensor.detach().to(wide) for tensor in (record.q, record.k, record.v))
        keep = survives = None
        if record.keep is not None:
            keep = record.keep.dense(L, S, q.device).expand(B, H, L, S)
        if record.dropout is not None:
            whole = range(B), range(H), range(L), range(S)
            survives = record.dropout.survives(*whole, q.device)
        width = H * q.shape[-1] if record.source is None else record.source.x.shape[-1]
        p = 0.0 if record.dropout is None else record.dropout.p
        return cls(q, k, v, keep, record.keep, record.scale, survives, p, width)


Formula = Callable[[Inputs, Tensor], Tensor]

# Each stage from the inputs and the stage before it.
FORMULAS: dict[str, Formula] = {
    "scores": lambda a, _: stages.scores(a.q, a.k),
    "scaled": lambda a, scores: stages.scaled(scores, a.scale),
    "masked": lambda a, scaled: stages.masked(scaled, a.keep),
    "weights": lambda a, masked: stages.weights(masked, *stages.row_statistics(masked)),
    "dropped": lambda a, weights: stages.dropped(weights, a.survives, a.p),
    "output": lambda a, dropped: stages.output(dropped, a.v),
}


class Run(NamedTuple):
    """One run of a module: the record of its attention, and the names that the check may use."""

    record: AttentionTrace
    names: dict[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Variant:
    """Formulas in the place of the right ones, or other inputs, under a name."""

    name: str  # "softmax-over-queries"
    title: str  # what "the weights with …" ends with
    where: str  # the first stage that it can touch, or the module
    formulas: Mapping[str, Formula] = field(default_factory=dict)  # those of FORMULAS it changes
    inputs: Callable[[AttentionTrace], AttentionTrace] | None = None  # or what it makes of a record

    @property
    def is_formula(self) -> bool:
        """True if it changes a formula, False if it changes how a module uses them."""
        return bool(self.formulas)

    @property
    def is_replayed(self) -> bool:
        """True if it can be made again from any record; else it needs its own module."""
        return self.is_formula or self.inputs is not None

    @property
    def first_stage(self) -> str:
        """The first stage that it can touch."""
        return self.where if self.where in STAGES else "scores"

    def apply(self, record: AttentionTrace) -> dict[str, Tensor]:
        """All six stages of a record with this mistake, with the leading axes of the inputs."""
        check_is_formula(self.name, self.is_replayed)
        return wrong_stages(record, self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Mistake(Variant):
    """A wrong version of attention that people write, and the line that finds it.

    >>> from attn_core import toy, trace
    >>> from attn_core.mistakes import MISTAKES
    >>> mistake = MISTAKES["softmax-over-queries"]
    >>> mistake.title, mistake.where, mistake.is_formula
    ('softmax over queries', 'weights', True)
    >>> mistake.check
    '((weights.sum(-1) - 1).abs() < 1e-5).all()'
    >>> mistake.apply(trace(*[toy.notebook().x] * 3))["weights"].sum(-1)
    tensor([0.8869, 0.4500, 1.6631])

    Chapters 02 to 09 show some of the mistakes; chapter 14 shows them all.
    """

    does: str
    symptom: str
    invisible: str  # on which inputs it changes nothing
    wrong: str  # the line that people write
    right: str
    check: str  # an expression that is true for the right version and false for the wrong one
    source: tuple[str, ...]  # where it was reported: "owner/repository#number", or an erratum's id
    seen_on: Callable[[], AttentionTrace] | None = None  # a record on which it is seen
    unseen_on: Callable[[], AttentionTrace] | None = None  # a record on which it is not
    run: Callable[[bool, bool], Run] | None = None  # of a module: (wrong?, where it is unseen?)
    replaces: tuple[type, ...] = ()  # of a module: the wrong classes, each on top of its right one
    silent_from: str = "scores"  # where it is unseen: the stage from which on all are right

    def pair(self, *, hidden: bool = False) -> tuple[AttentionTrace, AttentionTrace]:
        """For a mistake in a module: the right and the wrong record, from the same x and the same
        weights."""
        run = check_is_formula(self.name, self.run, wanted="module")
        return run(False, hidden).record, run(True, hidden).record

    def names(self, *, wrong: bool) -> dict[str, Any]:
        """What `check` may use, of the input that shows the mistake; axes as in the record."""
        if self.run is not None:
            return {"torch": torch, **self.run(wrong, False).names}
        record = check_is_formula(self.name, self.seen_on)()
        inputs = Inputs.of(record)
        shared = ("q", "k", "v", "keep", "survives", "p", "scale")
        names = {name: getattr(inputs, name) for name in shared}
        made = stages_with(inputs, self.formulas if wrong else {})
        return {"torch": torch, **names, **made}

    def passes(self, *, wrong: bool) -> bool:
        """What the check says of the right or of the wrong version."""
        return bool(eval(self.check, self.names(wrong=wrong)))


def stages_with(inputs: Inputs, changed: Mapping[str, Formula]) -> dict[str, Tensor]:
    """The six stages [B, H, L, ·], some formulas changed."""
    made, before = {}, inputs.q
    for stage in STAGES:
        made[stage] = before = changed.get(stage, FORMULAS[stage])(inputs, before)
    return made


def right_stages(record: AttentionTrace) -> dict[str, Tensor]:
    """All six stages of a record, in the rank that was traced."""
    return {stage: record.stage(stage).detach() for stage in STAGES}


def wrong_stages(record: AttentionTrace, mistake: Variant) -> dict[str, Tensor]:
    check_cells("weights", record.shape)
    record.check_unchanged()
    if mistake.inputs is not None:
        record = mistake.inputs(record)
    with torch.no_grad():
        stages = stages_with(Inputs.of(record), mistake.formulas)
    stages["output"] = stages["output"].to(record.v.dtype)
    return {name: cells.reshape(*record.lead, *cells.shape[-2:]) for name, cells in stages.items()}


def check_is_formula(name: str, fits: Fits | None, wanted: str = "formula") -> Fits:
    """What a mistake of the wanted kind has, and one of the other has not."""
    if not fits:
        has = "pair()" if wanted == "formula" else "apply()"
        raise ValueError(f"{name} must be a mistake of a {wanted}, got one that has {has} instead")
    return fits
