"""The form of an exercise, and of the mistakes that it knows."""

from __future__ import annotations

import ast
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

    @property
    def answers(self) -> tuple[str, ...]:
        """The names that the answer leaves: those that the starter defines, in its order."""
        found = []
        for node in ast.parse(self.starter).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.append(node.name)
            elif isinstance(node, ast.Assign):
                found += [target.id for target in node.targets if isinstance(target, ast.Name)]
        return tuple(found)

    def run(self, code: str, seed: int = 0) -> Names:
        """The names that `code` leaves behind, run with the parameters of a seed."""
        names = dict(self.parameters(seed))
        exec(compile(code, f"<{self.id}>", "exec"), names)
        return names

    def answer(self, code: str, seed: int = 0) -> list[tuple[str, bool]]:
        """Run `code` as an answer and return every check as (sentence, passed)."""
        found = self.checks(self.run(code, seed), self.parameters(seed))
        return [(sentence, bool(passed)) for sentence, passed in found]
