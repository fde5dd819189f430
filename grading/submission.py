"""Grade one submission: the command that everything else calls, on this machine or on many.

    python -m grading.submission COURSE ASSIGNMENT STUDENT

The result is one file, written at once or not at all. A submission whose file, exercises and
numbers have not changed since is not graded again.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path

import nbformat

import exercises
from exercises.messages import sentence
from grading.course import Assignment, Course
from grading.marks import Mark, mark
from grading.notebooks import Rebuilt, rebuild, tasks, write_marks
from grading.numbers import mark_of, seed_of, seeds_of
from grading.reading import read
from grading.run import Run
from grading.sandbox import CannotGrade
from grading.terminal import say, stop
from grading.words import source

HERE = Path(__file__).parent
ROOM = 2**30  # bytes that grading one submission may take beyond what is there
# What decides marks: a change there grades all anew.
OURS = b"".join(
    path.read_bytes()
    for folder in (HERE, HERE / "inside", Path(exercises.__file__).parent)
    for path in sorted(folder.glob("[a-z_]*.py"))
)


def digest(course: Course, assignment: Assignment, student: str, raw: bytes) -> str:
    """What a result depends on, but for the limits. If it is the same, so is the result."""
    hasher = hashlib.sha256(OURS)
    hasher.update(source(course.language))
    for exercise in assignment.exercises:
        seeds = seeds_of(course.secret, exercise.id, course.whose(student))
        code = {
            function.__code__.co_filename for function in (exercise.checks, exercise.parameters)
        }
        sources = [Path(file).read_bytes() for file in sorted(code)]
        hasher.update(repr((exercise.id, exercise.points, seeds, sources)).encode())
    hasher.update(raw)
    return hasher.hexdigest()


def stored(course: Course, assignment: str, student: str) -> dict | None:
    """A result that was written, if it can be read."""
    try:
        return json.loads(course.result(assignment, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_done(course: Course, assignment: Assignment, student: str) -> bool:
    """Whether what is stored still holds."""
    handed = course.handed_in(assignment.name, student)
    result = stored(course, assignment.name, student)
    if handed is None or handed.problem or result is None:
        return False
    same = result["digest"] == digest(course, assignment, student, handed.raw)
    return same and still_holds(result, asdict(course.limits))


def still_holds(result: dict, limits: dict[str, int]) -> bool:
    """Whether other limits would give the same result: they are wider, and none was met."""
    then = result["limits"]
    wider = then.keys() == limits.keys() and all(limits[name] >= then[name] for name in limits)
    return then == limits or (wider and not result["limited"])


def answers(
    course: Course, assignment: Assignment, student: str, rebuilt: Rebuilt
) -> tuple[list[Mark], Run]:
    """Run the notebook and mark every question."""
    marks = []
    everybody = [name for name in course.roster if name != student]
    others = everybody if course.whose(student) == student else []
    limits, cells = course.limits, rebuilt.cells
    with Run(cells, assignment.exercises, rebuilt.places, limits, assignment.say) as run:
        for exercise in assignment.exercises:
            seeds = seeds_of(course.secret, exercise.id, course.whose(student))
            theirs = (seed_of(course.secret, exercise.id, other) for other in others)
            with run.remote(exercise) as answer:
                outcome = mark(exercise, answer, seeds, theirs)
            status, why = run.failed(exercise)
            if outcome.status == "blank" and status:
                outcome.status = status
                outcome.flags.append(why)
            if outcome.status not in ("right", "by hand"):
                outcome.flags += rebuilt.notes.get(exercise.id, [])
            run.limited |= outcome.status == "stopped"
            marks.append(outcome)
    return marks, run


def grade(course: Course, assignment: Assignment, student: str, raw: bytes):
    """One submission's result, as JSON, and its notebook with the marks in it."""
    began = time.monotonic()
    cells, handout, flags = read(raw)
    if handout and handout != mark_of(course.secret, course.whose(student)):
        flags.append(sentence("the notebook was handed out to another student"))
    rebuilt = rebuild(assignment, cells, tasks(course, assignment, student))
    marks, run = answers(course, assignment, student, rebuilt)
    write_marks(rebuilt.notebook, marks, assignment.say)
    result = {
        "student": student,
        "assignment": assignment.name,
        "digest": digest(course, assignment, student, raw),
        "score": round(sum(outcome.score for outcome in marks), 2),
        "points": assignment.points,
        "flags": [*flags, *run.flags],
        "marks": [outcome.to_json() for outcome in marks],
        "seconds": round(time.monotonic() - began, 2),
        "peak_mib": run.peak // 2**20,
        "file": hashlib.sha256(raw).hexdigest(),
        "limits": asdict(course.limits),
        "limited": run.limited,
    }
    return result, rebuilt.notebook


def write(path: Path, text: str) -> None:
    """Write a file at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8", errors="replace")
    part.replace(path)


def rebuilt_path(course: Course, assignment: str, student: str) -> Path:
    return course.folder / "rebuilt" / student / assignment / f"{assignment}.ipynb"


def hold_back() -> None:
    """Limit this process, too: what a student hands over may make a check ask for too much."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]  # the sandbox's, which sets its own
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, hard))


def store(course: Course, assignment: str, student: str) -> dict:
    """Grade a submission unless that is done, write what came out, and return it."""
    wanted = course.assignment(assignment)
    if student not in course.roster:
        raise CannotGrade(f"{student!r} is not on the roster")
    handed = course.handed_in(assignment, student)
    if handed is None:
        raise CannotGrade(f"{student} handed in no notebook of {assignment}")
    if handed.problem:
        raise CannotGrade(handed.problem)
    if is_done(course, wanted, student):
        return stored(course, assignment, student)
    result, notebook = grade(course, wanted, student, handed.raw)
    write(rebuilt_path(course, assignment, student), nbformat.writes(notebook))
    write(course.result(assignment, student), json.dumps(result, indent=1, ensure_ascii=False))
    return result


def main() -> None:
    if len(sys.argv) != 4:
        stop("usage: python -m grading.submission COURSE ASSIGNMENT STUDENT")
    folder, assignment, student = sys.argv[1:]
    hold_back()
    try:
        result = store(Course.open(folder), assignment, student)
    except CannotGrade as error:
        stop(f"{error}.")
    say(" · ".join([f"{student}: {result['score']:g} of {result['points']:g}", *result["flags"]]))


if __name__ == "__main__":
    main()
