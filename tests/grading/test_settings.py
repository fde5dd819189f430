"""What an instructor writes: each slip is one sentence, with the line and what to do."""

from __future__ import annotations

import re

import pytest

from grading import settings
from grading.course import Course
from grading.sandbox import CannotGrade, Limits

GOOD = """\
title = "A class"
numbers = "student"

[assignments.week-1]
exercises = ["03-safe-softmax"]

[limits]
cell = 6
"""
SLIPS = [
    ("numbers", 'numbers = "per-student"', 2, 'must be "student" or "class", got \'per-student\''),
    ("numbers", "number = 'class'", 2, "no setting 'number'; did you mean 'numbers'?"),
    ("numbers", 'language = "fr"', 2, 'language must be "en" or "zh", got \'fr\''),
    ("title", "title = 3", 1, "title must be a text"),
    ("cell", "cel = 6", 8, "no setting 'cel' in [limits]; did you mean 'cell'?"),
    ("cell", 'cell = "6"', 8, "cell must be a whole number above 0, got '6'"),
    ("cell", "cell = -1", 8, "cell must be a whole number above 0, got -1"),
    ("cell", "cell = true", 8, "cell must be a whole number above 0, got True"),
    ("[limits]", "[limit]", 7, "no setting 'limit'; did you mean 'limits'?"),
    ("[limits]", "[[limits]]", 7, "limits must be a table"),
    ("[assignments.week-1]", '[assignments."../x"]', 4, "an assignment's name has letters"),
    ("[assignments.week-1]", "[assignment.week-1]", 4, "did you mean 'assignments'?"),
    ("exercises", "exercise = []", 4, "assignment week-1 must have a list `exercises`"),
    ("exercises", "exercises = '03-safe-softmax'", 5, "exercises must be a list of ids in quotes"),
    ("exercises", "exercises = []", 5, "exercises must be a list of ids in quotes"),
]


def slipped(line: str, slip: str) -> str:
    lines = GOOD.split("\n")
    (place,) = [i for i, text in enumerate(lines) if text.startswith(line)]
    lines[place] = slip
    return "\n".join(lines)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "course.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "roster.csv").write_text("id,name,email\nada,Ada,\n", encoding="utf-8")
    return tmp_path


def test_what_is_right_is_read(folder):
    course = Course.open(folder)
    assert course.limits == Limits(cell=6)
    assert list(course.assignments) == ["week-1"]


@pytest.mark.parametrize(("line", "slip", "number", "words"), SLIPS, ids=lambda value: str(value))
def test_a_slip_in_the_settings_is_told_by_its_line(folder, line, slip, number, words):
    (folder / "course.toml").write_text(slipped(line, slip), encoding="utf-8")
    with pytest.raises(CannotGrade, match=re.escape(words)) as error:
        Course.open(folder)
    assert str(error.value).startswith(f"course.toml, line {number}: ")
    assert "\n" not in str(error.value)


def test_an_exercise_that_is_not_there_is_told_with_what_was_meant(folder):
    text = GOOD.replace("03-safe-softmax", "03-save-softmax")
    (folder / "course.toml").write_text(text, encoding="utf-8")
    wanted = "line 5: there is no exercise '03-save-softmax'; did you mean '03-safe-softmax'?"
    with pytest.raises(CannotGrade, match=f"course.toml, {re.escape(wanted)}"):
        _ = Course.open(folder).assignments


ROSTERS = [
    ("id,name\nzoë,Zoë\n".encode("latin-1"), "line 2: it is not in UTF-8: save it again"),
    ("id,name\nzoë,Zoë\n".encode("utf-16"), "line 1: it is not in UTF-8: save it again"),
    (b"id|name|email\nada|Ada|\n", "line 1: it must be id,name,email, with commas"),
    (b"ada,Ada,\n", "line 1: it must be id,name,email"),
    (b"id,name\nada,Lovelace, Ada\n", "line 2: more cells than columns"),
    (b"id,name\nada,Ada\n\nbob,Bob\nada,Ada\n", "line 5: the id 'ada' is there twice"),
    (b"id,name\n,Ada\n", "line 2: there is no id"),
    (b"id,name\n../ada,Ada\n", "line 2: an id is a folder's name"),
    (b"id,name\n.ada,Ada\n", "line 2: an id is a folder's name"),
    (b"id,name\na\x1b[2J,Ada\n", "line 2: an id is a folder's name"),
    (b"id,name\nx*,Ada\n", "line 2: an id is a folder's name, without / * ? ["),
    (b"id,name\n[ada],Ada\n", "line 2: an id is a folder's name, without / * ? ["),
    (b"id,name\n" + b"a" * 300 + b",Ada\n", "and no dot first, of at most 200 bytes"),
    (b"", "line 1: it must be id,name,email"),
    (b"id,name\n", "there is none"),
]


@pytest.mark.parametrize(("raw", "words"), ROSTERS, ids=lambda value: str(value)[:40])
def test_a_slip_in_the_roster_is_told_by_its_line(folder, raw, words):
    (folder / "roster.csv").write_bytes(raw)
    with pytest.raises(CannotGrade, match=re.escape(words)) as error:
        Course.open(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbfid,name,email\r\nada,Ada,a@example.org\r\n",
        b"Id, Name\nada, Ada\n",
        b'id,name,email\nada,"Ada, Countess",\n\n',
        b"id\nada\n",
        b"id;name;email\nada;Ada, Countess;\n",
    ],
)
def test_a_roster_as_programs_write_it_is_read(folder, raw):
    (folder / "roster.csv").write_bytes(raw)
    assert list(settings.roster(folder)) == ["ada"]
