"""A mistake tried: where it shows, where it hides, and what its check says."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attn_core.checks import STAGES
from attn_core.digits import fixed
from attn_core.mistakes.mistake import Mistake, check_is_formula, right_stages

AXES = ("sentence", "head")


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """What trying a mistake has shown; its text is a few lines."""

    stage: str  # the first one that differs
    place: tuple[int, ...]  # of the first row that differs: sentence, head, row
    right: Tensor  # that row, or the whole stage if the two have other sizes
    wrong: Tensor
    is_hidden: bool  # True if nothing differs where it should be unseen
    since: str  # … from this stage on
    passes: tuple[bool, bool]  # what the check says of the right and of the wrong version
    sizes: tuple[int, ...]  # of the axes that `place` counts along

    def __str__(self) -> str:
        if self.right.shape != self.wrong.shape:
            sizes = (tuple(cells.shape) for cells in (self.right, self.wrong))
            shown = "{} differ in size: {} right, {} wrong".format(self.stage, *sizes)
        else:
            rows = (" ".join(map(fixed, row.tolist())) for row in (self.right, self.wrong))
            shown = "{}\n  right  {}\n  wrong  {}".format(self.first_row, *rows)
        since = "" if self.since == "scores" else f" from {self.since} on"
        hidden = "the same" if self.is_hidden else "not the same"
        said = "check: {} if right, {} if wrong".format(*self.passes)
        return f"{shown}\nwhere it hides: {hidden}{since}\n{said}"

    __repr__ = __str__

    @property
    def first_row(self) -> str:
        """Its stage and place; axes of size 1 are left out."""
        *lead, row = self.place
        axes = zip(AXES, lead, self.sizes, strict=False)
        parts = [f"{name} {index}" for name, index, size in axes if size > 1]
        return ", ".join([f"first difference: {self.stage}", *parts, f"row {row}"])


def evidence(mistake: Mistake) -> Evidence:
    """Tries a mistake on one input where it shows, and on one where it hides.

    >>> from attn_core.mistakes import MISTAKES, evidence
    >>> evidence(MISTAKES["scale-by-model-width"])
    first difference: scaled, row 0
      right  1.1547 2.3094 2.3094
      wrong  1.0000 2.0000 2.0000
    where it hides: the same
    check: True if right, False if wrong

    A mistake of a module is seen in the record of its attention or, if it has none, of the
    attention that reads its result. Taught in chapter 14.
    """
    right, wrong = versions(mistake, hidden=False)
    stage = next(differences(right, wrong))
    cells = right[stage], wrong[stage]
    place: tuple[int, ...] = ()
    if cells[0].shape == cells[1].shape:
        place = tuple(differs(*cells).any(-1).nonzero()[0].tolist())
        cells = cells[0][place], cells[1][place]
    hidden = first_difference(*versions(mistake, hidden=True), mistake.silent_from)
    passes = mistake.passes(wrong=False), mistake.passes(wrong=True)
    sizes = tuple(right[stage].shape[:-2])
    return Evidence(stage, place, *cells, hidden is None, mistake.silent_from, passes, sizes)


def versions(mistake: Mistake, *, hidden: bool) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The right and the wrong stages on the mistake's own input."""
    if mistake.is_formula:
        example = mistake.unseen_on if hidden else mistake.seen_on
        record = check_is_formula(mistake.name, example)()
        return right_stages(record), mistake.apply(record)
    right, wrong = mistake.pair(hidden=hidden)
    return right_stages(right), right_stages(wrong)


def first_difference(
    right: dict[str, Tensor], wrong: dict[str, Tensor], since: str = "scores"
) -> str | None:
    """The first stage, from one on, in which the two differ; None if there is none."""
    return next(differences(right, wrong, since), None)


def differences(
    right: dict[str, Tensor], wrong: dict[str, Tensor], since: str = "scores"
) -> Iterator[str]:
    """The stages, from one on, in which the two differ."""
    later = STAGES[STAGES.index(since) :]
    return (stage for stage in later if unequal(right[stage], wrong[stage]))


def unequal(a: Tensor, b: Tensor) -> bool:
    return a.shape != b.shape or bool(differs(a, b).any())


def differs(a: Tensor, b: Tensor) -> Tensor:
    """True where two stages differ by more than rounding."""
    return ~torch.isclose(a.double(), b.double(), rtol=1e-5, atol=1e-6, equal_nan=True)
