"""What an answer is worth, decided outside the student's process."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from exercises.comparing import same
from exercises.form import Checks, Exercise
from exercises.recognise import Seen, holds, observe, recognise
from tools.grading.encode import Unreadable
from tools.grading.remote import Gone, Raised, Remote

STATUSES = {
    "right": "everything that was asked",
    "partly": "some of it",
    "wrong": "an answer, and none of it right",
    "blank": "no answer",
    "changes": "two answers to the same question",
    "stopped": "it took too long, or too much, or ended its process",
    "by hand": "a text, which a person reads",
}

PROBES = "it is right for inputs that stand nowhere in the exercise"


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


def fetch(exercise: Exercise, student: Remote) -> tuple[dict, list[str]]:
    """The answer's names with what they hold, or call; and flags for what could not be read."""
    names, flags = {}, []
    kinds = student.kinds(exercise.answers)
    for name, kind in zip(exercise.answers, kinds, strict=True):
        if kind == "function":
            names[name] = student.function(name)
        elif kind == "value":
            try:
                names[name] = student.value(name)
            except (Raised, Unreadable):
                flags.append(f"`{name}` can't be read")
    if "text" != exercise.kind != "function" and "function" in kinds:
        flags.append("a function where a value was asked for")
    return names, flags


def mark(exercise: Exercise, student: Remote, seeds: list[int]) -> Mark:
    """Ask an answer all that is to ask.

    seeds: the student's own comes first; the others are hidden, and asked of functions only. A
    check counts if it passes for every seed; the probes are one check more. Sentences are taken
    from the student's own seed, so that no hidden input shows.
    """
    found = Mark(exercise.id, float(exercise.points))
    try:
        names, found.flags = fetch(exercise, student)
        if exercise.kind == "text":
            return read(found, names.get(exercise.answers[0]))
        return decide(found, exercise, student, names, seeds)
    except Gone as error:
        found.status = "stopped"
        found.flags.append(f"stopped: {error}")
    return found


def read(found: Mark, text: object) -> Mark:
    """A text waits for a person, unless there is none."""
    if isinstance(text, str) and text.strip():
        found.status, found.text = "by hand", text
    return found


def decide(found: Mark, exercise: Exercise, student: Remote, names: dict, seeds: list[int]) -> Mark:
    seen, all_seen = None, []
    for seed in seeds if exercise.functions else seeds[:1]:
        asked = ask(exercise, student, names, seed)
        seen = seen or asked
        passed = [passed for _, passed in asked.checks]
        all_seen.append([*passed, holds(exercise, asked, seed)] if exercise.probes else passed)
    sentences = [sentence for sentence, _ in seen.checks] + [PROBES] * bool(exercise.probes)
    good = [all(passed) for passed in zip(*all_seen, strict=True)]
    found.checks = list(zip(sentences, good, strict=True))
    found.score = round(exercise.earned(found.checks), 2)
    found.status = "right" if all(good) else "partly" if any(good) else "wrong"
    if student.raised:
        found.flags.append(f"raised {student.raised}")
    if student.changes:
        found.status, found.score = "changes", 0.0
    elif found.status != "right" and is_blank(exercise, seen.said, names):
        found.status, found.score = "blank", 0.0
    elif found.status != "right":
        mistake = recognise(exercise, seen, seeds[0])
        if mistake:
            found.hint = mistake.hint
            found.mistake = mistake.name or f"{exercise.mistakes.index(mistake) + 1}"
        if all(all_seen[0]):
            found.flags.append("right for the given numbers only")
    found.flags = list(dict.fromkeys(found.flags))
    return found


def ask(exercise: Exercise, student: Remote, names: dict, seed: int) -> Seen:
    """All that is seen of an answer; a check that trips over what it was given has failed."""
    try:
        seen = observe(exercise, names, seed)
    except Exception:
        right = observe(exercise, exercise.run(exercise.solution, seed), seed)
        seen = Seen([(sentence, False) for sentence, _ in right.checks], [], None, [])
    if student.gone:
        raise Gone(student.gone)
    return seen


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
