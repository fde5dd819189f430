"""nbgrader's exchange, as on a hub: release, fetch, submit, collect, grade, and feedback back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import nbformat
import pytest

from grading.course import Course
from grading.notebooks import build
from grading.sandbox import PYTHON
from tests.grading.conftest import run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "for_instructors.md"
NBGRADER = str(Path(PYTHON).with_name("nbgrader"))
COURSE = 'numbers = "class"\n[assignments.week-1]\nexercises = ["04-rounded-too-early"]\n'


def nbgrader(folder: Path, *arguments: str) -> str:
    """A command of nbgrader, given in a folder; what it said."""
    # What was submitted is remembered there; not in the home of whoever runs the tests.
    environment = os.environ | {"JUPYTER_DATA_DIR": str(folder / ".jupyter")}
    call = [NBGRADER, *arguments]
    done = subprocess.run(
        call, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def lines_of_the_page(exchange: Path) -> str:
    """The settings that the page for instructors shows, with a folder of ours for the exchange."""
    text = PAGE.read_text(encoding="utf-8").partition("c.CourseDirectory.course_id")
    lines = (text[1] + text[2]).partition("```")[0]
    assert "/srv/nbgrader/exchange" in lines
    return lines.replace("/srv/nbgrader/exchange", str(exchange))


@pytest.mark.deep
def test_a_notebook_goes_out_and_its_feedback_comes_back(tmp_path):
    folder, home, exchange = (tmp_path / name for name in ("course", "home", "exchange"))
    for path in (folder, home, exchange):
        path.mkdir()
    exchange.chmod(0o777)
    (folder / "course.toml").write_text(COURSE, encoding="utf-8")
    (folder / "roster.csv").write_text("id,name,email\nada,Ada Example,\n", encoding="utf-8")
    assert run("make", folder).returncode == 0
    settings = lines_of_the_page(exchange)
    with (folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(settings)
    (home / "nbgrader_config.py").write_text(f"c = get_config()\n{settings}", encoding="utf-8")

    nbgrader(folder, "release_assignment", "week-1")
    assert "attention week-1" in nbgrader(home, "list")
    nbgrader(home, "fetch_assignment", "week-1")
    handed = home / "week-1" / "week-1.ipynb"
    assert "BEGIN SOLUTION" not in handed.read_text(encoding="utf-8")
    course = Course.open(folder)
    solved = build(course, course.assignment("week-1"), "ada", "solution")
    answers = {cell.id: cell.source for cell in solved.cells}
    assert answers["answer-04-rounded-too-early"] not in handed.read_text(encoding="utf-8")
    handed.write_text(nbformat.writes(solved), encoding="utf-8")
    nbgrader(home, "submit", "week-1", "--student=ada")
    nbgrader(folder, "collect", "week-1")

    done = run("grade", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 graded" in done.stdout
    nbgrader(folder, "release_feedback", "week-1")
    nbgrader(home, "fetch_feedback", "week-1")
    (page,) = (home / "week-1" / "feedback").rglob("week-1.html")
    assert "right" in page.read_text(encoding="utf-8")
