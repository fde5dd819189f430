"""The grades as tables: one line a student, for a person and for two learning platforms.

The scores are nbgrader's, so that what a person has changed in its formgrader counts.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from attn_core.mistakes import MISTAKES
from exercises.messages import ENGLISH, Messages, sentence
from grading.course import Assignment, Course
from grading.gradebook import opened
from grading.submission import is_done, stored
from grading.words import GRADED, NOT_GRADED, NOTHING, WAITS

# What a column holds; the roster's columns are called what they are called there.
COLUMNS = (
    *(sentence("status"), sentence("score"), sentence("points"), sentence("flags")),
    sentence("mistake"),
)
# How a spreadsheet's formula may begin, behind a semicolon too: in many a country that is where a
# spreadsheet begins the next cell.
FORMULA = re.compile(r"(^|[;；])(?=\s*[=+\-@＝＋－＠])")


def safe(text: str) -> str:
    """Text that a spreadsheet shows and does not compute, on one line.

    >>> safe("=1+1"), safe("a\\n=cmd"), safe("a; =cmd"), safe("a；=cmd"), safe("04-units")
    ("'=1+1", 'a =cmd', "a;' =cmd", "a；'=cmd", '04-units')
    """
    line = "".join(character if character.isprintable() else " " for character in text)
    return FORMULA.sub(r"\1'", line)


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


def worded(status: str, count: int) -> str:
    """
    >>> worded("waits for a person", 1), worded("waits for a person", 2), worded("graded", 2)
    ('waits for a person', 'wait for a person', 'graded')
    """
    return status if count == 1 else status.replace("waits", "wait")


def rows(
    course: Course,
    assignment: Assignment,
    failed: dict[tuple[str, str], str],
    slips: list[tuple[str, str]],
) -> list[dict]:
    """A line for each student of the roster.

    failed: why a result is missing; slips: whose hand-in lies where nobody looks, and where.
    """
    lines = []
    with opened(course) as book:
        for student in course.roster.values():
            row: dict = {"id": student.id, "name": student.name, "email": student.email}
            flags = [words for owner, words in slips if owner == student.id]
            result = stored(course, assignment.name, student.id)
            given = scores(book, assignment, student.id)
            why = failed.get((assignment.name, student.id), "")
            handed = course.handed_in(assignment.name, student.id)
            if handed is None:
                row["status"] = NOTHING
            elif why or not given or not is_done(course, assignment, student.id):
                row["status"] = NOT_GRADED
                flags.append(why)
            else:
                flags += handed.all_flags(result)
                row |= graded(assignment, result, given)
            row["flags"] = list(filter(None, flags))
            lines.append(row)
    return lines


def graded(assignment: Assignment, result: dict, given: dict[str, float | None]) -> dict:
    """What a line says of a result, with the scores of the gradebook."""
    marks = {mark["exercise"]: mark for mark in result["marks"]}
    waits = [name for name in marks if given.get(name) is None]
    row = {"status": WAITS if waits else GRADED}
    row["score"] = "" if waits else round(sum(given[name] for name in marks), 2)
    row["points"] = assignment.points
    for name, mark in marks.items():
        row[f"{name} score"] = "" if given.get(name) is None else round(given[name], 2)
        row[f"{name} status"] = mark["status"]
        row[f"{name} flags"] = mark["flags"]
        row[f"{name} mistake"] = mark["mistake"]
    return row


def heading(column: str, _: Messages) -> str:
    """
    >>> heading("01-shares status", Messages({"status": "状态"})), heading("email", Messages({}))
    ('01-shares 状态', 'email')
    """
    exercise, space, what = column.rpartition(" ")
    return f"{exercise}{space}{_(what)}"


def localized(row: dict, _: Messages) -> dict:
    """A line as the course's table has it."""
    line = {}
    for column, value in row.items():
        what = column.rpartition(" ")[2]
        if what == "flags":
            value = _("; ").join(map(_.tell, value))
        elif what == "status":
            value = _(value)
        elif what == "mistake" and _ is not ENGLISH and value in MISTAKES:
            value = _(MISTAKES[value].title)  # as its heading in the gallery
        line[heading(column, _)] = value
    return line


def table(path: Path, columns: list[str], lines: list[dict], encoding: str = "utf-8") -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        for line in [dict(zip(columns, columns, strict=True)), *lines]:
            writer.writerow({k: safe(v) if isinstance(v, str) else v for k, v in line.items()})


def write(
    course: Course,
    assignment: Assignment,
    failed: dict[tuple[str, str], str],
    slips: list[tuple[str, str]],
) -> list[dict]:
    """grades/<assignment>.csv, and the same for Canvas and for Moodle. Returns the lines, in
    English."""
    _ = course.say
    english_rows = rows(course, assignment, failed, slips)
    columns = ["id", "name", "email", *COLUMNS[:4]]
    for exercise in assignment.exercises:
        columns += [f"{exercise.id} {what}" for what in ("score", "status", "flags", "mistake")]
    folder = course.folder / "grades"
    name = assignment.name
    # Without the mark at its beginning Excel takes it for another encoding.
    lines = [localized(row, _) for row in english_rows]
    table(folder / f"{name}.csv", [heading(column, _) for column in columns], lines, "utf-8-sig")
    canvas = [{"Student": "    Points Possible", name: assignment.points}]
    moodle = []
    for row in english_rows:
        score = row.get("score", "")
        canvas.append({"Student": row["name"], "SIS Login ID": row["id"], name: score})
        who = {"Username": row["id"], "Email address": row["email"]}
        moodle.append({**who, name: score, "Feedback": _(row["status"])})  # a student reads it
    # What has no score yet is left empty: an empty cell changes nothing there.
    names = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", name]
    table(folder / f"{name}-canvas.csv", names, canvas)
    names = ["Username", "Email address", name, "Feedback"]
    table(folder / f"{name}-moodle.csv", names, moodle)
    return english_rows
