"""Grade what was handed in: sandbox, nbgrader's gradebook, feedback pages, tables.

    python -m grading grade COURSE [--assignment NAME] [--jobs 4] [--dask local] [--rebuild]

It may be ended at any time and started again: what is graded stays graded.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.utils import parse_utc
from tqdm import tqdm

from grading import engine, gradebook, interrupts, pages, report, sandbox
from grading.course import Assignment, Course
from grading.handins import read_file
from grading.make import private, prove
from grading.sandbox import CannotGrade
from grading.seams import api, said
from grading.slips import misplaced
from grading.submission import is_done, rebuilt_path, stored
from grading.terminal import ended, say, stop

# What nbgrader's exchange puts beside a hand-in: when it came, and what leads feedback back to it.
TIMESTAMP = "timestamp.txt"
OF_THE_EXCHANGE = {
    TIMESTAMP: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?( [\w/+:-]{1,40})?\s*"),
    "submission_secret.txt": re.compile(r"\w{1,200}\s*"),
}
SHORT = 1000  # bytes

Failures = dict[engine.Job, str]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("course", type=Path)
    parser.add_argument("--assignment", action="append", help="this one only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--dask", help='a scheduler\'s address, or "local"')
    parser.add_argument(
        "--rebuild", action="store_true", help="make the gradebook anew from the stored results"
    )
    return parser.parse_args()


def bar(total: int, words: str):
    return tqdm(total=total, desc=words, file=sys.stderr, disable=not total, mininterval=0.5)


def run(course: Course, wanted: list[Assignment], jobs: int, dask: str | None) -> Failures:
    """Grade all that is not graded yet. Returns what failed, and why."""
    todo = [
        (assignment.name, student)
        for assignment in wanted
        for student in course.students(assignment.name)
        if not is_done(course, assignment, student)
    ]
    most = max((len(assignment.exercises) for assignment in wanted), default=0)
    seconds = engine.longest(course.limits, most)
    graded = (
        engine.dask(course.folder, todo, jobs, seconds, dask)
        if dask and todo
        else engine.local(course.folder, todo, jobs, seconds)
    )
    failed = {}
    with bar(len(todo), "grading") as progress:
        for job, why in graded:
            interrupts.heed()
            progress.update()
            if why:
                failed[job] = why
    return failed


def bring(course: Course, assignment: str, student: str) -> None:
    """Put what the exchange gave with a hand-in beside what is graded."""
    for name, form in OF_THE_EXCHANGE.items():
        raw = read_file(course.folder / "submitted", student, assignment, name, most=SHORT)
        text = (raw or b"").decode(errors="replace")
        if form.fullmatch(text) and (name != TIMESTAMP or is_time(text)):
            rebuilt_path(course, assignment, student).with_name(name).write_bytes(raw)


def is_time(text: str) -> bool:
    """Whether nbgrader can read a time, which a student may have written."""
    try:
        return bool(parse_utc(text))
    except (ValueError, OverflowError):  # the 45th of a month, or the year 0
        return False


def record(course: Course, assignment: Assignment, jobs: int) -> Failures:
    """Put new results into nbgrader's gradebook, and write the feedback. Returns what failed."""
    name = assignment.name
    if not gradebook.has_assignment(course, assignment):
        gradebook.register(course, assignment)
    noted = gradebook.Noted(course, assignment)
    known = gradebook.hands(course, assignment)
    noted.see(known)
    done = [student for student in course.students(name) if is_done(course, assignment, student)]
    stale = [student for student in done if student not in known or not is_shown(noted, student)]
    nbgrader, failed = api(course.folder, submitted="rebuilt"), {}
    with bar(len(stale), "gradebook") as progress:
        for student in stale:
            interrupts.heed()
            if why := enter(nbgrader, noted, student, student in known):
                failed[name, student] = why
            noted.save()
            progress.update()
    entered = [student for student in stale if (name, student) not in failed]
    with bar(len(entered), "feedback") as progress:
        for student, why in pages.make(course, name, entered, jobs):
            interrupts.heed()
            if why:
                failed[name, student] = why
            else:
                noted.of(student)["shown"] = noted.state(student)
                noted.save()
            progress.update()
    return failed


def is_shown(noted: gradebook.Noted, student: str) -> bool:
    """Whether a student's page shows the result, and the points by hand, as they are now."""
    name = noted.assignment.name
    page = noted.course.folder / "feedback" / student / name / f"{name}.html"
    return page.is_file() and noted.of(student)["shown"] == noted.state(student)


def enter(nbgrader: NbGraderAPI, noted: gradebook.Noted, student: str, known: bool) -> str:
    """Bring the gradebook up to date for one student. Returns "", or why that failed."""
    name, mine = noted.assignment.name, noted.of(student)
    if known and mine["recorded"] == noted.result(student):
        return ""
    bring(noted.course, name, student)
    if why := said(nbgrader.autograde, name, student):
        return why
    gradebook.give_back(noted, student)
    mine["recorded"] = noted.result(student)
    mine["file"] = stored(noted.course, name, student)["file"]
    return ""


def grade(course: Course, asked: argparse.Namespace) -> Failures:
    """Grade, and say what came of it. Returns what failed, and why."""
    private(course)  # a folder may have come since
    sandbox.check(course.folder / "secret" if course.secret else course.folder)
    wanted = [course.assignment(name) for name in asked.assignment or course.assignments]
    for assignment in wanted:
        if not (course.folder / "release" / assignment.name).is_dir():
            raise CannotGrade(f"{assignment.name} is not released: run `make course` first")
    if asked.rebuild:
        gradebook.aside(course)
    else:
        gradebook.check(course)
    gradebook.enrol(course)
    for assignment in wanted:
        prove(course, assignment)
    failed = run(course, wanted, asked.jobs, asked.dask)
    slips = misplaced(course)
    for assignment in wanted:
        failed |= record(course, assignment, asked.jobs)
        counts = Counter(row["status"] for row in report.write(course, assignment, failed, slips))
        words = ", ".join(
            f"{count} {report.worded(status, count)}" for status, count in counts.items()
        )
        say(f"{assignment.name}: {words} · grades/{assignment.name}.csv")
    for _, words in slips:
        say(f"  {words}")
    for (name, student), why in failed.items():
        say(f"  not graded: {student}, {name}: {why}")
    return failed


def main() -> None:
    asked = arguments()
    os.umask(0o077)
    interrupts.listen()
    try:
        course = Course.open(asked.course)
        with course.alone("grade"):
            failed = grade(course, asked)
    except CannotGrade as error:
        stop(f"Cannot grade: {ended(error)}")
    except KeyboardInterrupt:
        stop("Stopped. What is graded stays graded; the same command goes on.")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
