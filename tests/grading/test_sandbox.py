"""The sandbox: what a kernel in it can't see, and one sentence where there can be none."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

import exercises
from tools.grading import library, sandbox
from tools.grading.kernel import Run
from tools.grading.sandbox import PYTHON, CannotGrade, Limits, Sandbox

ROOT = Path(__file__).parents[2]
ANSWERS = sorted({name for one in exercises.load().values() for name in one.library})


def inside(code: str, tmp_path: Path, shared: Path | None = None) -> str:
    """What a line of Python prints in a sandbox."""
    box = Sandbox.make(tmp_path, shared)
    box.open_sockets()
    done = subprocess.run(box.command([PYTHON, "-c", code]), capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().split("\n")[-1]


def notebook(*cells: str):
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])


def test_it_holds(course):
    sandbox.check(course.folder / "secret")


def test_a_wall_that_does_not_hold_is_seen(course, monkeypatch):
    open_walls = Sandbox.walls
    monkeypatch.setattr(
        Sandbox, "walls", lambda self: [w for w in open_walls(self) if w != "--unshare-net"]
    )
    with pytest.raises(CannotGrade, match="does not hold"):
        sandbox.check(course.folder / "secret")


@pytest.mark.parametrize("tool", ["bwrap", "prlimit", "setpriv"])
def test_without_bubblewrap_there_is_one_sentence(course, monkeypatch, tool):
    there = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else there(name))
    with pytest.raises(CannotGrade, match=f"{tool} is missing: install") as error:
        sandbox.check(course.folder / "secret")
    assert "\n" not in str(error.value)


def test_attn_core_is_absent(tmp_path):
    assert inside("import attn_core", tmp_path).startswith("ModuleNotFoundError")
    assert inside("import exercises", tmp_path).startswith("ModuleNotFoundError")
    assert inside(f"open({str(ROOT / 'Makefile')!r})", tmp_path).startswith("FileNotFoundError")


@pytest.mark.parametrize("name", ANSWERS)
def test_only_what_an_exercise_names_is_there(tmp_path, name):
    (tmp_path / "sockets").mkdir()
    tmp_path.chmod(0o755)
    shared = library.make([name], tmp_path / "library")
    module, function = name.rsplit(".", 1)
    code = f"from attn_core.{module} import {function}; print({function}.__name__)"
    assert inside(code, tmp_path / "sockets", shared) == function
    other = "import attn_core.dropout; attn_core.dropout.Dropout"
    assert "Error" in inside(other, tmp_path / "sockets", shared)
    assert "Error" in inside("from attn_core import attention", tmp_path / "sockets", shared)


def test_a_library_names_what_there_is():
    with pytest.raises(ValueError, match="got 'nothing'"):
        library.pieces("def f(): pass", ["nothing"])


def test_values_and_functions_are_asked_from_outside():
    async def ask():
        cells = "x = 3", "def double(a):\n    a += a\n    return a", "def ask(f):\n    return f(2)"
        async with Run(notebook(*cells)) as run, run.remote() as student:
            kinds = student.kinds(("x", "double", "y"))
            one = torch.ones(2)
            return (
                kinds,
                student.value("x"),
                student.function("double")(one),
                one,
                (student.function("ask")(lambda n: n + 5)),
            )

    kinds, value, doubled, one, asked = asyncio.run(ask())
    assert kinds == ["value", "function", "missing"]
    assert (value, asked) == (3, 7)
    assert doubled.tolist() == [2, 2]
    assert one.tolist() == [2, 2], "what the function did to its input is done here too"


@pytest.mark.parametrize(("step", "changes"), [(1, True), (1e-7, False)])
def test_an_answer_that_changes_is_seen_and_a_rounding_is_none(step, changes):
    async def ask():
        cells = ("n = 1", f"def count():\n    global n\n    n += {step}\n    return n")
        async with Run(notebook(*cells)) as run, run.remote() as student:
            student.function("count")()
            return student.changes

    assert asyncio.run(ask()) is changes


def test_a_bad_cell_costs_no_other():
    async def run():
        book = notebook("x = 1", "import os; os._exit(3)", "y = x + 1")
        async with Run(book, limits=Limits(cell=20)) as ran, ran.remote() as student:
            return ran.flags, student.value("y")

    assert asyncio.run(run()) == (["the kernel was ended in cell 2"], 2)
