"""The grades as tables: one line a student, for a person and for two learning platforms.

The scores are nbgrader's, so that what a person has changed in its formgrader counts.
"""

from __future__ import annotations

import csv
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from tools.grading.course import Assignment, Course
from tools.grading.one import is_done, stored

EXCEL = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would take for a formula


def safe(text: str) -> str:
    """Text that a spreadsheet shows and does not compute."""
    return f"'{text}" if text.startswith(EXCEL) else text


def scores(book: Gradebook, assignment: Assignment, student: str) -> dict[str, float | None]:
    """Each question's score in the gradebook; None while a person has yet to read it."""
    try:
        grades = book.find_submission_notebook(assignment.name, assignment.name, student).grades
    except MissingEntry:
        return {}
    return {
        grade.name.split("-", 1)[1]: None if grade.needs_manual_grade else float(grade.score)
        for grade in grades
    }


def rows(course: Course, assignment: Assignment) -> list[dict]:
    """A line for each student of the roster."""
    found = []
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        for student in course.roster.values():
            row: dict = {"id": student.id, "name": student.name, "email": student.email}
            result = stored(course, assignment.name, student.id)
            if course.submitted(assignment.name, student.id) is None:
                found.append({**row, "status": "nothing handed in"})
                continue
            if result is None or not is_done(course, assignment, student.id):
                found.append({**row, "status": "not graded"})
                continue
            given = scores(book, assignment, student.id)
            marks = {mark["exercise"]: mark for mark in result["marks"]}
            waits = [name for name in marks if given.get(name) is None]
            row["status"] = "waits for a person" if waits else "graded"
            row["score"] = "" if waits else round(sum(given[name] for name in marks), 2)
            row["points"] = assignment.points
            row["flags"] = "; ".join(result["flags"])
            for name, mark in marks.items():
                row[f"{name} score"] = "" if given.get(name) is None else round(given[name], 2)
                row[f"{name} status"] = mark["status"]
                row[f"{name} flags"] = "; ".join(mark["flags"])
                row[f"{name} mistake"] = mark["mistake"]
            found.append(row)
    return found


def table(path: Path, columns: list[str], lines: list[dict]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        for line in lines:
            writer.writerow({k: safe(v) if isinstance(v, str) else v for k, v in line.items()})


def write(course: Course, assignment: Assignment) -> list[dict]:
    """grades/<assignment>.csv, and the same for Canvas and for Moodle. Returns the lines."""
    found = rows(course, assignment)
    columns = ["id", "name", "email", "status", "score", "points", "flags"]
    for exercise in assignment.exercises:
        columns += [f"{exercise.id} {what}" for what in ("score", "status", "flags", "mistake")]
    folder = course.folder / "grades"
    table(folder / f"{assignment.name}.csv", columns, found)
    name = f"{assignment.name}"
    canvas = [{"Student": "    Points Possible", name: assignment.points}]
    moodle = []
    for row in found:
        score = row.get("score", "")
        comment = "; ".join(filter(None, [row["status"], row.get("flags", "")]))
        canvas.append({"Student": row["name"], "SIS Login ID": row["id"], name: score})
        moodle.append(
            {"Username": row["id"], "Email address": row["email"], name: score, "Feedback": comment}
        )
    # What has no score yet is left empty: an empty cell changes nothing there.
    names = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", name]
    table(folder / f"{assignment.name}-canvas.csv", names, canvas)
    names = ["Username", "Email address", name, "Feedback"]
    table(folder / f"{assignment.name}-moodle.csv", names, moodle)
    return found
