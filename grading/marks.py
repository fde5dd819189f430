"""What an answer is worth, decided outside the student's process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from exercises.comparing import same
from exercises.form import Checks, Exercise
from exercises.messages import sentence
from exercises.not_taken import not_taken
from exercises.recognise import Seen, holds, observe, recognise
from grading.inside.border import FORGED, Other, Unreadable
from grading.remote import Gone, Remote

PROBES = sentence("it is right for inputs that stand nowhere in the exercise")


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


def fetch(exercise: Exercise, answer: Remote) -> tuple[dict, list[str]]:
    """The answer's names with what they hold, or call; and flags for what could not be read."""
    names, flags = {}, []
    for name in exercise.answers:
        kind = answer.kind(name)
        if kind == "function":
            names[name] = answer.function(name)
            if exercise.kind == "values":
                said = sentence("`{0}` is a function where a value was asked for", name)
                flags.append(said)
        elif kind == "value":
            try:
                names[name] = answer.value(name)
            except Unreadable:
                names[name] = Other(FORGED)
            if isinstance(names[name], Other):
                what = names[name].said
                said = sentence("`{0}` is {1}, which is not taken", name, what)
                flags.append(said)
    return names, flags


def mark(exercise: Exercise, answer: Remote, seeds: list[int]) -> Mark:
    """Ask an answer all that is to ask.

    seeds: the student's own comes first; the others are hidden, and asked of functions only. A
    check counts if it passes for every seed; the probes are one check more. Sentences, names of
    errors and reasons are those of the student's own seed, so that no hidden input shows.
    """
    outcome = Mark(exercise.id, float(exercise.points))
    try:
        with within(answer.box.limits.call):
            return marked(outcome, exercise, answer, seeds)
    except Late:
        stopped(outcome, answer.why("time"))
    except Gone as error:
        stopped(outcome, str(error))
    return outcome


def stopped(outcome: Mark, why: str) -> None:
    outcome.status = "stopped"
    outcome.flags = [*outcome.flags, sentence("stopped: {0}", why)]


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


def marked(outcome: Mark, exercise: Exercise, answer: Remote, seeds: list[int]) -> Mark:
    names, outcome.flags = fetch(exercise, answer)
    if exercise.kind == "text":
        return read(outcome, names.get(exercise.answers[0]))
    return decide(outcome, exercise, answer, names, seeds)


def read(outcome: Mark, text: object) -> Mark:
    """A text waits for a person, unless there is none."""
    if isinstance(text, str) and text.strip():
        outcome.status, outcome.text = "by hand", text
    return outcome


def decide(
    outcome: Mark, exercise: Exercise, answer: Remote, names: dict, seeds: list[int]
) -> Mark:
    seen, all_seen = None, []
    for seed in seeds if exercise.functions else seeds[:1]:
        asked = ask(exercise, answer, names, seed)
        answer.hide()
        seen = seen or asked
        passed = [passed for _, passed in asked.checks]
        all_seen.append([*passed, holds(exercise, asked, seed)] if exercise.probes else passed)
    sentences = [text for text, _ in seen.checks] + [PROBES] * bool(exercise.probes)
    good = [all(passed) for passed in zip(*all_seen, strict=True)]
    outcome.checks = list(zip(sentences, good, strict=True))
    outcome.score = round(exercise.earned(outcome.checks), 2)
    if outcome.score == outcome.points:
        outcome.status = "right"
    else:
        outcome.status = "partly" if outcome.score else "wrong"
    if answer.raised:
        outcome.flags.append(sentence("raised {0}", answer.raised))
    if answer.late:
        outcome.flags.append(sentence("needs what stands further down"))
    if answer.changes:
        outcome.status, outcome.score = "changes", 0.0
    elif outcome.status != "right" and is_blank(exercise, seen.said, names):
        outcome.status, outcome.score = "blank", 0.0
    elif outcome.status != "right":
        mistake = recognise(exercise, seen, seeds[0])
        if mistake:
            outcome.hint = mistake.hint
            outcome.mistake = mistake.name or f"{exercise.mistakes.index(mistake) + 1}"
        elif why := next(filter(None, map(untaken, seen.shown)), ""):
            outcome.flags.append(sentence("not taken: {0}", why))
        if all(all_seen[0]):
            outcome.flags.append(sentence("right for the given numbers only"))
    outcome.flags = list(dict.fromkeys(outcome.flags))
    return outcome


def ask(exercise: Exercise, answer: Remote, names: dict, seed: int) -> Seen:
    """All that is seen of an answer; a check that trips over what it was given has failed."""
    try:
        seen = observe(exercise, names, seed, answer.hide)
    except Exception:
        right = observe(exercise, exercise.run(exercise.solution, seed), seed)
        seen = Seen([(text, False) for text, _ in right.checks], [], None, [])
    if answer.gone:
        raise Gone(answer.gone)
    return seen


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


def fits(exercise: Exercise, names: dict, seed: int) -> bool:
    """Whether all the values of an answer are those that the solution has for this seed."""
    if exercise.kind != "values":
        return False
    right = exercise.run(exercise.solution, seed)
    return all(name in names and same(right[name], names[name]) for name in exercise.answers)
