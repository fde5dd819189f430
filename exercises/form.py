"""The form of an exercise, of the mistakes that it knows, and of the numbers a page asks for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exercises.hearing import Heard

LEVELS = {1: "●○○", 2: "●●○", 3: "●●●"}

PLAIN = (int, float, str, list)

Names = dict[str, Any]
Parameters = dict[str, Any]
Checks = list[tuple[str, bool]]


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give, and what to tell them."""

    code: str
    hint: str  # says what went wrong; it may not give the solution away
    name: str | None = None  # where it is one of attn_core.mistakes: its name, "no-scale"


@dataclass(frozen=True)
class Field:
    """A value that the page asks for: of an expression, with the parameters of seed 0."""

    expression: str  # of the parameters and of the names that the solution leaves
    label: str | None = None  # Markdown, what the page shows in its place
    places: int = 2  # decimals that are asked for; 0: a whole number


@dataclass(frozen=True)
class Exercise:
    """One exercise: its text, its two codes, and what decides whether an answer is right."""

    id: str  # stable, "03-all-scores": chapter, then a slug of [a-z0-9-]
    chapter: str  # "03"
    title: str
    level: int  # 1, by hand or one line; 2, a few lines; 3, a small program
    points: int
    text: str  # Markdown; say what to compute, under which name, and the expected length
    starter: str  # what the reader gets: runs without error, passes no check
    solution: str
    parameters: Callable[[int], Parameters]  # the numbers for a seed; seed 0: the chapter's own
    checks: Callable[[Names, Parameters], Checks]
    mistakes: tuple[Mistake, ...] = ()
    probes: Callable[[Parameters], list[tuple]] | None = None  # arguments that no reader sees
    fields: tuple[Field, ...] = ()  # what the page asks for; none: the exercise needs Python
    library: tuple[str, ...] = ()  # of attn_core, what an answer may import: "dropout.philox"
    rubric: str = ""  # of a text, which a person grades: what is worth how much

    @property
    def answers(self) -> tuple[str, ...]:
        """The names that the answer leaves: those that the starter defines, in its order."""
        return tuple(name for name, _ in self.defined)

    @property
    def functions(self) -> tuple[str, ...]:
        """Those of the answer's names that are functions or classes."""
        return tuple(name for name, is_function in self.defined if is_function)

    @property
    def kind(self) -> str:
        """What an answer is: "values", "function", or "text", which a person reads."""
        if self.rubric:
            return "text"
        return "function" if self.functions else "values"

    @property
    def defined(self) -> list[tuple[str, bool]]:
        """Each name that the starter defines, and whether it is a function's."""
        found = []
        for node in ast.parse(self.starter).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.append((node.name, True))
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                found += [(name, False) for name in names]
        return found

    def given(self, seed: int = 0) -> str:
        """Code for the parameters that are plain numbers or lists, where values are asked for.

        What else a chapter has at this place, as its tensors, is there already.
        """
        if self.functions:
            return ""
        found = self.parameters(seed).items()
        lines = [f"{name} = {value!r}\n" for name, value in found if type(value) in PLAIN]
        return "".join(lines) + "\n" if lines else ""

    def run(self, code: str, seed: int = 0) -> Names:
        """The names that `code` leaves behind, run with the parameters of a seed."""
        names = dict(self.parameters(seed))
        exec(compile(code, f"<{self.id}>", "exec"), names)
        return names

    def hear(self, names: Names) -> dict[str, Heard]:
        """The answer's functions, so that none raises and all that they say is kept."""
        found = {name: names.get(name) for name in self.functions}
        return {name: f if isinstance(f, Heard) else Heard(f) for name, f in found.items()}

    def check(self, names: Names, seed: int = 0) -> Checks:
        """Every check of an answer as (sentence, passed). A call that raises answers None.

        An answer that the checks themselves trip over has passed none.
        """
        try:
            found = self.checks({**names, **self.hear(names)}, self.parameters(seed))
            return [(sentence, bool(passed)) for sentence, passed in found]
        except Exception:  # what an answer holds may raise anything
            right = self.run(self.solution, seed)
            found = self.checks({**right, **self.hear(right)}, self.parameters(seed))
            return [(sentence, False) for sentence, _ in found]

    def answer(self, code: str, seed: int = 0) -> Checks:
        """Run `code` as an answer and return every check as (sentence, passed)."""
        return self.check(self.run(code, seed), seed)

    def earned(self, checks: Checks) -> float:
        """The points of an answer: each check counts the same."""
        return self.points * sum(passed for _, passed in checks) / len(checks)
