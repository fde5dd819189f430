"""Grade one submission: the command that everything else calls, on this machine or on many.

    python -m tools.grading.one COURSE ASSIGNMENT STUDENT

The result is one file, written at once or not at all. A submission whose file, exercises and
numbers have not changed since is not graded again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from tools.grading import library
from tools.grading.course import Assignment, Course
from tools.grading.kernel import Run
from tools.grading.marks import Mark, fetch, fits, mark
from tools.grading.notebooks import is_ours, read, rebuild, write_marks
from tools.grading.numbers import mark_of, seed_of, seeds_of
from tools.grading.remote import Gone
from tools.grading.sandbox import CannotGrade

HERE = Path(__file__).parent
MOST_MEMORY = 12 * 2**30  # bytes of address space, of the grader of one submission
LARGEST = 20 * 2**20  # bytes of a submission
OURS = b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))


def digest(course: Course, assignment: Assignment, student: str, raw: bytes) -> str:
    """What a result depends on. If it is the same, so is the result."""
    found = hashlib.sha256(OURS)
    for exercise in assignment.exercises:
        seeds = seeds_of(course.secret, exercise.id, course.whose(student))
        parts = (exercise.id, exercise.solution, exercise.starter, exercise.mistakes)
        values = [str(exercise.parameters(seed)) for seed in seeds]
        found.update(repr((parts, exercise.points, values)).encode())
    found.update(repr(course.limits).encode() + raw)
    return found.hexdigest()


def stored(course: Course, assignment: str, student: str) -> dict | None:
    """A result that was written, if it can be read."""
    try:
        return json.loads(course.result(assignment, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_done(course: Course, assignment: Assignment, student: str) -> bool:
    """Whether what is stored still holds."""
    path = course.submitted(assignment.name, student)
    found = stored(course, assignment.name, student)
    if path is None or found is None or found.get("unfinished"):
        return False
    return found["digest"] == digest(course, assignment, student, content(path)[0])


def content(path: Path) -> tuple[bytes, list[str]]:
    """What a file holds, and flags; a link is not followed, and a file may be only so large."""
    if path.is_symlink() or path.stat().st_size > LARGEST:
        return b"", ["a link, not a file" if path.is_symlink() else "too large a file"]
    return path.read_bytes(), []


async def answers(
    course: Course, assignment: Assignment, student: str, notebook, shared: Path | None
) -> tuple[list[Mark], list[str], int]:
    """Run the notebook and mark every question; marks, flags, and the most memory it took."""
    cells = [cell for cell in notebook.cells if not is_ours(cell)]
    run = Run(nbformat.v4.new_notebook(cells=cells), shared, course.limits)
    marks = []
    async with run:
        for exercise in assignment.exercises:
            seeds = seeds_of(course.secret, exercise.id, course.whose(student))
            try:
                async with run.remote() as remote:
                    found = await asyncio.to_thread(mark, exercise, remote, seeds)
                    if found.status in ("wrong", "partly") and exercise.kind == "values":
                        found.flags += await asyncio.to_thread(
                            borrowed, course, exercise, remote, student
                        )
            except Gone as error:
                flags = [f"stopped: {error}"]
                found = Mark(exercise.id, float(exercise.points), status="stopped", flags=flags)
            marks.append(found)
    return marks, run.flags, run.peak


def borrowed(course: Course, exercise, remote, student: str) -> list[str]:
    """A flag if the answer is right for the numbers of somebody else."""
    if course.whose(student) != student or remote.gone:
        return []
    names, _ = fetch(exercise, remote)
    for other in course.roster:
        if other != student and fits(exercise, names, seed_of(course.secret, exercise.id, other)):
            return ["right for another student's numbers"]
    return []


def grade(course: Course, assignment: Assignment, student: str, raw: bytes, flags: list[str]):
    """One submission's result, as JSON, and its notebook with the marks in it."""
    began = time.monotonic()
    cells, handout, more = read(raw)
    flags = [*flags, *more]
    if handout and handout != mark_of(course.secret, course.whose(student)):
        flags.append("the notebook was handed out to another student")
    notebook = rebuild(assignment, cells)
    with tempfile.TemporaryDirectory(prefix="library-") as folder:
        Path(folder).chmod(0o755)
        names = [name for exercise in assignment.exercises for name in exercise.library]
        shared = library.make(names, Path(folder))
        marks, notes, peak = asyncio.run(answers(course, assignment, student, notebook, shared))
    write_marks(notebook, marks)
    result = {
        "student": student,
        "assignment": assignment.name,
        "digest": digest(course, assignment, student, raw),
        "score": round(sum(one.score for one in marks), 2),
        "points": assignment.points,
        "flags": [*flags, *notes],
        "marks": [one.to_json() for one in marks],
        "seconds": round(time.monotonic() - began, 2),
        "peak_mib": peak // 2**20,
    }
    return result, notebook


def write(path: Path, text: str) -> None:
    """Write a file at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8", errors="replace")
    part.replace(path)


def rebuilt(course: Course, assignment: str, student: str) -> Path:
    return course.folder / "rebuilt" / student / assignment / f"{assignment}.ipynb"


def hold_back() -> None:
    """Limit this process, too: what a student hands over may make a check ask for too much."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def store(course: Course, assignment: str, student: str) -> dict:
    """Grade a submission unless that is done, write what came out, and return it."""
    wanted = course.assignment(assignment)
    if student not in course.roster:
        raise CannotGrade(f"{student!r} is not on the roster")
    path = course.submitted(assignment, student)
    if path is None:
        raise CannotGrade(f"{student} handed in no notebook of {assignment}")
    if is_done(course, wanted, student):
        return stored(course, assignment, student)
    raw, flags = content(path)
    if path.name != f"{assignment}.ipynb":
        flags.append("the file has another name")
    result, notebook = grade(course, wanted, student, raw, flags)
    write(rebuilt(course, assignment, student), nbformat.writes(notebook))
    write(course.result(assignment, student), json.dumps(result, indent=1, ensure_ascii=False))
    return result


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: python -m tools.grading.one COURSE ASSIGNMENT STUDENT")
    folder, assignment, student = sys.argv[1:]
    hold_back()
    try:
        result = store(Course.open(folder), assignment, student)
    except CannotGrade as error:
        sys.exit(f"{error}.")
    print(f"{student}: {result['score']:g} of {result['points']:g}", *result["flags"], sep=" · ")


if __name__ == "__main__":
    main()
