"""nbgrader's gradebook: what it holds of us, and what it holds of a person.

Results are ours (`results/`), and the gradebook can be made again from them. Only what a person has
given in formgrader, points and comments, stands in the gradebook alone; each `make grade` notes it
in `by-hand/`, from where it comes back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SQLAlchemyError

from grading.course import Assignment, Course
from grading.sandbox import CannotGrade
from grading.seams import api, must, quiet
from grading.submission import stored, write

BROKEN = (
    "gradebook.db {what}: `make grade COURSE={folder} REBUILD=1` puts it aside and makes a new one "
    "from the stored results, and from the points by hand that the last `make grade` saw"
)

BUSY = "another program is writing to gradebook.db: wait until it ends, and grade again"

Hand = dict[str, dict]  # by the name of a cell: points, extra points, a comment


def path(course: Course) -> Path:
    return course.folder / "gradebook.db"


def check(course: Course) -> None:
    """Raise CannotGrade, in one sentence, where there was a gradebook and it can't be used."""
    if not path(course).exists():
        if any((course.folder / "results").glob("*/[!.]*.json")):
            raise broken(course, "is missing, and there are results")
        return
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path(course)}?mode=ro", uri=True)) as book:
            (said,) = book.execute("pragma quick_check").fetchone()
            book.execute("select count(*) from grade").fetchone()
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise unusable(course, "read", said)


@contextlib.contextmanager
def opened(course: Course) -> Iterator[Gradebook]:
    try:
        with quiet(), Gradebook(f"sqlite:///{path(course)}") as book:
            yield book
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or type(error).__name__)
        raise unusable(course, "used", said) from None


class Busy(CannotGrade):
    """Another program holds the gradebook."""


def broken(course: Course, what: str) -> CannotGrade:
    return CannotGrade(BROKEN.format(what=what, folder=course.folder))


def unusable(course: Course, what: str, said: str) -> CannotGrade:
    """What to say of a gradebook, by SQLite's own words."""
    return Busy(BUSY) if "locked" in said else broken(course, f"can't be {what} ({said})")


def aside(course: Course) -> None:
    """Put the gradebook out of the way, and keep it; first note what a person gave, if possible."""
    try:
        check(course)
        for assignment in course.assignments.values() if path(course).exists() else ():
            Noted(course, assignment).see(hands(course, assignment))
    except Busy:
        raise
    except CannotGrade:
        pass  # nothing more is to be had of it
    for number in range(1, 1000):
        kept = path(course).with_name(f"gradebook.db.{number}")
        if path(course).exists() and not kept.exists():
            path(course).rename(kept)


def enrol(course: Course) -> None:
    """Put the roster into the gradebook."""
    with opened(course) as book:
        for student in course.roster.values():
            first, _, last = student.name.rpartition(" ")
            book.update_or_create_student(
                student.id, first_name=first, last_name=last, email=student.email
            )
    path(course).chmod(0o600)


def register(course: Course, assignment: Assignment) -> None:
    """Let the gradebook know an assignment; this writes nbgrader's release, too."""
    must(api(course.folder).generate_assignment(assignment.name), f"release {assignment.name}")


def has_assignment(course: Course, assignment: Assignment) -> bool:
    with opened(course) as book, contextlib.suppress(MissingEntry):
        return bool(book.find_notebook(assignment.name, assignment.name))
    return False


def check_exercises(course: Course, assignment: Assignment) -> None:
    """CannotGrade if an assignment that was graded is to have other exercises.

    nbgrader has no way to take cells from those who were graded by them.
    """
    wanted = {exercise.id for exercise in assignment.exercises}
    with opened(course) as book, contextlib.suppress(MissingEntry):
        notebook = book.find_notebook(assignment.name, assignment.name)
        before = {cell.name.split("-", 1)[1] for cell in notebook.grade_cells}
        if before != wanted and book.assignment_submissions(assignment.name):
            raise CannotGrade(
                f"{assignment.name} has been graded with {', '.join(sorted(before))}: put these "
                "back, or make another assignment of the new ones"
            )


def hands(course: Course, assignment: Assignment) -> dict[str, Hand]:
    """What stands in the gradebook by the hand of a person, by student."""
    by_student: dict[str, Hand] = {}
    if not has_assignment(course, assignment):
        return by_student
    with opened(course) as book:
        for submission in book.assignment_submissions(assignment.name):
            hand: Hand = {}
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.manual_score is not None or grade.extra_credit:
                        hand.setdefault(grade.name, {}).update(
                            points=grade.manual_score,
                            extra=grade.extra_credit,
                        )
                for comment in notebook.comments:
                    if comment.manual_comment:
                        hand.setdefault(comment.name, {})["comment"] = comment.manual_comment
            by_student[submission.student.id] = hand
    return by_student


class Noted:
    """What the last `make grade` has seen, in a file for each assignment.

    For each student: the points and comments by hand, to which hand-in they were given, which
    result stands in the gradebook, and what the feedback page shows.
    """

    def __init__(self, course: Course, assignment: Assignment) -> None:
        self.course, self.assignment = course, assignment
        self.file = course.folder / "by-hand" / f"{assignment.name}.json"
        self.students: dict[str, dict] = {}
        with contextlib.suppress(OSError, ValueError):
            self.students = json.loads(self.file.read_text(encoding="utf-8"))

    def save(self) -> None:
        write(self.file, json.dumps(self.students, indent=1, ensure_ascii=False))

    def of(self, student: str) -> dict:
        empty = {"hand": {}, "file": "", "recorded": "", "shown": ""}
        return self.students.setdefault(student, empty)

    def see(self, now: dict[str, Hand]) -> None:
        """Note what stands in the gradebook now."""
        for student, hand in now.items():
            self.of(student)["hand"] = hand
        self.save()

    def result(self, student: str) -> str:
        """A student's result, as a hash."""
        file = self.course.result(self.assignment.name, student)
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def state(self, student: str) -> str:
        """What a student's page has to show, as a hash."""
        given = [
            [cell, *map(str, entry.values())] for cell, entry in self.of(student)["hand"].items()
        ]
        name = self.assignment.name
        flags = self.course.flags(name, student, stored(self.course, name, student))
        return hashlib.sha256(repr((self.result(student), given, flags)).encode()).hexdigest()


def give_back(noted: Noted, student: str) -> None:
    """Set what a person has given. It stands if it was given for this very hand-in; else it waits
    to be looked at again."""
    name, mine = noted.assignment.name, noted.of(student)
    same = mine["file"] == stored(noted.course, name, student)["file"]
    with opened(noted.course) as book:
        for cell, given in mine["hand"].items():
            with contextlib.suppress(MissingEntry):
                if "comment" in given:
                    comment = book.find_comment(cell, name, name, student)
                    comment.manual_comment = given["comment"]
                if "points" in given:
                    grade = book.find_grade(cell, name, name, student)
                    grade.manual_score, grade.extra_credit = given["points"], given["extra"]
                    waits = given["points"] is not None or grade.auto_score is None
                    grade.needs_manual_grade = waits and not same
        book.db.commit()
