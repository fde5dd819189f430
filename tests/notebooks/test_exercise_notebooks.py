"""The exercise notebooks: up to date, quiet when blank, right when solved; what `check` says."""

from __future__ import annotations

import re
import sys
from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_output

import exercises
from exercises import zh
from exercises.messages import chinese
from exercises.notebook import check, feedback, given
from publishing.notebooks.chapters import normalise
from publishing.notebooks.exercises import FOLDER, chapters, notebook, stored
from tests.conftest import ROOT
from tests.processes import ran

pytestmark = [pytest.mark.gate, pytest.mark.usefixtures("translated_once")]

ALL = exercises.load()
TEXTS = {name for name, exercise in ALL.items() if exercise.kind == "text"}
BLANK = "not answered yet."
RIGHT = "right."
ENGLISH = re.compile(r"\b[A-Za-z]+ [a-z]+ [a-z]+\b")
SAY = chinese()
CODE = re.compile(r"`[^`]*`|\w+Error: .*")


def with_outputs(made, say):
    """A notebook as it is after a run in which each check prints `say(id)`."""
    count = 0
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        if cell.id.endswith("-check"):
            name = cell.id.removeprefix("exercise-").removesuffix("-check")
            cell.outputs = [new_output("stream", name="stdout", text=f"{name}: {say(name)}\n")]
    normalise(made)
    return made


@pytest.mark.parametrize("chapter", chapters())
def test_stored_is_what_make_notebooks_writes(chapter):
    made = with_outputs(notebook(chapter), lambda name: BLANK)
    assert nbformat.writes(made) + "\n" == stored(chapter).read_text(encoding="utf-8"), (
        "run `make notebooks`"
    )


def test_every_exercise_stands_in_one_notebook():
    names = [stored(chapter).name for chapter in chapters()]
    assert sorted(path.name for path in FOLDER.glob("*")) == [*names, "zh"]
    cells = [cell for c in chapters() for cell in notebook(c).cells if cell.id.endswith("-check")]
    assert sorted(cell.source for cell in cells) == sorted(f'check("{name}")' for name in ALL)


@pytest.mark.parametrize("chapter", chapters())
def test_no_solution_in_a_blank_notebook(chapter):
    text = "\n".join(cell.source for cell in notebook(chapter).cells)
    for exercise in ALL.values():
        if exercise.chapter == chapter:
            assert exercise.solution not in text
            assert exercise.starter in text


# Of three chapters among the slow tests, and deep of all: what `check` says, the tests below ask.
FEW = [chapter for chapter in chapters() if str(chapter).startswith(("03", "08", "14"))]
SOME = [
    pytest.param(FEW, id="some", marks=pytest.mark.slow),
    pytest.param(chapters(), id="all", marks=pytest.mark.deep),
]


def run_by_nbval(*notebooks):
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT]
    done = ran(*command, "--nbval", "--nbval-current-env", "-q", *notebooks, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("of", SOME)
def test_solved_notebooks_run_and_are_right(of, tmp_path):
    """By nbval, with the outputs that they should have."""
    for chapter in of:
        made = with_outputs(
            notebook(chapter, solved=True),
            lambda name: "a written answer, which a person reads." if name in TEXTS else RIGHT,
        )
        (tmp_path / f"{chapter}_solved.ipynb").write_text(nbformat.writes(made), encoding="utf-8")
    run_by_nbval(tmp_path)


@pytest.mark.parametrize("of", SOME)
def test_chinese_notebooks_print_what_is_stored(of):
    """Their outputs are made without a run; here they are run."""
    run_by_nbval(*(FOLDER / "zh" / stored(chapter).name for chapter in of))


@cache
def names_of(exercise, code):
    """Its names, run once: some exercises translate with a whole model."""
    return exercise.run(code)


@cache
def said(exercise, code):
    """What a code is told in English."""
    return feedback(exercise, names_of(exercise, code))


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_check_says_right_and_not_answered(exercise):
    right = "a written answer, which a person reads." if exercise.kind == "text" else RIGHT
    assert said(exercise, exercise.solution) == f"{exercise.id}: {right}"
    assert said(exercise, exercise.starter) == f"{exercise.id}: {BLANK}"
    assert feedback(exercise, {}) == f"{exercise.id}: {BLANK}"


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_check_gives_the_hint_of_each_known_mistake(exercise):
    for mistake in exercise.mistakes:
        told_of_it = said(exercise, mistake.code)
        assert " ".join(mistake.hint.split()) in " ".join(told_of_it.split())
        assert RIGHT not in told_of_it.split("\n")[0]


def test_check_prints_for_the_cell_that_calls(capsys):
    names = {"check": check, **given("08-place")}
    exec(f'{ALL["08-place"].solution}\ncheck("08-place")', names)
    assert capsys.readouterr().out == "08-place: right.\n"


def test_check_tells_what_was_raised():
    code = "def place(h, t, i, heads, width):\n    return t[0]"
    said = feedback(ALL["08-place"], ALL["08-place"].run(code))
    assert said.startswith("08-place: not yet.\n  ✗ ")
    assert said.endswith("It raised TypeError: 'int' object is not subscriptable")


def test_check_is_not_content_with_one_set_of_numbers():
    exercise = ALL["11-multiply-adds"]
    code = "def multiply_adds(n, d):\n    return 4 * n * d * d + 2 * n * n * d if n < 50 else 0"
    said = feedback(exercise, exercise.run(code))
    assert said == "11-multiply-adds: right for these numbers, but not for all."


def test_an_unknown_exercise_is_said_in_a_sentence():
    with pytest.raises(ValueError, match=r'name must be the id .* like "01-context", got \'1\''):
        check("1")


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_check_says_in_chinese_what_it_says_in_english(exercise):
    """The same ticks, and nothing in English but what Python itself says of an error."""
    codes = [exercise.solution, exercise.starter, *(mistake.code for mistake in exercise.mistakes)]
    translated = exercise.translated(SAY)
    for code in codes:
        english, there = said(exercise, code), feedback(translated, names_of(exercise, code), SAY)
        assert [line[:4] for line in there.split("\n") if line[:2] == "  "] == [
            line[:4] for line in english.split("\n") if line[:2] == "  "
        ]
        assert there.split("\n")[0].startswith(f"{exercise.id}：")
        assert ENGLISH.findall(CODE.sub("", there)) == []


def test_check_prints_in_chinese_for_the_cell_that_calls(capsys):
    names = {"check": zh.check, **zh.given("08-place")}
    exec(f'{ALL["08-place"].solution}\ncheck("08-place")', names)
    assert capsys.readouterr().out == chinese()("{id}: right.").format(id="08-place") + "\n"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("place = lambda *_: {1, 2}", "a set has no order: make it a list"),
        ("place = lambda *_: '12'", "a string is not a number: leave out the quotation marks"),
    ],
)
def test_check_says_in_chinese_what_it_cannot_take(code, why):
    exercise, say = ALL["08-place"], chinese()
    said = feedback(exercise.translated(say), exercise.run(code), say)
    assert said.endswith(say("Not taken: {why}.").format(why=say(why)))


def test_check_says_in_chinese_what_was_raised():
    exercise, say = ALL["08-place"], chinese()
    said = feedback(exercise.translated(say), exercise.run("place = lambda h, *_: h[0]"), say)
    raised = "TypeError: 'int' object is not subscriptable"
    assert said.endswith(say("It raised {error}").format(error=raised))
