"""The gradebook: what a person gave is never lost, and what is ours can be made again."""

from __future__ import annotations

import contextlib
import csv
import html
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grading import grade as grading
from grading.course import Course
from grading.notebooks import build
from grading.submission import digest, is_done, still_holds, stored
from tests.grading.conftest import hand_in, run
from tests.grading.hostile import BLANKS
from tests.grading.test_course import own_course

ROOT = Path(__file__).parents[2]
TEXT = "answer-06-mask-in-training"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course with a function and a text, graded: ada has answered both, bob nothing."""
    course = own_course(tmp_path_factory.mktemp("made"))
    assert run("make", course.folder).returncode == 0
    solved = build(course, course.assignment("own"), "ada", "solution")
    hand_in(course, "own", "ada", nbformat.writes(solved).encode())
    hand_in(course, "own", "bob", (course.folder / "handout/own/bob/own.ipynb").read_bytes())
    done = run("grade", course.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 waits for a person, 1 graded" in done.stdout
    return course.folder


@pytest.fixture
def course(made, tmp_path):
    """A copy of it."""
    shutil.copytree(made, tmp_path / "course", symlinks=True)
    return Course.open(tmp_path / "course")


def by_hand(course: Course, points: float, comment: str = "") -> None:
    """What a person does in formgrader."""
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        grade = book.find_grade(TEXT, "own", "own", "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment(TEXT, "own", "own", "ada").manual_comment = comment
        book.db.commit()


def graded(course: Course, *arguments: str, code: int = 0) -> str:
    done = run("grade", course.folder, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def row(course: Course, student: str = "ada") -> dict[str, str]:
    with (course.folder / "grades" / "own.csv").open(encoding="utf-8-sig", newline="") as file:
        return next(row for row in csv.DictReader(file) if row["id"] == student)


def page(course: Course, student: str = "ada") -> Path:
    return course.folder / "feedback" / student / "own" / "own.html"


def words(course: Course, student: str = "ada") -> str:
    """What a student reads on the page."""
    text = page(course, student).read_text("utf-8")
    text = re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", "", text)
    return " ".join(html.unescape(text).split())


@pytest.mark.slow
def test_what_is_handed_out_holds_no_solution(course):
    for name in ("release/own/own.ipynb", "handout/own/ada/own.ipynb"):
        text = (course.folder / name).read_text(encoding="utf-8")
        assert "2 * n" not in text
        assert "def twice" in text
    key = (course.folder / "keys" / "own.html").read_text(encoding="utf-8")
    assert "2 * n" in key
    assert "Half of the points" in key


@pytest.mark.slow
def test_what_waits_for_a_person_is_no_zero(course):
    said = words(course)
    assert "own: 4 of 6 points so far" in said
    assert "One of our own: 4 of 4 points" in said
    assert said.count("waits for a person, 2 points at most") == 2  # in the list, and at the answer
    assert "0 of 2" not in said
    assert "Before you hand in" in said
    assert "# Attention" not in said, "the first cell is shown as it was handed out"


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_made_plainly(course):
    solved = build(course, course.assignment("own"), "bob", "solution")
    solved.cells[1:1] = [nbformat.v4.new_code_cell(BLANKS) for _ in range(5)]
    hand_in(course, "own", "bob", nbformat.writes(solved).encode())
    assert "2 wait for a person" in graded(course)
    said = words(course, "bob")
    assert "own: 4 of 6 points so far This page is without colours" in said
    assert "cell 2 x = 1 x = 2" in said
    assert "✓ it is 2n" in said
    assert "without colours" not in words(course)
    assert "Your answer · cell 4 top" in words(course)


@pytest.mark.slow
def test_points_that_no_command_has_seen_survive_a_new_gradebook(course):
    by_hand(course, 1.5, "Say for whom.")
    assert "2 graded" in graded(course, "--rebuild")
    assert row(course)["score"] == "5.5"
    assert "Say for whom." in words(course)


@pytest.mark.slow
def test_a_file_that_is_renamed_is_flagged_and_not_run_again(course):
    file = course.folder / "submitted" / "ada" / "own" / "own.ipynb"
    file.rename(file.with_name("mine.ipynb"))
    result = course.result("own", "ada")
    before = result.stat().st_mtime_ns
    graded(course)
    assert row(course)["flags"] == "the file has another name"
    assert "own: 4 of 6 points so far Note: the file has another name" in words(course)
    assert result.stat().st_mtime_ns == before


@pytest.mark.slow
def test_points_by_hand_reach_table_and_page(course):
    by_hand(course, 1.5, "Say for whom.")
    before = page(course, "bob").stat().st_mtime_ns
    assert "2 graded" in graded(course)
    assert (row(course)["status"], row(course)["score"]) == ("graded", "5.5")
    canvas = (course.folder / "grades" / "own-canvas.csv").read_text(encoding="utf-8")
    assert "Ada Example,,,ada,,5.5" in canvas
    assert "Bob Example,,,bob,,0.0" in canvas
    assert "Say for whom." in words(course)
    assert "1.5 of 2 points, given by a person" in words(course)
    assert "so far" not in words(course)
    assert page(course, "bob").stat().st_mtime_ns == before
    again = page(course).stat().st_mtime_ns
    graded(course)
    assert page(course).stat().st_mtime_ns == again


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("no database", id="corrupt", marks=pytest.mark.slow),
        pytest.param(None, id="deleted", marks=pytest.mark.deep),
        pytest.param("", id="empty", marks=pytest.mark.deep),
    ],
)
def test_a_broken_gradebook_is_said_and_made_again(course, broken):
    by_hand(course, 1.5, "Say for whom.")
    graded(course)
    before = {name: row(course, name) for name in ("ada", "bob")}
    book = course.folder / "gradebook.db"
    book.unlink()
    if broken is not None:
        book.write_text(broken)
    for command in ("make", "grade"):
        done = run(command, course.folder)
        assert done.returncode == 1
        assert len(done.stderr.strip().split("\n")) == 1
        assert f"`make grade COURSE={course.folder} REBUILD=1` puts it aside" in done.stderr
    results = {path: path.stat().st_mtime_ns for path in course.folder.glob("results/*/*.json")}
    assert "2 graded" in graded(course, "--rebuild")
    assert {name: row(course, name) for name in ("ada", "bob")} == before
    assert "Say for whom." in page(course).read_text(encoding="utf-8")
    assert {path: path.stat().st_mtime_ns for path in results} == results, "no sandbox was needed"
    assert (course.folder / "gradebook.db.1").is_file() == (broken is not None)
    assert "2 graded" in graded(course)


@pytest.mark.slow
def test_an_assignment_that_was_graded_keeps_its_exercises(course):
    settings = course.folder / "course.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('"03-own", ', ""), encoding="utf-8")
    done = run("make", course.folder)
    assert done.returncode == 1
    (words,) = done.stderr.strip().split("\n")
    assert "own has been graded with 03-own, 06-mask-in-training: put these back" in words
    settings.write_text(text, encoding="utf-8")
    assert run("make", course.folder).returncode == 0
    graded(course)


def test_an_interrupt_that_nbgrader_takes_for_an_error_is_one():
    def interrupted(assignment, student):
        return {"success": False, "error": "Traceback …\nKeyboardInterrupt"}

    with pytest.raises(KeyboardInterrupt):
        grading.said(interrupted, "own", "ada")


@pytest.mark.slow
def test_points_stand_for_the_hand_in_that_they_were_given_to(course):
    by_hand(course, 1.5)
    graded(course)
    result = course.result("own", "ada")
    result.unlink()
    assert "2 graded" in graded(course), "the same hand-in, graded again"
    assert row(course)["score"] == "5.5"
    hand_in(course, "own", "ada", course.handed_in("own", "ada").raw + b"\n")
    assert "1 waits for a person" in graded(course)
    by_hand(course, 2)
    assert "2 graded" in graded(course)
    assert row(course)["score"] == "6.0"


@pytest.mark.slow
def test_a_gradebook_in_use_is_not_called_broken(course):
    book = sqlite3.connect(course.folder / "gradebook.db")
    with contextlib.closing(book):
        book.execute("begin exclusive")
        done = run("grade", course.folder)
    assert done.returncode == 1
    assert "another program is writing to gradebook.db" in done.stderr
    assert "REBUILD" not in done.stderr


FAKE = """#!/bin/sh
case "$*" in *runner*) echo "no room here"; exit 1;; esac
exec {bwrap} "$@"
"""


@pytest.mark.slow
def test_a_failure_of_ours_is_no_mark_and_is_tried_again(course, tmp_path, monkeypatch):
    for name in ("ada", "bob"):
        course.result("own", name).unlink()
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(FAKE.format(bwrap=shutil.which("bwrap")))
    fake.chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{fake.parent}:{path}")
    call = [sys.executable, "-m", "grading", "grade", str(course.folder)]
    # A process of this call, which looks for the sandbox anew.
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "not graded: ada, own: the sandbox did not start (no room here)" in said
    assert "2 not graded" in said
    assert row(course)["status"] == "not graded"
    assert row(course)["score"] == ""
    assert "the sandbox did not start" in row(course)["flags"]
    assert stored(course, "own", "ada") is None
    monkeypatch.setenv("PATH", path)
    assert "1 waits for a person, 1 graded" in graded(course)


@pytest.mark.slow
def test_two_at_once_are_told(course):
    call = [sys.executable, "-c", HOLDS, str(course.folder)]
    with subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        for command in ("grade", "make"):
            done = run(command, course.folder)
            assert done.returncode == 1
            assert f"`make grade` (process {holder.pid}) is at work in this course" in done.stderr
        holder.kill()
    with course.alone("grade"):
        pass


HOLDS = """
import sys
from grading.course import Course

with Course.open(sys.argv[1]).alone("grade"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_change_of_checks_grades_again_what_it_concerns(course):
    file = course.folder / "course.toml"
    other = '\n[assignments.other]\nexercises = ["03-safe-softmax"]\n'
    file.write_text(file.read_text(encoding="utf-8") + other, encoding="utf-8")

    def digests() -> list[str]:
        now = Course.open(course.folder)
        return [digest(now, now.assignment(name), "ada", b"") for name in ("own", "other")]

    assert is_done(course, course.assignment("own"), "ada")
    before = digests()
    own = course.folder / "exercises" / "01_own.py"
    own.write_text(own.read_text().replace("it is 2n", "it is twice n"), encoding="utf-8")
    after = digests()
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)
    again = Course.open(course.folder)
    assert not is_done(again, again.assignment("own"), "ada")


@pytest.mark.parametrize(
    ("limits", "limited", "holds"),
    [
        ({"cell": 5}, True, True),
        ({"cell": 5}, False, True),
        ({"cell": 6}, False, True),
        ({"cell": 6}, True, False),
        ({"cell": 4}, False, False),
        ({"cell": 6, "more": 1}, False, False),
    ],
)
def test_other_limits_grade_again_what_they_concern(limits, limited, holds):
    assert still_holds({"limits": {"cell": 5}, "limited": limited}, limits) is holds
