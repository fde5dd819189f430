"""A class of simulated students: what each hands in, and how it must be graded.

Here are those who mean well, and files that are broken; hostile.py has the others.
"""

from __future__ import annotations

import codecs
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_output

from grading.course import Assignment, Course
from grading.handins import LARGEST
from grading.notebooks import build

EXERCISES = ("04-rounded-too-early", "03-safe-softmax", "07-a-dropped-row")
RIGHT = ("right", "right", "right")
BLANK = ("blank", "blank", "blank")
WRONG = ("right", "wrong", "right")
PLACES = {"values": 0, "softmax": 1, "row": 2}
# Those whom a test calls by name; of the others, a quick class has every third.
NAMED = {
    "correct",
    "copied",
    "stripped",
    "shadows",
    "scratch",
    "helper",
    "magic",
    "partly",
    "blank",
}

WRONG_SOFTMAX = "def safe_softmax(table):\n    return table"
UNICODE = """\
path = r"C:\\Users\\Zoë\\Übung\\自注意力.ipynb"
naïve = "💡 爱学习 \\u2028"
print(path, naïve)"""
# What other encodings hold, and what they are called in a flag.
UNICODE_OF = {"utf-16": "爱", "utf-32-le": "爱", "gbk": "自注意力：Zoe", "cp1252": "Zoë’s Übung"}
ENCODINGS = {"utf-16": "UTF-16", "utf-32-le": "UTF-32", "gbk": "GBK", "cp1252": "Windows-1252"}
# Names of Python's, of IPython's and of the answers', used for something else.
SHADOWS = """\
dict = exec = get_ipython = print = list = type = str = os = signal = open = None
_inside = display = In = Out = In_ = 0"""
SCRATCH = """\
for exact_row in range(3):
    pass
safe_softmax = lambda table: table
rounded_sum = 0"""
HELPED = """\
import torch
def shifted(table):
    return table - table.amax(dim=-1, keepdim=True)
def safe_softmax(table):
    shares = shifted(table).exp()
    return shares / shares.sum(dim=-1, keepdim=True)"""
HELPED_LATE = """\
def safe_softmax(table):
    shares = shifted(table).exp()
    return shares / shares.sum(dim=-1, keepdim=True)"""
# What a later Python reads.
NEWER = HELPED.replace("    return", "    print(f'{'|'.join('ab')}')\n    return")
GENERIC = HELPED.replace("safe_softmax(", "safe_softmax[T](")
HELPER = "def shifted(table):\n    return table - table.amax(dim=-1, keepdim=True)"


@dataclass
class Student:
    """One student: how the hand-in is made, and what must come of it."""

    hand_in: bytes | Callable[[Path], None]  # a file's bytes, or what fills the folder
    statuses: tuple[str, str, str] = RIGHT
    flags: tuple[str, ...] = ()  # words that must stand among the flags
    file: str = ""  # the file's name, if it is another


class Class:
    """Builds hand-ins of one course from each student's own numbers."""

    def __init__(self, course: Course, assignment: Assignment) -> None:
        self.course, self.assignment = course, assignment
        self.students: dict[str, Student] = {}

    def solved(self, name: str, **replaced: str):
        """The right notebook; replaced: another answer to "values", "softmax" or "row"."""
        notebook = build(self.course, self.assignment, name, "solution")
        for which, source in replaced.items():
            notebook.cells[index_of(notebook, EXERCISES[PLACES[which]])].source = source
        return notebook

    def add(self, name, notebook=None, statuses=RIGHT, *flags, file="", cells=(), **how) -> None:
        """A student who hands in this; without it, the right notebook with cells put in."""
        if name in self.students:
            raise ValueError(f"two students have the name {name}")
        raw = self.with_cells(name, *cells, **how) if notebook is None else notebook
        if not isinstance(raw, bytes) and not callable(raw):
            raw = json.dumps(raw).encode()
        self.students[name] = Student(raw, statuses, flags, file)

    def with_cells(self, name: str, *sources: str, at: int = 1, **replaced: str):
        notebook = self.solved(name, **replaced)
        place = at if at >= 0 else len(notebook.cells)
        notebook.cells[place:place] = [new_code_cell(source) for source in sources]
        return notebook


def index_of(notebook, exercise: str) -> int:
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == f"answer-{exercise}")


def honest(of: Class) -> None:
    """Those who mean well."""
    solved, add = of.solved, of.add
    add("correct")
    add("blank", build(of.course, of.assignment, "blank", "starter"), BLANK)
    add("empty", nbformat.v4.new_notebook(), BLANK, "no code in it")
    known = {exercise.id: exercise for exercise in of.assignment.exercises}
    mistake = known[EXERCISES[1]].mistakes[0].code
    add("partly", None, ("right", "partly", "blank"), softmax=mistake, row="")

    late = solved("late")
    late.cells.insert(0, late.cells.pop(index_of(late, EXERCISES[0])))
    add("late", late, RIGHT, "another order")

    copied = solved("copied")
    for name in EXERCISES:
        place = index_of(copied, name)
        copied.cells.insert(place + 1, new_code_cell(known[name].starter))
        copied.cells.insert(place, copied.cells[place])
    add("copied", copied)

    stripped = solved("stripped")
    stripped.metadata = {}
    for cell in stripped.cells:
        cell.metadata = {}
        cell.pop("id")
    stripped.nbformat_minor = 4
    add("stripped", stripped)

    deleted = solved("deleted")
    deleted.cells = [cell for cell in deleted.cells if not cell.id.startswith("grade-")]
    add("deleted", deleted)

    add("zoë", cells=[UNICODE])
    add("renamed", None, RIGHT, "another name", file="C__Users_Zoë_class (1).IPYNB.txt ")
    add("mark of order", codecs.BOM_UTF8 + json.dumps(solved("mark of order")).encode())
    add("shadows", cells=[SHADOWS])
    add("scratch", cells=[SCRATCH], at=-1)
    add("helper", cells=["shifted = None"], at=-1, softmax=HELPED)
    below = "needs something that is defined further down"
    add("helper below", None, RIGHT, below, cells=[HELPER], at=-1, softmax=HELPED_LATE)
    add("reset", cells=["%reset -f"], at=-1)
    add("leaves", cells=["exit()", "quit()", "import sys\nsys.exit()"])
    # What cannot be read, or is not graded, is said.
    add("newer", None, WRONG, ": look at its line 3", softmax=NEWER)
    add("generic", None, WRONG, "can't be read by Python", softmax=GENERIC)
    spaced = WRONG_SOFTMAX.replace(" ", "\xa0")
    add("no-break", None, WRONG, "look at its line 1", softmax=spaced)
    below = "cell 14 answers it, too, and does not count"  # of all in the notebook
    add("corrected", None, WRONG, below, cells=[HELPED], at=-1, softmax=WRONG_SOFTMAX)
    text = solved("text")
    text.cells[index_of(text, EXERCISES[1])].cell_type = "markdown"
    add("text", text, ("right", "blank", "right"), "cell 8 is a text cell and is not run")
    magic = solved("magic")
    softmax = magic.cells[index_of(magic, EXERCISES[1])]
    softmax.source = f"%%time\n{softmax.source}"
    add("magic", magic)


def broken(of: Class) -> None:
    """Files that are no notebook, or not as they should be."""
    whole = json.dumps(of.solved("truncated")).encode()
    odd, none = "not a notebook", BLANK
    of.add("truncated", whole[: len(whole) // 2], none, odd)
    of.add("picture", bytes(range(256)) * 40, none, odd)
    of.add("no bytes", b"", none, odd)
    of.add("deep", b"[" * 200_000, none, odd)
    of.add("wide", b'{"cells":[' + b"[]," * 5_000_000 + b"[]]}", none, odd)
    of.add("nothing", json.dumps({"cells": 1, "metadata": []}).encode(), none, odd)
    of.add("number for text", b'{"cells":[{"cell_type":"code","source":5}]}', none, odd)
    of.add("too large", too_large, none, "too large a file")

    long = of.solved("long")
    long.cells[:0] = [new_code_cell("1") for _ in range(10_000)]
    of.add("long", long, none, "too long: only the first 2000 of its")
    of.add("long cell", None, none, "too long", cells=[f"# {'a' * 2**21}"])

    outputs = of.solved("outputs")
    numbers = [{"NaN": float("nan"), "b": float("-inf")}] * 30_000
    outputs.cells[1].outputs = [[[]] * 1_000_000, [{}] * 300_000, numbers, "a" * 30_000_000]
    of.add("outputs", outputs)
    for encoding, known_as in ENCODINGS.items():
        written = of.with_cells(encoding, f"'{UNICODE_OF[encoding]}'")
        raw = json.dumps(written, ensure_ascii=False).encode(encoding, errors="replace")
        of.add(encoding, raw, RIGHT, f"not in UTF-8: read as {known_as}")
    of.add("version 3", version_3(of.solved("version 3")))
    unnamed = of.solved("unnamed")
    for cell in unnamed.cells:
        cell.id, cell.metadata = 5, {"nbgrader": {"grade_id": None}}
    unnamed.metadata = unnamed.cells[0]["source"] = None
    unnamed.cells[1].source += " \ud83d"  # half a sign
    of.add("unnamed", unnamed)

    edited = of.solved("edited", softmax=WRONG_SOFTMAX)
    for cell in edited.cells:
        if cell.id.startswith("grade-"):
            cell.source = "1000.0"
            cell.metadata.nbgrader.points = 1000
            cell.outputs = [new_output("execute_result", data={"text/plain": "1000.0"})]
    edited.metadata.kernelspec = {"name": "bash", "display_name": "Bash", "language": "bash"}
    of.add("edited", edited, ("right", "wrong", "right"))

    borrowed = build(of.course, of.assignment, "correct", "starter")
    for cell, source in zip(borrowed.cells, of.solved("correct").cells, strict=True):
        cell.source = source.source
    of.add("borrowed", borrowed, ("wrong", "right", "right"), "another student")

    secret = of.course.folder / "secret"
    of.add("dangling", lambda to: (to / "class.ipynb").symlink_to("nowhere"), none, "a link")
    of.add("link", lambda to: (to / "class.ipynb").symlink_to(secret), none, "a link")
    of.add("folder", lambda to: (to / "class.ipynb").mkdir(), none, "a folder")
    of.add("pipe", lambda to: os.mkfifo(to / "class.ipynb"), none, "a device")
    of.add("socket", listen, none, "a device")
    of.add("odd name", None, RIGHT, "another name", file="\x1b[2J\n=1+1.ipynb")
    of.add("linked times", with_times(of), RIGHT)


def too_large(folder: Path) -> None:
    (folder / "class.ipynb").touch()
    os.truncate(folder / "class.ipynb", LARGEST + 1)


def version_3(notebook) -> dict:
    """As IPython wrote it before there was Jupyter."""
    cells = [
        {"cell_type": "code", "input": cell.source.splitlines(keepends=True), "language": "python"}
        if cell.cell_type == "code"
        else {"cell_type": "heading", "level": 2, "source": cell.source}
        for cell in notebook.cells
    ]
    return {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}


def listen(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # a socket's path may be only so long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("class.ipynb")
    os.chdir(here)


def with_times(of: Class) -> Callable[[Path], None]:
    """What the exchange puts beside a hand-in, forged."""
    raw = json.dumps(of.solved("linked times")).encode()

    def fill(folder: Path) -> None:
        (folder / "class.ipynb").write_bytes(raw)
        (folder / "timestamp.txt").write_text("yesterday\x1b[2J")
        (folder / "submission_secret.txt").symlink_to(of.course.folder / "secret")

    return fill


def class_of(course: Course, assignment: Assignment, is_deep: bool = False) -> dict[str, Student]:
    """The students by id: in a deep test all of them, else some of each kind."""
    from tests.grading.hostile import hostile, later

    of = Class(course, assignment)
    honest(of)
    broken(of)
    hostile(of)
    if is_deep:
        later(of)
        return of.students
    return {
        name: student
        for number, (name, student) in enumerate(of.students.items())
        if number % 3 == 0 or name in NAMED
    }


def fill(course: Course, name: str, student: Student) -> None:
    """Put what a student hands in where `make grade` looks for it."""
    folder = course.folder / "submitted" / name / "class"
    folder.mkdir(parents=True)
    if callable(student.hand_in):
        student.hand_in(folder)
    else:
        (folder / (student.file or "class.ipynb")).write_bytes(student.hand_in)
