"""Grade what was handed in: sandbox, nbgrader's gradebook, feedback pages, tables.

    python -m tools.grading.grade COURSE [--assignment NAME] [--jobs 4] [--dask local]

It may be ended at any time and started again: what is graded stays graded.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from tools.grading import engine, report, sandbox
from tools.grading.course import Assignment, Course
from tools.grading.make import enrol, prove
from tools.grading.one import is_done, rebuilt
from tools.grading.sandbox import CannotGrade
from tools.grading.seams import api, quiet

# What nbgrader's exchange puts beside a hand-in: when it came, and what leads feedback back to it.
OF_THE_EXCHANGE = ("timestamp.txt", "submission_secret.txt")
SHORT = 1000  # bytes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("course", type=Path)
    parser.add_argument("--assignment", action="append", help="this one only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--dask", help='a scheduler\'s address, or "local"')
    return parser.parse_args()


def bar(total: int, words: str):
    return tqdm(total=total, desc=words, file=sys.stderr, disable=not total, mininterval=0.5)


def run(course: Course, wanted: list[Assignment], jobs: int, dask: str | None) -> dict:
    """Grade all that is not graded yet. Returns what failed, and why."""
    todo = [
        (assignment.name, student)
        for assignment in wanted
        for student in course.students(assignment.name)
        if not is_done(course, assignment, student)
    ]
    most = max((len(assignment.exercises) for assignment in wanted), default=0)
    seconds = course.limits.whole + most * course.limits.call + engine.SLACK
    graded = (
        engine.dask(course.folder, todo, jobs, seconds, dask)
        if dask and todo
        else engine.local(course.folder, todo, jobs, seconds)
    )
    failed = {}
    with bar(len(todo), "grading") as progress:
        for job, why in graded:
            progress.update()
            if why:
                failed[job] = why
    return failed


def bring(course: Course, assignment: str, student: str) -> None:
    """Put what the exchange gave with a hand-in beside what is graded; a link is not followed."""
    for name in OF_THE_EXCHANGE:
        path = course.folder / "submitted" / student / assignment / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size < SHORT:
            rebuilt(course, assignment, student).with_name(name).write_bytes(path.read_bytes())


def record(course: Course, assignment: Assignment) -> dict:
    """Put new results into nbgrader's gradebook, and write the feedback. Returns what failed."""
    fresh = []
    for student in course.students(assignment.name):
        page = course.folder / "feedback" / student / assignment.name / f"{assignment.name}.html"
        result = course.result(assignment.name, student)
        if is_done(course, assignment, student) and not (
            page.is_file() and page.stat().st_mtime_ns > result.stat().st_mtime_ns
        ):
            fresh.append(student)
    nbgrader, failed = api(course.folder, submitted="rebuilt"), {}
    with bar(len(fresh), "gradebook and feedback") as progress:
        for student in fresh:
            bring(course, assignment.name, student)
            for step in (nbgrader.autograde, nbgrader.generate_feedback):
                with quiet():
                    done = step(assignment.name, student)
                if not done["success"]:
                    said = (done.get("error") or done.get("log") or "").strip().split("\n")
                    failed[assignment.name, student] = said[-1]
                    break
            progress.update()
    return failed


def main() -> None:
    asked = arguments()
    failed: dict = {}
    try:
        course = Course.open(asked.course)
        sandbox.check(course.folder / "secret" if course.secret else course.folder)
        names = asked.assignment or list(course.assignments)
        wanted = [course.assignment(name) for name in names]
        enrol(course)
        for assignment in wanted:
            if not (course.folder / "release" / assignment.name).is_dir():
                raise CannotGrade(f"{assignment.name} is not released: run `make course` first")
            prove(course, assignment)
    except CannotGrade as error:
        sys.exit(f"Cannot grade: {error}.")
    failed |= run(course, wanted, asked.jobs, asked.dask)
    for assignment in wanted:
        failed |= record(course, assignment)
        counts = Counter(row["status"] for row in report.write(course, assignment))
        said = ", ".join(f"{count} {status}" for status, count in counts.items())
        print(f"{assignment.name}: {said} · grades/{assignment.name}.csv")
        if strangers := course.strangers(assignment.name):
            print(f"  not on the roster, so not graded: {', '.join(strangers)}")
    for (name, student), why in failed.items():
        print(f"  not graded: {student}, {name}: {why}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
