"""A class of right notebooks in unusual but fair forms: all of them get all points."""

from __future__ import annotations

import pytest

from grading.course import Assignment, Course
from grading.notebooks import build
from grading.submission import grade
from tests.grading.conftest import make
from tests.grading.oddities import EXERCISES, hand_in, students

STUDENTS = students()


def test_there_are_many_of_many_kinds():
    kinds = [oddity for oddities in STUDENTS for oddity in oddities]
    assert len(set(kinds)) == len(kinds) > 120
    assert len(STUDENTS) > 80


@pytest.fixture
def course(tmp_path):
    """With time enough for a first plot, which takes some seconds of a processor that is shared."""
    settings = make(tmp_path / "course", ["ada", "bob"]).folder / "course.toml"
    settings.write_text(settings.read_text().replace("cell = 3\ncall = 5\n", ""))
    return Course.open(settings.parent)


# tests/test_exercises.py has the forms without a sandbox; this is their way out of one.
@pytest.mark.parametrize(
    "oddities",
    [
        pytest.param(oddities, marks=pytest.mark.deep if number % 3 else pytest.mark.slow)
        for number, oddities in enumerate(STUDENTS)
    ],
    ids=" + ".join,
)
def test_it_gets_all_points(course, oddities):
    wanted = Assignment("odd", tuple(course.known[name] for name in EXERCISES))
    raw = hand_in(build(course, wanted, "ada", "solution"), oddities)
    result, _ = grade(course, wanted, "ada", raw)
    lost = [mark for mark in result["marks"] if mark["status"] != "right"]
    assert lost == [], result["flags"]
    assert result["score"] == wanted.points
