"""A class of students of every kind, graded as an instructor would: each as it should be."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.grading.conftest import hand_in, make
from tests.grading.students import EXERCISES, class_of
from tools.grading.numbers import given, seeds_of
from tools.grading.one import stored

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAMES = [
    "correct",
    "blank",
    "empty",
    "partly",
    "late",
    "copied",
    "stripped",
    "deleted",
    "edited",
    "loop",
    "swallow",
    "exit",
    "forks",
    "memory",
    "output",
    "disk",
    "hangs",
    "kills",
    "changes",
    "patches",
    "files",
    "gradebook",
    "sockets",
    "zoë",
    "forged",
    "renamed",
    "truncated",
    "picture",
    "deep",
    "nothing",
    "borrowed",
]


def command(module: str, *arguments: str) -> subprocess.CompletedProcess:
    call = [sys.executable, "-m", f"tools.grading.{module}", *map(str, arguments)]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course after `make course` and `make grade`, and who is in it."""
    course = make(tmp_path_factory.mktemp("class") / "course", NAMES)
    students = class_of(course, course.assignment("class"))
    assert list(students) == NAMES
    done = command("make", course.folder)
    assert done.returncode == 0, done.stderr
    for name, student in students.items():
        hand_in(course, "class", name, student.raw, student.file)
    hand_in(course, "class", "stranger", students["correct"].raw)
    done = command("grade", course.folder, "--assignment", "class", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not on the roster, so not graded: stranger" in done.stdout
    with (course.folder / "grades" / "class.csv").open(encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    return course, students, rows


@pytest.mark.parametrize("name", NAMES)
def test_each_is_graded_as_it_should_be(graded, name):
    course, students, rows = graded
    row, student = rows[name], students[name]
    assert row["status"] == "graded"
    got = tuple(row[f"{exercise} status"] for exercise in EXERCISES)
    flags = " ".join(text for column, text in row.items() if column.endswith("flags"))
    assert got == student.statuses, flags
    assert [words for words in student.flags if words not in flags] == [], flags
    for exercise, status in zip(EXERCISES, got, strict=True):
        full, score = course.known[exercise].points, float(row[f"{exercise} score"])
        wanted = {"right": score == full, "partly": 0 < score < full}
        assert wanted.get(status, score == 0), (exercise, status, score)


def test_the_gradebook_says_the_same(graded):
    course, _, rows = graded
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as book:
        for name, row in rows.items():
            assert book.find_submission("class", name).score == pytest.approx(float(row["score"]))


def test_a_known_mistake_is_named(graded):
    _, _, rows = graded
    assert rows["partly"]["07-a-dropped-row mistake"]


def test_everyone_has_feedback_without_scripts_and_hidden_inputs(graded):
    course, students, _ = graded
    for name in students:
        page = course.folder / "feedback" / name / "class" / "class.html"
        text = page.read_text(encoding="utf-8")
        body = text[text.index("<body") :]
        assert "fetch(" not in re.sub(r"<pre.*?</pre>", "", body, flags=re.S)
        for exercise in EXERCISES:
            for seed in seeds_of(course.secret, exercise, name)[1:]:
                for line in given(course.known[exercise], seed).split("\n"):
                    assert not (len(line) > 40 and line in text)
        assert course.known["03-safe-softmax"].solution not in stored(course, "class", name)


def test_what_is_graded_is_not_graded_again(graded):
    course, _, _ = graded
    before = course.result("class", "correct").stat().st_mtime_ns
    done = command("grade", course.folder, "--assignment", "class", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert course.result("class", "correct").stat().st_mtime_ns == before


def test_one_new_hand_in_changes_one_row(graded):
    course, students, _ = graded
    hand_in(course, "class", "blank", students["blank"].raw + b"\n")
    before = {name: course.result("class", name).read_bytes() for name in NAMES}
    done = command("grade", course.folder, "--assignment", "class", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    after = {name: course.result("class", name).read_bytes() for name in NAMES}
    assert [name for name in NAMES if before[name] != after[name]] == ["blank"]
