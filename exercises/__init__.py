"""The form of an exercise. One file per exercise, `exercises/NN_slug.py`, defines `EXERCISE`:

    import torch

    from exercises import Exercise, Mistake


    def parameters(seed):
        if seed == 0:  # seed 0 is what the chapter itself has at this place
            x = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]])
        else:
            x = torch.rand(2 + seed % 3, 3, generator=torch.Generator().manual_seed(seed))
        return {"x": x}


    def checks(names, parameters):
        x, got = parameters["x"], names.get("scores")
        shaped = isinstance(got, torch.Tensor) and got.shape == (len(x), len(x))
        return [
            ("`scores` is a tensor of shape [T, T]", shaped),
            ("row i, column j is x[i]·x[j]", shaped and torch.allclose(got, x @ x.T)),
        ]


    EXERCISE = Exercise(
        id="03-all-scores",
        chapter="03",
        title="All scores at once",
        level=1,
        points=1,
        text="Compute the scores of every query with every key. Use no loop. *Expected: one line.*",
        starter="scores = ...",
        solution="scores = x @ x.T",
        parameters=parameters,
        checks=checks,
        mistakes=(Mistake("scores = x * x", "`*` multiplies cell by cell; a score is a sum."),),
    )

A starter, a solution and a mistake are run with the names of `parameters(seed)` already there, so
the chapter must define these names above the exercise, or the answer must be a function that the
checks call with the parameters. Whatever else the code needs, it imports.

`checks(names, parameters)` gets all names that the answer left behind. It must hold its ground
against a blank answer (`...`, a function that returns None), which fails every check.

`make notebooks` writes each exercise into its chapter where a cell has the tag `exercise:<id>`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LEVELS = {1: "●○○", 2: "●●○", 3: "●●●"}

Names = dict[str, Any]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give, and what to tell them."""

    code: str
    hint: str


@dataclass(frozen=True)
class Exercise:
    """One exercise: its text, its two codes, and what decides whether an answer is right."""

    id: str  # stable, "03-all-scores": chapter, then a slug of [a-z0-9-]
    chapter: str  # "03"
    title: str
    level: int  # 1, 2 or 3
    points: int
    text: str  # Markdown; say what to compute, under which name, and the expected length
    starter: str  # what the reader gets: runs without error, passes no check
    solution: str
    parameters: Callable[[int], Parameters]  # the numbers for a seed; seed 0: the chapter's own
    checks: Callable[[Names, Parameters], list[tuple[str, bool]]]
    mistakes: tuple[Mistake, ...] = ()

    def answer(self, code: str, seed: int = 0) -> list[tuple[str, bool]]:
        """Run `code` as an answer and return every check as (sentence, passed)."""
        names = dict(self.parameters(seed))
        exec(compile(code, f"<{self.id}>", "exec"), names)
        return [
            (sentence, bool(passed))
            for sentence, passed in self.checks(names, self.parameters(seed))
        ]


def load() -> dict[str, Exercise]:
    """Every exercise of the book by its id, in the order of the file names."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        exercise = importlib.import_module(f"{__name__}.{module.name}").EXERCISE
        if exercise.id in found:
            raise ValueError(f"two exercises have the id {exercise.id!r}")
        found[exercise.id] = exercise
    return found
