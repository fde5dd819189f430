"""A course: nothing is released that can't be graded, and everyone gets numbers of their own."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import determine_grade

import exercises
from grading import __main__ as commands
from grading import grade as grading
from grading import make as making
from grading.course import Assignment, Course, collision, start
from grading.grade import bring
from grading.marks import Mark
from grading.notebooks import clean, rebuild, report, write_marks
from grading.numbers import given, seed_of
from grading.reading import read
from grading.sandbox import CannotGrade
from grading.seams import write_settings
from tests.grading.conftest import hand_in, make, run
from tests.grading.students import EXERCISES

ROOT = Path(__file__).parents[2]
KNOWN = exercises.load()
# What the book's own exercises are asked, in this environment.
ASKED_OF_ALL = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "--import-mode=importlib"]
ASKED_OF_ALL += ["-p", "no:cacheprovider", "-m", "not deep", "tests/test_exercises.py"]

OWN = """\
from exercises import Exercise, Mistake

EXERCISE = Exercise(
    id="03-own",
    chapter="03",
    title="One of our own",
    level=1,
    points=4,
    text="Write `twice(n)`.",
    starter="def twice(n):\\n    return ...",
    solution="def twice(n):\\n    return {solution}",
    parameters=lambda seed: {{"n": 1 + seed % 90}},
    checks=lambda names, parameters: [
        ("it is 2n", names["twice"](parameters["n"]) == 2 * parameters["n"])
    ],
    mistakes=(Mistake("def twice(n):\\n    return n * n", "That is the square."),),
)
"""


def own_course(tmp_path, solution="2 * n") -> Course:
    """A course with one private exercise and one text, in two assignments."""
    course = make(tmp_path / "course", ["ada", "bob"])
    (course.folder / "exercises" / "01_own.py").write_text(OWN.format(solution=solution))
    settings = '[assignments.own]\nexercises = ["03-own", "06-mask-in-training"]\n'
    (course.folder / "course.toml").write_text(settings, encoding="utf-8")
    return Course.open(course.folder)


def test_settings_for_nbgrader_move_with_the_course_and_keep_the_instructors_lines(tmp_path):
    path = tmp_path / "nbgrader_config.py"
    write_settings(tmp_path)
    first = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in first
    path.write_text(f"{first}c.Exchange.root = '/there'\n".replace(str(ROOT), "/before"), "utf-8")
    write_settings(tmp_path)
    assert path.read_text(encoding="utf-8") == f"{first}c.Exchange.root = '/there'\n"
    path.write_text("c = get_config()\n", "utf-8")
    write_settings(tmp_path)
    assert path.read_text(encoding="utf-8") == "c = get_config()\n"


def test_chapters_that_come_too_late_are_told_so(course, monkeypatch, capsys):
    monkeypatch.setattr(making, "make", lambda course: None)
    monkeypatch.setattr(sys, "argv", ["make", str(course.folder), "05"])
    making.main()
    assert "CHAPTERS changes nothing" in capsys.readouterr().out


def test_an_interrupt_while_modules_are_read_is_a_sentence(monkeypatch):
    def interrupted(name):
        assert name == "grading.grade"
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "import_module", interrupted)
    monkeypatch.setattr(sys, "argv", ["grading", "grade", "course"])
    with pytest.raises(SystemExit, match="Stopped before anything was begun"):
        commands.main()


@pytest.mark.slow
def test_handouts_are_never_deleted(tmp_path):
    course = own_course(tmp_path)
    assert run("make", course.folder).returncode == 0
    before = sorted(course.folder.glob("handout/*/*/*"))
    assert len(before) == 2
    settings = course.folder / "course.toml"
    text = settings.read_text(encoding="utf-8")
    for line, code in (('numbers = "per-student"\n', 1), ('numbers = "class"\n', 0)):
        settings.write_text(line + text, encoding="utf-8")
        assert run("make", course.folder).returncode == code
        assert sorted(course.folder.glob("handout/*/*/*")) == before


@pytest.mark.slow
def test_a_wrong_solution_stops_before_anything_is_released(tmp_path):
    course = own_course(tmp_path, solution="3 * n")
    settings = course.folder / "course.toml"
    fine = '[assignments.fine]\nexercises = ["06-mask-in-training"]\n'
    settings.write_text(fine + settings.read_text(encoding="utf-8"), encoding="utf-8")
    done = run("make", course.folder)
    assert done.returncode == 1
    assert "the solution of 03-own must be graded right" in done.stderr
    assert "nothing was released" in done.stderr
    assert not (course.folder / "release").exists()
    assert not (course.folder / "handout").exists()


def test_a_lost_secret_is_not_made_anew(course):
    """With another one everybody's numbers would be wrong."""
    (course.folder / "secret").unlink()
    (course.folder / "release" / "class").mkdir(parents=True)
    for begin in (lambda: start(course.folder, []), lambda: Course.open(course.folder).secret):
        with pytest.raises(CannotGrade, match="bring it back from a copy"):
            begin()
    assert not (course.folder / "secret").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [("2 *", r"01_own\.py, line \d+: invalid"), ("1 / 0", r"01_own\.py, line \d+: ZeroDiv")],
)
def test_an_exercise_that_cannot_be_read_is_named(tmp_path, line, words):
    course = own_course(tmp_path)
    with (course.folder / "exercises" / "01_own.py").open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    with pytest.raises(CannotGrade, match=words) as error:
        Course.open(course.folder).known  # noqa: B018
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("secret", None, "there is no file secret"),
        ("secret", "short", "there is no file secret"),
        ("course.toml", None, "there is no course.toml"),
        ("course.toml", "[[", "course.toml can't be read"),
        ("course.toml", '[assignments.a]\nexercises = ["03-none"]', "no exercise '03-none'"),
        ("roster.csv", None, "there is no roster.csv"),
        ("roster.csv", "id,name\n../bob,Bob\n", "got '../bob'"),
        ("roster.csv", "id,name\n", "there is none"),
        ("own.txt", "", "class is not released: run `make course` first"),
    ],
)
def test_a_grader_that_cannot_start_says_why_and_writes_nothing(
    course, monkeypatch, file, content, words
):
    hand_in(course, "class", "ada", b"{}")
    if content is None:
        (course.folder / file).unlink()
    else:
        (course.folder / file).write_text(content, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["grade", str(course.folder)])
    with pytest.raises(SystemExit, match=re.escape(words)) as error:
        grading.main()
    assert "\n" not in error.value.code, "one sentence"
    assert not (course.folder / "grades").exists()
    assert not (course.folder / "results").exists()


def test_without_a_sandbox_it_writes_nothing(course, monkeypatch, capsys):
    hand_in(course, "class", "ada", b"{}")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["grade", str(course.folder)])
    with pytest.raises(SystemExit, match="bwrap is missing: install the package bubblewrap"):
        grading.main()
    assert not (course.folder / "grades").exists()


def test_two_answers_of_one_name_are_refused():
    one, two = (KNOWN["03-safe-softmax"], KNOWN["07-a-dropped-row"])
    assert collision(Assignment("a", (one, two))) == ""
    assert "both ask for `safe_softmax`" in collision(Assignment("a", (one, one)))
    clash = replace(two, starter="table = ...")
    assert "gives `table`, an answer of" in collision(Assignment("a", (clash, one)))


def test_numbers_are_each_students_own_and_stay(course):
    names = [f"s{n}" for n in range(50)]
    exercise = KNOWN["03-safe-softmax"]
    texts = {given(exercise, seed_of(course.secret, exercise.id, name)) for name in names}
    assert len(texts) == 50
    assert given(exercise, 7) == given(exercise, 7)
    assert seed_of(b"another", exercise.id, "s1") != seed_of(course.secret, exercise.id, "s1")


@pytest.mark.parametrize("exercise", KNOWN.values(), ids=KNOWN.keys())
def test_what_is_given_is_the_parameters(exercise):
    """Run, the text gives the very numbers; and nothing else is given away."""
    names: dict = {}
    exec(given(exercise, 11), names)
    parameters = exercise.parameters(11)
    for name in set(names) - {"__builtins__", "torch"}:
        assert str(names[name]) == str(parameters[name])
    if exercise.kind == "values":
        needed = set(parameters) - set(names)
        assert all(name not in exercise.solution.split() for name in needed)


def test_a_start_keeps_what_is_there(tmp_path):
    start(tmp_path, ["03"])
    secret = (tmp_path / "secret").read_text()
    (tmp_path / "roster.csv").write_text("id,name,email\neve,Eve,\n")
    start(tmp_path, ["04"])
    assert (tmp_path / "secret").read_text() == secret
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    assert list(Course.open(tmp_path).roster) == ["eve"]
    assert list(Course.open(tmp_path).assignments) == ["chapter-03"]


def test_names_and_hand_ins_are_for_their_owner_alone(course):
    modes = {"roster.csv": (0o644, 0o600), "keys": (0o755, 0o700), "submitted": (0o775, 0o770)}
    for name, (before, _) in modes.items():
        path = course.folder / name
        if not path.exists():
            path.mkdir()
        path.chmod(before)
    making.private(course)
    for name, (_, after) in modes.items():
        assert (course.folder / name).stat().st_mode & 0o777 == after, name


def test_a_score_is_what_nbgrader_reads(course):
    assignment = course.assignment("class")
    notebook = rebuild(assignment, []).notebook
    scores = zip(EXERCISES, (0, 0.5, 1), strict=True)
    marks = [Mark(name, 2.0, score, "partly") for name, score in scores]
    write_marks(notebook, marks)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells}
    read_again = [determine_grade(cells[f"grade-{name}"])[0] for name in EXERCISES]
    assert read_again == [0, 0.5, 1]


def test_only_text_and_pictures_reach_a_graders_browser(course):
    raw = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("<script>1</script>")])
    cells, _, _ = read(json.dumps(raw).encode())
    rebuilt = rebuild(course.assignment("class"), cells).notebook
    assert "<script>" not in rebuilt.cells[0].source
    text = nbformat.v4.new_output("stream", text="\x1b[2Ja\nb\tc" + "d" * 100_000)
    data = base64.b64encode(b"<script>1</script>").decode()
    picture = nbformat.v4.new_output("display_data", data={"image/png": data})
    (shown,) = clean([text, picture])
    assert shown.text.startswith("[2Ja\nb\tc")
    assert len(shown.text) < 30_000


def test_feedback_has_the_hint_and_the_sentences():
    mark = Mark("x", 2.0, 1.0, "partly", ["a flag"], [("yes", True), ("no", False)], "a hint")
    said = "From the checks: 1 of 2 points (partly)\n✓ yes\n✗ no\nNote: a flag\nHint: a hint\n"
    assert report(mark) == said


def test_the_blank_must_get_nothing(course, monkeypatch):
    giving = lambda *_: (  # noqa: E731
        {"marks": [Mark("x", 1.0, 1.0, "right").to_json()], "flags": []},
        None,
    )
    monkeypatch.setattr(making, "grade", giving)
    with pytest.raises(CannotGrade, match="the starter of x must be graded blank"):
        making.prove(course, course.assignment("class"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["03-largest", "03-all-scores"])
def test_an_exercise_on_a_page_is_as_good_as_the_books_own(name, tmp_path):
    """That on the page for instructors, and that in the docstring with the rules."""
    page = (ROOT / "book" / "for_instructors.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shown.append(textwrap.dedent(exercises.__doc__.split("\n", 2)[2].split("\n\nA starter, ")[0]))
    (code,) = (text for text in shown if f'id="{name}"' in text)
    (tmp_path / "01_page.py").write_text(code, encoding="utf-8")
    assert list(exercises.load(tmp_path)) == [name]
    done = subprocess.run(
        [*ASKED_OF_ALL, "-k", name], cwd=ROOT, env=os.environ | {"EXERCISES": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " skipped" not in done.stdout


def test_a_link_beside_a_hand_in_is_not_followed(course):
    there = course.folder / "rebuilt" / "ada" / "class"
    came = course.folder / "submitted" / "ada" / "class"
    for folder in (there, came):
        folder.mkdir(parents=True)
    (came / "timestamp.txt").write_text("2026-11-21 12:00:00 UTC", encoding="utf-8")
    (came / "submission_secret.txt").symlink_to(course.folder / "secret")
    bring(course, "class", "ada")
    assert [path.name for path in there.iterdir()] == ["timestamp.txt"]


def test_a_folder_that_came_later_is_for_its_owner_alone_too(course, monkeypatch):
    def no_sandbox(*_):
        raise CannotGrade("there is none")

    submitted = course.folder / "submitted"
    submitted.mkdir()
    submitted.chmod(0o755)
    monkeypatch.setattr(grading.sandbox, "check", no_sandbox)
    with pytest.raises(CannotGrade):
        grading.grade(course, None)
    assert submitted.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("time", ["2026-13-45 12:00:00 UTC", "0000-01-01 00:00:00"])
def test_a_time_that_is_none_is_not_brought(course, time):
    """nbgrader would fail for it, and the hand-in would never be graded."""
    there = course.folder / "rebuilt" / "ada" / "class"
    there.mkdir(parents=True)
    hand_in(course, "class", "ada", b"{}")
    came = course.folder / "submitted" / "ada" / "class"
    (came / "timestamp.txt").write_text(time, encoding="utf-8")
    bring(course, "class", "ada")
    assert list(there.iterdir()) == []
