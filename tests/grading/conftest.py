"""A course in a folder of its own, with settings that let a hostile class end soon."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys

import pytest

from grading import __main__ as commands
from grading.course import Course, start
from tests.grading.students import EXERCISES

SETTINGS = """\
title = "A class"
numbers = "student"

[assignments.class]
exercises = [{ids}]

[assignments.words]
exercises = ["06-mask-in-training"]

[limits]
cell = 3
call = 5
memory = 1_500_000_000
output = 2_000_000
"""


def make(folder, students) -> Course:
    """A course with a roster; its secret is always the same, so that its numbers are."""
    start(folder, [])
    ids = ", ".join(f'"{exercise}"' for exercise in EXERCISES)
    (folder / "course.toml").write_text(SETTINGS.format(ids=ids), encoding="utf-8")
    lines = "".join(
        f"{student},{student.title()} Example,{student}@example.org\n" for student in students
    )
    (folder / "roster.csv").write_text(f"id,name,email\n{lines}", encoding="utf-8")
    (folder / "secret").write_text("5" * 64, encoding="utf-8")
    return Course.open(folder)


def hand_in(course: Course, assignment: str, student: str, raw: bytes, file: str = "") -> None:
    path = course.folder / "submitted" / student / assignment / (file or f"{assignment}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)


def run(*arguments) -> subprocess.CompletedProcess:
    """A command in this process, as a new one reads nbgrader for seconds; what it said."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as after:
        patch.setattr(sys, "argv", ["grading", *map(str, arguments)])
        after.callback(os.umask, os.umask(0o022))
        after.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        after.enter_context(contextlib.redirect_stdout(out))
        after.enter_context(contextlib.redirect_stderr(err))
        try:
            commands.main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(bool(end.code))
            err.write(f"{end.code}\n" if isinstance(end.code, str) else "")
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


@pytest.fixture
def course(tmp_path):
    return make(tmp_path / "course", ["ada", "bob"])
