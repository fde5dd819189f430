"""Answers that compute nothing, and what they earn: what a check is worth shows by them.

An answer of zeros has the shape that is asked for, rows of 1/n add up to 1, and a constant is right
wherever one number is asked for. What such an answer passes may be told to a reader, as a `Clue`,
and earns nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import torch

from exercises.comparing import tensor
from exercises.draws import Draws
from exercises.form import Exercise, Names
from exercises.recognise import holds, observe

CONSTANTS: dict[str, Any] = {
    "0": 0,
    "1": 1,
    "2": 2,
    "a half": 0.5,
    "True": True,
    "False": False,
    "an empty list": [],
    "a word": "word",
}
# From a right value, one of its shape that is none.
FILLED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "equal shares": lambda right: torch.full_like(right, 1 / max(1, right.shape[-1:].numel())),
    "two thirds": lambda right: torch.full_like(right, 2 / 3),
    "random numbers": lambda right: Draws(12345).uniform(*right.shape, dtype=right.dtype),
    "random signs": lambda right: Draws(54321).uniform(*right.shape, low=-1.0, dtype=right.dtype),
}


def points(exercise: Exercise, answer: Callable[[int], Names], seeds: tuple[int, ...]) -> float:
    """What an answer earns that is asked with the numbers of some seeds, as in grading.

    answer(seed): the names of the answer, run with the numbers of a seed.
    """
    passed = []
    for seed in seeds if exercise.functions else seeds[:1]:
        seen = observe(exercise, answer(seed), seed)
        probes = [("", holds(exercise, seen, seed))] * bool(exercise.probes)
        passed.append([*seen.checks, *probes])
    merged = [
        (checks[0][0], all(good for _, good in checks)) for checks in zip(*passed, strict=True)
    ]
    return exercise.earned(merged)


def answers(exercise: Exercise) -> Iterator[tuple[str, Callable[[int], Names]]]:
    """Idle answers of an exercise, each with what it is."""
    yield "the starter", lambda seed: exercise.run(exercise.starter, seed)
    for what, value in CONSTANTS.items():
        yield what, constant(exercise, lambda *_, value=value: value)
    for what, fill in FILLED.items():
        yield what, constant(exercise, lambda right, *_, fill=fill: filled(right, fill))
    if exercise.kind == "values":
        yield "the numbers of the chapter", lambda seed: solved(exercise, 0)
        for name in exercise.parameters(0):
            yield f"`{name}`", constant(exercise, lambda *both, name=name: both[1][name])
        return
    for place, name in enumerate(parameters_of(exercise)):
        yield f"`{name}`", saying(exercise, lambda *given, place=place: given[place])
        yield (
            f"`{name}`, its first row",
            saying(exercise, lambda *given, at=place: first(given[at])),
        )
        yield f"`{name}`, emptied", saying(exercise, lambda *given, at=place: emptied(given[at]))
    right = {str(value): value for value in observe(exercise, exercise.run(exercise.solution)).said}
    for number, value in enumerate(right.values()):
        yield f"a right value, {number + 1}", saying(exercise, lambda *_, v=value: v)


def solved(exercise: Exercise, seed: int) -> Names:
    """What the solution leaves; values are computed once, functions may remember what they did."""
    if exercise.functions:
        return exercise.run(exercise.solution, seed)
    return solved_values(exercise, seed)


@lru_cache(maxsize=128)
def solved_values(exercise: Exercise, seed: int) -> Names:
    return exercise.run(exercise.solution, seed)


def constant(exercise: Exercise, make: Callable[[Any, Names], Any]) -> Callable[[int], Names]:
    """An answer that says, wherever it is asked, what `make` gives of the right value."""

    def answer(seed: int) -> Names:
        right, given = solved(exercise, seed), exercise.parameters(seed)
        idle = {}
        for name in exercise.answers:
            if name in exercise.functions:
                ask = right[name]
                idle[name] = lambda *arguments, ask=ask: make(ask(*arguments), given)
            else:
                idle[name] = make(right[name], given)
        return idle

    return answer


def saying(exercise: Exercise, function: Callable) -> Callable[[int], Names]:
    return lambda seed: dict.fromkeys(exercise.functions, function)


def parameters_of(exercise: Exercise) -> list[str]:
    """The names of what the first function is given."""
    function = exercise.run(exercise.starter)[exercise.functions[0]]
    return list(inspect.signature(function).parameters)


def first(given: Any) -> Any:
    """The first row of what was given, if it has rows."""
    return given[0] if isinstance(given, torch.Tensor) and given.ndim else given


def emptied(given: Any) -> Any:
    """What was given, with zeros written into it."""
    return given.zero_() if isinstance(given, torch.Tensor) else given


def filled(right: Any, fill: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A right value's shape with other numbers in it."""
    if isinstance(right, tuple) and not all(isinstance(part, str) for part in right):
        return tuple(filled(part, fill) for part in right)
    cells = tensor(right)
    if cells is None:
        return [right[0]] * len(right) if isinstance(right, list | tuple) else right
    return fill(cells if cells.is_floating_point() else cells.float())
