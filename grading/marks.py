"""What an answer is worth, decided outside the student's process.

An answer is first asked all that is to ask; what it said is then judged, and nothing more is asked.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from exercises.comparing import same
from exercises.form import Checks, Exercise, Names
from exercises.messages import sentence
from exercises.not_taken import not_taken
from exercises.recognise import Seen, holds, observe, recognise
from grading.inside.border import FORGED, Kind, Other, Unreadable
from grading.remote import Gone

PROBES = sentence("it is right for inputs that appear nowhere in the exercise")


@dataclass
class Mark:
    """One question's outcome."""

    exercise: str
    points: float
    score: float = 0.0
    status: str = "blank"
    flags: list[str] = field(default_factory=list)
    checks: Checks = field(default_factory=list)  # (sentence, passed), with the student's numbers
    hint: str = ""
    mistake: str = ""  # its name in attn_core.mistakes, or its number among the exercise's
    text: str = ""  # a text answer

    def to_json(self) -> dict:
        return asdict(self)


class Answer(Protocol):
    """An answer that can be asked; `remote.Remote` is one, in its sandbox."""

    seconds: int  # that our own part may take
    gone: str  # why it answers no more
    changes: bool  # whether a function gave two answers to the same question
    raised: str  # the first exception's name, as it may be told
    late: bool  # whether something was missing right after its cell

    def kind(self, name: str) -> Kind: ...
    def value(self, name: str) -> Any: ...
    def function(self, name: str) -> Callable: ...
    def hide(self) -> None: ...
    def why(self, reason: str) -> str: ...


@dataclass
class Said:
    """All that an answer said."""

    names: Names
    seen: list[Seen] = field(default_factory=list)  # by seed, the student's own first
    passed: list[list[bool]] = field(default_factory=list)  # the same: each check, then the probes


def mark(exercise: Exercise, answer: Answer, seeds: list[int], others: Iterable[int] = ()) -> Mark:
    """Ask an answer all that is to ask, and judge what it says.

    seeds: the student's own comes first; the others are hidden, and asked of functions only. A
    check counts if it passes for every seed; the probes are one check more. Sentences, names of
    errors and reasons are those of the student's own seed, so that no hidden input shows.
    others: the seeds of other students, whose numbers a wrong answer may have.
    """
    outcome = Mark(exercise.id, float(exercise.points))
    try:
        with within(answer.seconds):
            check_there(answer)
            said = Said(fetched(exercise, answer, outcome.flags))
            if exercise.kind != "text":
                ask(exercise, answer, seeds, said)
                judge(outcome, exercise, answer, seeds[0], said)
                outcome.flags += borrowed(outcome, exercise, said.names, others)
            elif text := text_in(said.names.get(exercise.answers[0])):
                outcome.status, outcome.text = "by hand", text  # it waits for a person
    except Late:
        stop(outcome, answer.why("time"))
    except Gone as error:
        stop(outcome, str(error))
    outcome.flags = list(dict.fromkeys(outcome.flags))
    return outcome


def stop(outcome: Mark, why: str) -> None:
    outcome.status = "stopped"
    outcome.flags.append(sentence("stopped: {0}", why))


def check_there(answer: Answer) -> None:
    if answer.gone:
        raise Gone(answer.gone)


class Late(BaseException):
    """Nothing that an answer, or a check of it, would catch."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise Late where our own part takes longer: an answer can make a check work for ever."""

    def ring(*_) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fetched(exercise: Exercise, answer: Answer, flags: list[str]) -> Names:
    """The answer's names with what they hold, or call; flags get what could not be read."""
    names: Names = {}
    for name in exercise.answers:
        kind = answer.kind(name)
        if kind == "function":
            names[name] = answer.function(name)
            if exercise.kind == "values":
                flags.append(sentence("`{0}` is a function where a value was asked for", name))
        elif kind == "value":
            try:
                names[name] = answer.value(name)
            except Unreadable:
                names[name] = Other(FORGED)
            if isinstance(names[name], Other):
                what = names[name].said
                flags.append(sentence("`{0}` is {1}, which is not taken", name, what))
    return names


def ask(exercise: Exercise, answer: Answer, seeds: list[int], said: Said) -> None:
    """Hear all that the checks and the probes ask; a check that trips over an answer has failed."""
    for seed in seeds if exercise.functions else seeds[:1]:
        try:
            seen = observe(exercise, said.names, seed, answer.hide)
        except Exception:
            right = observe(exercise, exercise.run(exercise.solution, seed), seed)
            seen = Seen([(text, False) for text, _ in right.checks], [], None, [])
        check_there(answer)
        answer.hide()
        passed = [passed for _, passed in seen.checks]
        said.seen.append(seen)
        said.passed.append([*passed, holds(exercise, seen, seed)] if exercise.probes else passed)


def judge(outcome: Mark, exercise: Exercise, answer: Answer, seed: int, said: Said) -> None:
    """Score, status and reasons, by what was said. seed: the student's own."""
    own = said.seen[0]
    sentences = [text for text, _ in own.checks] + [PROBES] * bool(exercise.probes)
    good = [all(passed) for passed in zip(*said.passed, strict=True)]
    outcome.checks = list(zip(sentences, good, strict=True))
    outcome.score = round(exercise.earned(outcome.checks), 2)
    if outcome.score == outcome.points:
        outcome.status = "right"
    else:
        outcome.status = "partly" if outcome.score else "wrong"
    if answer.raised:
        outcome.flags.append(sentence("raised {0}", answer.raised))
    if answer.late:
        outcome.flags.append(sentence("needs something that is defined further down"))
    if answer.changes:
        outcome.status, outcome.score = "changes", 0.0
    elif outcome.status != "right" and is_blank(exercise, own.said, said.names):
        outcome.status, outcome.score = "blank", 0.0
    elif outcome.status != "right":
        mistake = recognise(exercise, own, seed)
        if mistake:
            outcome.hint = mistake.hint
            outcome.mistake = mistake.name or f"{exercise.mistakes.index(mistake) + 1}"
        elif why := next(filter(None, map(untaken, own.shown)), ""):
            outcome.flags.append(sentence("not taken: {0}", why))
        if all(said.passed[0]):
            outcome.flags.append(sentence("right for the given numbers only"))


def borrowed(outcome: Mark, exercise: Exercise, names: Names, others: Iterable[int]) -> list[str]:
    """A flag if the answer is right for the numbers of somebody else."""
    if outcome.status in ("wrong", "partly") and exercise.kind == "values":
        for seed in others:
            right = exercise.run(exercise.solution, seed)
            if all(name in names and same(right[name], names[name]) for name in exercise.answers):
                return [sentence("right for another student's numbers")]
    return []


def untaken(value: object) -> str:
    """Why what an answer says is not taken; "" if it is."""
    if isinstance(value, Other):
        return value.said
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple | set | frozenset):
        for why in filter(None, map(untaken, parts)):
            return why
    return not_taken(value)


def is_blank(exercise: Exercise, said: list, names: dict) -> bool:
    """Whether nothing was said: no name, `...`, or functions that give None or `...`."""
    values = [names.get(name) for name in exercise.answers if name not in exercise.functions]
    return all(value is None or value is ... for value in [*said, *values])


def text_in(value: object) -> str:
    """The text that an answer is; "" if it is none, or of blanks alone."""
    return value if isinstance(value, str) and value.strip() else ""
