"""Make a course, or make it anew after its settings have changed.

    python -m grading make COURSE [CHAPTER …] [--language zh]

Nothing is released before the solution was graded to full marks and the blank to zero, in the
sandbox, as a student's would be.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import nbformat

from grading import gradebook, interrupts, keys, sandbox, settings
from grading.course import Assignment, Course, start
from grading.notebooks import build, counted
from grading.numbers import seeds_of
from grading.sandbox import CannotGrade
from grading.seams import write_settings
from grading.submission import digest, grade, write
from grading.terminal import ended, say, stop
from grading.words import LANGUAGES

NOBODY = ".solution"  # no student's id begins with a dot
PRIVATE = (
    *("source", "keys", "handout", "exercises", "submitted", "results", "rebuilt", "autograded"),
    *("feedback", "grades", "by-hand", "roster.csv", "course.toml"),
)


def prove(course: Course, assignment: Assignment) -> None:
    """Grade the solution and the blank; raise CannotGrade unless they get all and nothing."""
    for answer in ("solution", "starter"):
        notebook = build(course, assignment, NOBODY, answer)
        raw = nbformat.writes(notebook).encode()
        path = course.folder / "results" / assignment.name / f".{answer}"
        now = f"{digest(course, assignment, NOBODY, raw)} {course.limits}"
        if path.is_file() and path.read_text(encoding="utf-8") == now:
            continue
        result, _ = grade(course, assignment, NOBODY, raw)
        for mark in result["marks"]:
            full = "by hand" if mark["status"] == "by hand" else "right"
            wanted = full if answer == "solution" else "blank"
            if mark["status"] != wanted or (mark["score"] and answer == "starter"):
                failed = [said for said, passed in mark["checks"] if not passed]
                why = "; ".join([*mark["flags"], *result["flags"], *failed][:4])
                raise CannotGrade(
                    f"assignment {assignment.name}: the {answer} of {mark['exercise']} must be "
                    f"graded {wanted}, and was graded {mark['status']} ({why}); nothing was "
                    "released or graded"
                )
        write(path, now)


def prove_all_numbers(course: Course, assignment: Assignment) -> None:
    """Each student's own numbers have a solution, too."""
    for exercise in assignment.exercises:
        for student in course.roster if exercise.kind != "text" else ():
            interrupts.heed()
            for seed in seeds_of(course.secret, exercise.id, course.whose(student)):
                failed = [s for s, good in exercise.answer(exercise.solution, seed) if not good]
                if failed:
                    raise CannotGrade(
                        f"{exercise.id}: the solution fails for {student}'s numbers: {failed[0]}"
                    )


def release(course: Course, assignment: Assignment) -> None:
    """nbgrader's source and release, a handout for each student, and the key."""
    name = assignment.name
    source = course.folder / "source" / name / f"{name}.ipynb"
    write(source, nbformat.writes(build(course, assignment, "", "source")))
    gradebook.register(course, assignment)
    for student in course.roster if course.whose("x") else ():
        interrupts.heed()
        notebook = build(course, assignment, student, "starter")
        path = course.folder / "handout" / name / student / f"{name}.ipynb"
        write(path, nbformat.writes(notebook))
    keys.write(course, assignment)


def private(course: Course) -> None:
    """Let nobody else on this machine into what is the instructor's."""
    for path in filter(Path.exists, map(course.folder.joinpath, PRIVATE)):
        mode = path.stat().st_mode
        # A group that may write was let in on purpose.
        path.chmod(mode & (0o770 if mode & 0o020 else 0o700))


def make(course: Course) -> None:
    write_settings(course.folder)
    private(course)
    sandbox.check(course.folder / "secret")
    gradebook.check(course)
    gradebook.enrol(course)
    for assignment in course.assignments.values():
        gradebook.check_exercises(course, assignment)
        prove(course, assignment)
        prove_all_numbers(course, assignment)
    for assignment in course.assignments.values():
        release(course, assignment)
        count, worth = len(assignment.exercises), assignment.points
        say(f"{assignment.name}: {counted(count, 'exercise')}, {counted(worth, 'point')}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("course", type=Path)
    parser.add_argument("chapters", nargs="*", metavar="chapter")
    parser.add_argument("--language", help="of a new course: en or zh")
    return parser.parse_args()


def check_language(folder: Path, asked: str | None) -> None:
    """CannotGrade if a language is asked for that there is not, or that a course does not have."""
    if asked and asked not in LANGUAGES:
        raise CannotGrade(f"LANGUAGE must be en or zh, got {asked!r}")
    if asked and (folder / "course.toml").exists():
        own = settings.read(folder).get("language", "en")
        if asked != own:
            raise CannotGrade(
                f'the language of this course is "{own}": for another one, write '
                f'language = "{asked}" into its course.toml, above the assignments'
            )


def main() -> None:
    asked = arguments()
    folder = asked.course.resolve()
    os.umask(0o077)
    interrupts.listen()
    try:
        check_language(folder, asked.language)
        if asked.chapters and (folder / "course.toml").exists():
            say("course.toml is there already and says what is assigned: CHAPTERS changes nothing")
        start(folder, asked.chapters or ["03", "04"], asked.language or "en")
        course = Course.open(folder)
        with course.alone("course"):
            make(course)
    except CannotGrade as error:
        stop(f"Cannot make the course: {ended(error)}")
    except KeyboardInterrupt:
        stop("Stopped. The same command goes on.")
    say(f"The course is at {folder}: handout/, release/, keys/. Then: make grade COURSE={folder}")


if __name__ == "__main__":
    main()
