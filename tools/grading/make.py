"""Make a course, or make it anew after its settings have changed.

    python -m tools.grading.make COURSE [CHAPTER …]

Nothing is released before the solution was graded to full marks and the blank to zero, in the
sandbox, as a student's would be.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from tools.grading import keys, sandbox
from tools.grading.course import Assignment, Course, start
from tools.grading.notebooks import build
from tools.grading.numbers import seeds_of
from tools.grading.one import digest, grade, write
from tools.grading.sandbox import CannotGrade
from tools.grading.seams import api, must, write_settings

NOBODY = ".solution"  # no student's id begins with a dot


def tell(text: str) -> None:
    print(text, flush=True)


def prove(course: Course, assignment: Assignment) -> None:
    """Grade the solution and the blank; raise CannotGrade unless they get all and nothing."""
    for answer in ("solution", "starter"):
        notebook = build(course, assignment, NOBODY, answer)
        raw = nbformat.writes(notebook).encode()
        path = course.folder / "results" / assignment.name / f".{answer}"
        now = digest(course, assignment, NOBODY, raw)
        if path.is_file() and path.read_text(encoding="utf-8") == now:
            continue
        result, _ = grade(course, assignment, NOBODY, raw, [])
        for mark in result["marks"]:
            full = "by hand" if mark["status"] == "by hand" else "right"
            wanted = full if answer == "solution" else "blank"
            if mark["status"] != wanted or (mark["score"] and answer == "starter"):
                failed = [sentence for sentence, passed in mark["checks"] if not passed]
                why = "; ".join([*mark["flags"], *result["flags"], *failed][:4])
                raise CannotGrade(
                    f"assignment {assignment.name}: the {answer} of {mark['exercise']} must be "
                    f"graded {wanted}, and was graded {mark['status']} ({why}); nothing was "
                    "released"
                )
        write(path, now)


def prove_all_numbers(course: Course, assignment: Assignment) -> None:
    """Each student's own numbers have a solution, too."""
    for exercise in assignment.exercises:
        for student in course.roster if exercise.kind != "text" else ():
            for seed in seeds_of(course.secret, exercise.id, course.whose(student)):
                failed = [s for s, good in exercise.answer(exercise.solution, seed) if not good]
                if failed:
                    raise CannotGrade(
                        f"{exercise.id}: the solution fails for {student}'s numbers: {failed[0]}"
                    )


def enrol(course: Course) -> None:
    """Put the roster into nbgrader's gradebook."""
    students = course.roster.values()
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        for student in students:
            first, _, last = student.name.rpartition(" ")
            book.update_or_create_student(
                student.id, first_name=first, last_name=last, email=student.email
            )


def release(course: Course, assignment: Assignment) -> None:
    """nbgrader's source and release, a handout for each student, and the key."""
    name = assignment.name
    source = course.folder / "source" / name / f"{name}.ipynb"
    write(source, nbformat.writes(build(course, assignment, "", "source")))
    must(api(course.folder).generate_assignment(name), f"release {name}")
    handouts = course.folder / "handout" / name
    shutil.rmtree(handouts, ignore_errors=True)
    if course.whose("x"):
        for student in course.roster:
            notebook = build(course, assignment, student, "starter")
            write(handouts / student / f"{name}.ipynb", nbformat.writes(notebook))
    keys.write(course, assignment)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tools.grading.make COURSE [CHAPTER …]")
    folder = Path(sys.argv[1]).resolve()
    try:
        start(folder, sys.argv[2:] or ["03", "04"])
        course = Course.open(folder)
        write_settings(folder)
        sandbox.check(folder / "secret")
        enrol(course)
        for assignment in course.assignments.values():
            prove(course, assignment)
            prove_all_numbers(course, assignment)
            release(course, assignment)
            count = len(assignment.exercises)
            tell(f"{assignment.name}: {count} exercises, {assignment.points:g} points")
    except CannotGrade as error:
        sys.exit(f"Cannot make the course: {error}.")
    tell(f"The course is at {folder}: handout/, release/, keys/. Then: make grade COURSE={folder}")


if __name__ == "__main__":
    main()
