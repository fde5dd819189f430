"""The form of an exercise, and of the numbers that a page asks for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from exercises.functions import RecordedFunction
from exercises.known import Change, Mistake
from exercises.plain import plain
from exercises.wording import worded

LEVELS = {1: "●○○", 2: "●●○", 3: "●●●"}

PLAIN = (int, float, str, list)

Names = dict[str, Any]
Parameters = dict[str, Any]
Checks = list[tuple[str, bool]]


class Clue(NamedTuple):
    """A check that tells where to look and earns nothing: an answer that computes nothing may pass.

    Its shape is right, its rows add up to 1, nothing of it is `nan`.
    """

    sentence: str
    passed: bool


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
    text: str  # Markdown; say what to compute, under which name, and the expected length; `task`
    starter: str  # what the reader gets: runs without error, passes no check
    solution: str
    parameters: Callable[[int], Parameters]  # the numbers for a seed; seed 0: the chapter's own
    checks: Callable[[Names, Parameters], Checks]
    mistakes: tuple[Mistake, ...] = ()  # once it is made, each has its code
    probes: Callable[[Parameters], list[tuple]] | None = None  # arguments that no reader sees
    fields: tuple[Field, ...] = ()  # what the page asks for; none: the exercise needs Python
    parts: tuple[str, ...] = ()  # of what a function gives, if they are several: their names
    rubric: str = ""  # of a text, which a person grades: what is worth how much

    def __post_init__(self) -> None:
        """Turn each change into the mistake that it makes of the solution."""
        written = []
        for mistake in self.mistakes:
            try:
                written.append(
                    mistake.of(self.solution) if isinstance(mistake, Change) else mistake
                )
            except ValueError as error:
                raise ValueError(f"{self.id}: {error}") from None
        object.__setattr__(self, "mistakes", tuple(written))

    def translated(self, say: Callable[[str], str]) -> Exercise:
        """The exercise with each of its texts as `say` has it; its code and numbers are the same.

        What its checks say is theirs: `Messages.tell` translates it once it is said.
        """
        return replace(
            self,
            title=say(self.title),
            text=say(self.text.strip()),
            fields=tuple(
                replace(asked, label=asked.label and say(asked.label)) for asked in self.fields
            ),
            mistakes=tuple(replace(mistake, hint=say(mistake.hint)) for mistake in self.mistakes),
            rubric=say(self.rubric.strip()),
            solution=self.in_words(say(self.words)) if self.words else self.solution,
        )

    @property
    def words(self) -> str:
        """What the solution says, where an answer is a text."""
        return self.run(self.solution)[self.answers[0]] if self.rubric else ""

    def in_words(self, text: str) -> str:
        """A solution that says this text, a sentence a line."""
        sentences = re.findall(r"[^.。]*[.。] ?", text)
        lines = "".join(f'    "{sentence}"\n' for sentence in sentences)
        return f"{self.answers[0]} = (\n{lines})"

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
        defined = []
        for node in ast.parse(self.starter).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.append((node.name, True))
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                defined += [(name, False) for name in names]
        return defined

    def task(self, seed: int | None = None) -> str:
        """The text as the chapter has it, or for a handout with the numbers of a seed."""
        return worded(self.text, self.parameters(seed or 0), chapter=seed is None)

    def given(self, seed: int = 0) -> str:
        """Code for the parameters that are plain numbers or lists, where values are asked for.

        What else a chapter has at this place, as its tensors, is there already.
        """
        if self.functions:
            return ""
        drawn = self.parameters(seed).items()
        # As the formatter of code writes it: a text in double quotes.
        lines = [
            f"{name} = {value!r}\n".replace("'", '"')
            for name, value in drawn
            if type(value) in PLAIN
        ]
        return "".join(lines) + "\n" if lines else ""

    def run(self, code: str, seed: int = 0) -> Names:
        """The names that `code` leaves behind, run with the parameters of a seed."""
        names = dict(self.parameters(seed))
        exec(compile(code, f"<{self.id}>", "exec"), names)
        return names

    def hear(self, names: Names) -> Names:
        """The answer: values in plain form, and functions of which none raises.

        A function keeps all that it says. A generator is read here, once.
        """
        answers = {name: names[name] for name in self.answers if name in names}
        answers = {name: plain(value) for name, value in answers.items()}
        asked = {name: answers.get(name) for name in self.functions}
        return answers | {
            n: f if isinstance(f, RecordedFunction) else RecordedFunction(f, self.parts)
            for n, f in asked.items()
        }

    def check(self, names: Names, seed: int = 0) -> Checks:
        """Every check of an answer as (sentence, passed). A call that raises answers None.

        An answer that the checks themselves trip over has passed none.
        """
        try:
            checked = self.checks({**names, **self.hear(names)}, self.parameters(seed))
            return [(sentence, bool(passed)) for sentence, passed in checked]
        except Exception:  # what an answer holds may raise anything
            return [(sentence, False) for sentence, _ in self.checked(seed)]

    def checked(self, seed: int = 0) -> Checks:
        """The checks of the solution, clues as `Clue`s."""
        right = self.run(self.solution, seed)
        return self.checks({**right, **self.hear(right)}, self.parameters(seed))

    def answer(self, code: str, seed: int = 0) -> Checks:
        """Run `code` as an answer and return every check as (sentence, passed)."""
        return self.check(self.run(code, seed), seed)

    @cached_property
    def clues(self) -> frozenset[str]:
        """The sentences of the checks that earn nothing."""
        return frozenset(clue.sentence for clue in self.checked() if isinstance(clue, Clue))

    def worth(self, sentences: list[str]) -> list[float]:
        """What each check is worth, in points: all the same, but for the clues."""
        counted = len([sentence for sentence in sentences if sentence not in self.clues])
        return [0.0 if sentence in self.clues else self.points / counted for sentence in sentences]

    def earned(self, checks: Checks) -> float:
        """The points of an answer."""
        counted = [passed for sentence, passed in checks if sentence not in self.clues]
        return self.points * sum(counted) / len(counted)
