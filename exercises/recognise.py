"""Which known mistake an answer looks like: the one that says the same wherever it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from exercises.comparing import same
from exercises.form import Checks, Exercise, Names
from exercises.known import Mistake


@dataclass(frozen=True)
class Seen:
    """All that is seen of one answer, with the parameters of one seed."""

    checks: Checks
    said: list[Any]  # by its functions, in the checks and in the probes; then its values
    error: Exception | None  # the first that a function raised
    probed: list[Any]  # what the probes were answered
    changed: bool = False  # whether a function has written into its input
    shown: list[Any] = field(default_factory=list)  # what was said, but for the probes' answers

    @property
    def is_right(self) -> bool:
        return all(passed for _, passed in self.checks)


def observe(
    exercise: Exercise, names: Names, seed: int = 0, hide: Callable[[], None] | None = None
) -> Seen:
    """Ask an answer all that the checks and the probes ask.

    hide: is called before the probes, whose inputs no reader sees.
    """
    parameters = exercise.parameters(seed)
    answer = exercise.hear(names)
    checks = exercise.check({**names, **answer}, seed)
    heard = [answer[name] for name in exercise.functions]
    values = [answer.get(name) for name in exercise.answers if name not in exercise.functions]

    def said() -> list[Any]:
        return [value for call in heard for value in call.said] + values

    shown = said()
    if hide:
        hide()
    probes = exercise.probes(parameters) if exercise.probes else []
    probed = [heard[0](*arguments) for arguments in probes]
    errors = [call.error for call in heard if call.error is not None]
    changed = any(call.changed for call in heard)
    return Seen(checks, said(), errors[0] if errors else None, probed, changed, shown)


@lru_cache(maxsize=64)
def observed(exercise: Exercise, code: str, seed: int) -> Seen:
    """The same of a code that is known: what one answer is compared with, the next is, too."""
    return observe(exercise, exercise.run(code, seed), seed)


def recognise(exercise: Exercise, seen: Seen, seed: int = 0) -> Mistake | None:
    """The known mistake that does the same as this answer; None if none does, or if it is right.

    >>> import exercises
    >>> exercise = exercises.load()["07-a-dropped-row"]
    >>> code = "def dropped_row(weights, survives, p):\\n    return survives * weights / p"
    >>> seen = observe(exercise, exercise.run(code, seed=1), seed=1)
    >>> recognise(exercise, seen, seed=1).name
    'dropout-over-p'
    """
    if seen.is_right and not exercise.probes:
        return None
    for mistake in exercise.mistakes:
        known = observed(exercise, mistake.code, seed)
        if known.checks == seen.checks and alike(known.said, seen.said):
            return mistake
    return None


def holds(exercise: Exercise, seen: Seen, seed: int = 0) -> bool:
    """True if the probes were answered as the solution answers them."""
    right = observed(exercise, exercise.solution, seed)
    return alike(seen.probed, right.probed)


def alike(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether two answers said the same, one value after the other."""
    return len(ours) == len(theirs) and all(map(same, ours, theirs))
