"""Which known mistake an answer looks like: the one that says the same wherever it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from exercises.form import Checks, Exercise, Mistake, Names
from exercises.hearing import Heard


@dataclass(frozen=True)
class Seen:
    """All that is seen of one answer, with the parameters of one seed."""

    checks: Checks
    said: list[Any]  # by its functions, in the checks and in the probes; then its values
    error: Exception | None  # the first that a function raised
    probed: list[Any]  # what the probes were answered

    @property
    def is_right(self) -> bool:
        return all(passed for _, passed in self.checks)


def observe(exercise: Exercise, names: Names, seed: int = 0) -> Seen:
    """Ask an answer all that the checks and the probes ask."""
    parameters = exercise.parameters(seed)
    heard = {name: Heard(names.get(name)) for name in exercise.functions}
    found = exercise.checks({**names, **heard}, parameters)
    checks = [(sentence, bool(passed)) for sentence, passed in found]
    probes = exercise.probes(parameters) if exercise.probes else []
    probed = [heard[exercise.functions[0]](*arguments) for arguments in probes]
    said = [value for one in heard.values() for value in one.said]
    said += [names.get(name) for name in exercise.answers if name not in heard]
    errors = [one.error for one in heard.values() if one.error is not None]
    return Seen(checks, said, errors[0] if errors else None, probed)


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
        known = observe(exercise, exercise.run(mistake.code, seed), seed)
        if known.checks == seen.checks and same(known.said, seen.said):
            return mistake
    return None


def holds(exercise: Exercise, seen: Seen, seed: int = 0) -> bool:
    """True if the probes were answered as the solution answers them."""
    right = observe(exercise, exercise.run(exercise.solution, seed), seed)
    return same(right.probed, seen.probed)


def same(ours: Any, theirs: Any) -> bool:
    """Equal, numbers up to a few roundings; a tensor, an array and nested lists are the same.

    >>> same([1.0, 2.0], torch.tensor([1.0, 2.0000001])), same((1, "a"), (1, "b"))
    (True, False)
    """
    pair = numbers(ours), numbers(theirs)
    if pair[0] is not None and pair[1] is not None:
        fits = pair[0].shape == pair[1].shape
        return fits and torch.allclose(*pair, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def numbers(value: Any) -> torch.Tensor | None:
    """A value as float64, or None if it holds anything but numbers."""
    if value is None or value is ... or isinstance(value, str):
        return None
    try:
        return torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return None
