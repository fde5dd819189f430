"""A course: one folder, kept out of the book's repository, that holds all that is private.

course.toml     what is assigned, and whether each student has numbers of their own
roster.csv      id,name,email: who is graded; a submission's folder must bear one of these ids
secret          from it come everyone's numbers and the hidden inputs; whoever has it has them
exercises/      exercises of one's own, in the form of the book's
submitted/<id>/<assignment>/<assignment>.ipynb   what came in, as nbgrader collects it
results/        one file for each graded submission
"""

from __future__ import annotations

import fcntl
import os
import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import exercises
from exercises.form import Exercise
from exercises.messages import ENGLISH, Messages
from grading import settings
from grading.handins import HandIn, hand_in
from grading.numbers import given
from grading.sandbox import CannotGrade, Limits
from grading.words import words

SETTINGS = """\
# {about}
# {of_book}
title = "{title}"
language = "{language}"  # {about_language}
numbers = "student"  # {about_numbers}

{assignments}
# [limits]  # {about_limits}
# cell = {cell}
# whole = {whole}
# memory = {memory}
"""

ASSIGNMENT = """\
[assignments.{name}]
exercises = [{ids}]
"""

NO_SECRET = (
    "there is no file secret in {folder}: `make course` writes one, and without it nobody's "
    "numbers are known"
)
LOST_SECRET = (
    "the file secret in {folder} is gone, and notebooks were handed out with its numbers: bring it "
    "back from a copy"
)


@dataclass(frozen=True)
class Assignment:
    """A notebook of exercises."""

    name: str
    exercises: tuple[Exercise, ...]
    say: Messages = ENGLISH  # in the language of the course

    @property
    def points(self) -> float:
        return float(sum(exercise.points for exercise in self.exercises))


@dataclass
class Course:
    """What a course's folder says."""

    folder: Path
    settings: dict
    roster: dict[str, settings.Student]

    @classmethod
    def open(cls, folder: Path | str) -> Course:
        folder = Path(folder).resolve()
        return cls(folder, settings.read(folder), settings.roster(folder))

    @cached_property
    def secret(self) -> bytes:
        path = self.folder / "secret"
        text = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        if len(text) < 32:
            said = LOST_SECRET if any(self.folder.glob("release/*")) else NO_SECRET
            raise CannotGrade(said.format(folder=self.folder))
        return text.encode()

    @cached_property
    def limits(self) -> Limits:
        return Limits(**self.settings.get("limits", {}))

    @property
    def language(self) -> str:
        return self.settings.get("language", "en")

    @property
    def say(self) -> Messages:
        """What the course says, by the English messages."""
        return words(self.language)

    @cached_property
    def known(self) -> dict[str, Exercise]:
        """The book's exercises, in the course's language, and the course's own, by their ids."""
        books = {name: exercise.translated(self.say) for name, exercise in exercises.load().items()}
        return {**books, **own_exercises(self.folder / "exercises")}

    @cached_property
    def assignments(self) -> dict[str, Assignment]:
        assignments = {}
        for name, wanted in self.settings.get("assignments", {}).items():
            for exercise in wanted["exercises"]:
                if exercise not in self.known:
                    close = settings.instead(exercise, self.known)
                    line = settings.line_of(self.folder, exercise, f"assignments.{name}")
                    raise CannotGrade(
                        f"course.toml, line {line}: there is no exercise {exercise!r}{close}"
                    )
            asked = tuple(self.known[exercise] for exercise in wanted["exercises"])
            assignments[name] = Assignment(name, asked, self.say)
            if clash := collision(assignments[name]):
                raise CannotGrade(clash)
        return assignments

    def assignment(self, name: str) -> Assignment:
        if name not in self.assignments:
            close = settings.instead(name, self.assignments)
            raise CannotGrade(f"course.toml has no assignment {name!r}{close}")
        return self.assignments[name]

    def whose(self, student: str) -> str:
        """By whom the numbers of a student are drawn: the student, or the whole class."""
        return student if self.settings.get("numbers", "student") == "student" else ""

    def handed_in(self, assignment: str, student: str) -> HandIn | None:
        return hand_in(self.folder / "submitted", student, assignment)

    def flags(self, assignment: str, student: str, result: dict | None) -> list[str]:
        """The flags of a whole submission, which may have been taken away since."""
        return (self.handed_in(assignment, student) or HandIn(b"")).all_flags(result)

    def students(self, assignment: str) -> list[str]:
        """Those of the roster who handed something in."""
        return [student for student in self.roster if self.handed_in(assignment, student)]

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Hold the course, or raise CannotGrade where another command does."""
        with (self.folder / ".lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                raise CannotGrade(
                    f"{file.read().strip() or 'another command'} is at work in this course: wait "
                    "until it ends, or stop it"
                ) from None
            file.truncate(0)
            file.write(f"`make {what}` (process {os.getpid()})")
            file.flush()
            yield

    def result(self, assignment: str, student: str) -> Path:
        return self.folder / "results" / assignment / f"{student}.json"


def collision(assignment: Assignment) -> str:
    """A sentence about two exercises that use one name, or nothing."""
    owner: dict[str, str] = {}
    for exercise in assignment.exercises:
        for name in exercise.answers:
            if name in owner:
                return (
                    f"assignment {assignment.name}: {owner[name]} and {exercise.id} both ask for "
                    f"`{name}`; put them into two assignments"
                )
            owner[name] = exercise.id
    for exercise in assignment.exercises:
        lines = given(exercise, 1).split("\n")
        for name in {line.split(" = ")[0] for line in lines} & set(owner):
            if owner[name] != exercise.id:
                return (
                    f"assignment {assignment.name}: {exercise.id} gives `{name}`, an answer of "
                    f"{owner[name]}; put them into two assignments"
                )
    return ""


def own_exercises(folder: Path) -> dict[str, Exercise]:
    """The course's own exercises; CannotGrade, with its file and line, if one can't be read."""
    try:
        return exercises.load(folder)
    except SyntaxError as error:
        place = f"{Path(error.filename or folder).name}, line {error.lineno}"
        why = error.msg
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).parent == folder]
        place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
        why = f"{type(error).__name__}: {error}"
    raise CannotGrade(f"exercises/{place}: {why}")


def start(folder: Path, chapters: list[str], language: str = "en") -> None:
    """Write what a new course begins with; what is there already stays.

    CannotGrade if the secret of a course is gone: with another one all numbers would change.
    """
    _ = words(language)
    if not (folder / "secret").exists() and any(folder.glob("release/*")):
        raise CannotGrade(LOST_SECRET.format(folder=folder))
    (folder / "exercises").mkdir(parents=True, exist_ok=True)
    known = exercises.load()
    wanted = [
        ASSIGNMENT.format(
            name=f"chapter-{chapter}",
            ids=", ".join(
                f'"{exercise.id}"' for exercise in known.values() if exercise.chapter == chapter
            ),
        )
        for chapter in chapters
    ]
    limits = Limits()
    text = SETTINGS.format(
        about=_(
            "What is assigned: exercises of the book or of this folder's exercises/, by their ids."
        ),
        of_book=_("The ids of the book's: {ids}").format(ids=", ".join(known)),
        title=_("Attention"),
        language=language,
        about_language=_('of handouts, feedback, keys and tables: "en" or "zh"'),
        about_numbers=_('each student\'s own; "class": the same for all'),
        about_limits=_(
            "for one submission, in seconds and bytes; these are the defaults without this section"
        ),
        assignments="\n".join(wanted),
        cell=limits.cell,
        whole=limits.whole,
        memory=limits.memory,
    )
    for name, content in (
        ("course.toml", text),
        ("roster.csv", "id,name,email\nada,Ada Example,ada@example.org\nbob,Bob Example,\n"),
    ):
        if not (folder / name).exists():
            (folder / name).write_text(content, encoding="utf-8")
    if not (folder / "secret").exists():
        descriptor = os.open(folder / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
