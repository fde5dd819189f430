"""The three editions: each builds without a warning, and the student's holds no solution."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import exercises
from tests.conftest import HTML, ROOT

pytestmark = pytest.mark.gate

ALL = exercises.load()
SOLUTION = re.compile(r"exercise-(?P<id>[\w-]+)-solution")
WORD = re.compile(r"[a-z_]\w*", re.IGNORECASE)


def bare(text: str) -> str:
    """What is left of a page's code without its tags and spaces: highlighting splits every name."""
    return re.sub(r"\s+", "", html.unescape(re.sub(r"<[^>]*>", "", text)))


def chapters():
    return [
        nbformat.read(path, as_version=4) for path in sorted((ROOT / "chapters").glob("*.ipynb"))
    ]


def everything_else() -> str:
    """All that the book's notebooks and pages hold, but for the solutions."""
    cells = [cell for notebook in chapters() for cell in notebook.cells]
    texts = [str(cell) for cell in cells if not SOLUTION.fullmatch(cell.id)]
    texts += [cell.source for cell in cells if not SOLUTION.fullmatch(cell.id)]
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("b*/*.md"),
        *ROOT.glob("tests/*/*.md"),
    ]  # some include others
    texts += [path.read_text(encoding="utf-8") for path in pages]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.ipynb")]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "attn_core").rglob("*.py")]
    return "\n".join(texts)


OTHER = everything_else()
BARE_OTHER = bare(OTHER)
# For each exercise, lines of its solution that stand nowhere else in the book.
OWN_LINES = {
    name: [
        line
        for line in map(bare, exercise.solution.split("\n"))
        if len(line) > 12 and line not in BARE_OTHER
    ]
    for name, exercise in ALL.items()
}
OWN_WORDS = {
    word.lower() for exercise in ALL.values() for word in WORD.findall(exercise.solution)
} - {word.lower() for word in WORD.findall(OTHER)}


def sheets() -> dict[str, str]:
    """The worksheet's two sheets, as the notebook of the page stores them."""
    notebook = nbformat.read(ROOT / "book" / "worksheet_by_hand.ipynb", as_version=4)
    made = {cell.id: cell.get("outputs") for cell in notebook.cells}
    return {name: made[name][0].data["text/html"] for name in ("tables", "key")}


# The numbers that stand on the key, and not on the sheet to fill in.
CELL = re.compile(r"<td>([^<]+)</td>")
KEY_NUMBERS = set(CELL.findall(sheets()["key"])) - set(CELL.findall(sheets()["tables"]))
KEY_TITLE = "Attention by hand: the key"


def key_of_worksheet(folder: Path) -> list[str]:
    """What a built site gives away of the worksheet's key."""
    page = (folder / "book" / "worksheet_by_hand.html").read_text(encoding="utf-8")
    numbers = [number for number in sorted(KEY_NUMBERS) if f"<td>{number}</td>" in page]
    pages = texts(folder).items()
    return numbers + [name for name, text in pages if bare(KEY_TITLE) in bare(text)]


def build(edition: str, folder: Path) -> Path:
    """Build an edition and return its html folder; a warning is an error."""
    environment = os.environ | {"BOOK_EDITION": edition}
    # What the public edition has run for the explorers' data serves this one as well.
    if (ROOT / "_build" / "payloads").is_dir():
        shutil.copytree(ROOT / "_build" / "payloads", folder / "_build" / "payloads")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT]
    flags = ["--path-output", folder, "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, *flags], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    return build("student", tmp_path_factory.mktemp("student"))


@pytest.fixture(scope="module")
def instructor(tmp_path_factory):
    return build("instructor", tmp_path_factory.mktemp("instructor"))


def texts(folder):
    """Every file of a built site that is text, by its path."""
    kinds = {".html", ".js", ".json", ".ipynb", ".md", ".txt", ".py", ".css", ".inv", ".xml"}
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in folder.rglob("*")
        if path.suffix in kinds
    }


def leaks(folder):
    """Where a line of a solution stands in a built site."""
    pages = {name: bare(text) for name, text in texts(folder).items()}
    return [
        (exercise, name)
        for exercise, lines in OWN_LINES.items()
        for name, page in pages.items()
        if any(line in page for line in lines)
    ]


def words_of_search(folder):
    """The words of the search index that only solutions hold."""
    index = json.loads(
        (folder / "searchindex.js").read_text(encoding="utf-8")[len("Search.setIndex(") : -1]
    )
    return sorted(set(index["terms"]) & OWN_WORDS)


def test_there_is_something_to_leak():
    assert sum(bool(lines) for lines in OWN_LINES.values()) > len(ALL) / 2
    assert len(OWN_WORDS) > 10


def test_the_public_edition_has_what_is_looked_for():
    """Else the test of the student's edition could not fail."""
    assert {exercise for exercise, _ in leaks(HTML)} == {
        n for n, lines in OWN_LINES.items() if lines
    }
    assert words_of_search(HTML)
    assert len(KEY_NUMBERS) > 50
    assert set(key_of_worksheet(HTML)) >= {*KEY_NUMBERS, "book/worksheet_by_hand.html"}


@pytest.mark.deep  # it builds the book once more
@pytest.mark.xdist_group("student")
def test_the_student_edition_holds_no_solution(student):
    assert leaks(student) == []
    assert words_of_search(student) == []
    assert key_of_worksheet(student) == []
    assert 'class="blank"' in (student / "book" / "worksheet_by_hand.html").read_text("utf-8")
    pages = texts(student)
    assert not any("exercise-" in page and "-solution" in page for page in pages.values())
    assert not (student / "_sources").exists()


@pytest.mark.deep
@pytest.mark.xdist_group("student")
def test_the_student_edition_has_every_exercise(student):
    pages = texts(student)
    for exercise in ALL.values():
        page = next(
            text for name, text in pages.items() if name.startswith(f"chapters/{exercise.chapter}")
        )
        assert html.escape(exercise.title, quote=False).replace("'", "’") in page
        for number in range(len(exercise.fields)):
            assert page.count(f'"id": "{exercise.id}"') == 1, number


@pytest.mark.deep  # it is the public one with its boxes for instructors
def test_the_instructor_edition_has_all(instructor):
    pages = {name: bare(text) for name, text in texts(instructor).items() if name.endswith("html")}
    for exercise in ALL.values():
        page = next(
            text for name, text in pages.items() if name.startswith(f"chapters/{exercise.chapter}")
        )
        assert bare(f"For instructors · {exercise.id}") in page
        for code in (exercise.solution, *(mistake.code for mistake in exercise.mistakes)):
            assert bare(html.escape(code, quote=False)) in page


def test_an_unknown_edition_is_said_in_a_sentence():
    done = subprocess.run(
        ["make", "book", "EDITION=teacher"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert 'EDITION must be public, student or instructor; it is "teacher"' in done.stderr
