"""A class of simulated students: what each hands in, and how it must be graded."""

from __future__ import annotations

import json
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_output

from tools.grading.course import Assignment, Course
from tools.grading.notebooks import build

EXERCISES = ("04-rounded-too-early", "03-safe-softmax", "07-a-dropped-row")
RIGHT = ("right", "right", "right")
BLANK = ("blank", "blank", "blank")

WRONG_SOFTMAX = "def safe_softmax(table):\n    return table"
WRONG_ROW = "def dropped_row(weights, survives, p):\n    return weights"
PATCHES = """\
import numpy, torch
torch.allclose = torch.equal = lambda *a, **k: True
numpy.testing.assert_allclose = numpy.allclose = lambda *a, **k: True
torch.Tensor.shape = property(lambda self: (1,))
"""
FILES = """\
import glob, os, pathlib
found = []
for folder in ("/home", "/root", "/work", "/tmp", {course!r}):
    found += glob.glob(folder + "/**/secret", recursive=True)
    found += glob.glob(folder + "/**/gradebook.db", recursive=True)
assert not found, found
assert not os.path.exists({course!r})
text = open({course!r} + "/secret").read()
"""
GRADEBOOK = """\
import os, sqlite3
os.makedirs({course!r}, exist_ok=True)
book = sqlite3.connect({course!r} + "/gradebook.db")
book.execute("update grade set manual_score = 100")
book.commit()
"""
SOCKETS = """\
import socket
opened = []
for address in (("127.0.0.1", 22), ("1.1.1.1", 53), ("localhost", 8888)):
    try:
        opened.append(socket.create_connection(address, timeout=1))
    except OSError:
        pass
assert not opened
raise SystemError("no network")
"""
SWALLOW = """\
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
FORKS = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
MEMORY = "held = []\nwhile True:\n    held.append(bytearray(50_000_000))"
OUTPUT = "for _ in range(1000):\n    print('a' * 100_000)"
DISK = """\
for n in range(40):
    with open(f"/student/{n}", "wb") as file:
        file.write(bytes(10**7))
"""
ENDS = "import os\nos._exit(0)"
HANGS = "def safe_softmax(table):\n    while True:\n        pass"
KILLS = "import os, signal\ndef dropped_row(weights, survives, p):\n    os.kill(os.getpid(), 9)"
CHANGES = """\
import torch
def safe_softmax(table):
    return torch.softmax(table, dim=-1) + torch.rand(table.shape)"""
UNICODE = """\
path = r"C:\\Users\\Zoë\\Übung\\自注意力.ipynb"
naïve = "💡 爱学习 \\u2028"
print(path, naïve)"""
FORGED = """\
from IPython.display import HTML, display
display(HTML("<script>fetch('/formgrader/api')</script>"))
100.0"""


@dataclass
class Student:
    """One student: the bytes of the file, and what must come of them."""

    raw: bytes
    statuses: tuple[str, str, str]
    flags: tuple[str, ...] = ()  # words that must stand among the flags
    file: str = ""  # the file's name, if it is another


def class_of(course: Course, assignment: Assignment) -> dict[str, Student]:
    """Every student by id. What they hand in is built from their own numbers."""
    found: dict[str, Student] = {}

    def solved(name, **replaced):
        notebook = build(course, assignment, name, "solution")
        for cell in notebook.cells:
            for exercise, source in replaced.items():
                if cell.id == f"answer-{ASKED[exercise]}":
                    cell.source = source
        return notebook

    def add(name, notebook, statuses=RIGHT, *flags, **more):
        raw = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
        found[name] = Student(raw, statuses, flags, **more)

    def with_cell(name, source, at=1, **replaced):
        notebook = solved(name, **replaced)
        notebook.cells.insert(at if at >= 0 else len(notebook.cells), new_code_cell(source))
        return notebook

    folder = str(course.folder)
    add("correct", solved("correct"))
    add("blank", build(course, assignment, "blank", "starter"), BLANK)
    add("empty", nbformat.v4.new_notebook(), BLANK, "no code in it")
    known = next(one for one in assignment.exercises if one.id == ASKED["row"]).mistakes[0]
    add("partly", solved("partly", softmax="", row=known.code), ("right", "blank", "partly"))

    late = solved("late")
    late.cells.insert(0, late.cells.pop(index_of(late, ASKED["values"])))
    add("late", late, RIGHT, "another order")

    copied = solved("copied")
    for name in ASKED.values():
        place = index_of(copied, name)
        starter = next(one for one in assignment.exercises if one.id == name).starter
        copied.cells.insert(place + 1, new_code_cell(starter))
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
    deleted.cells = [one for one in deleted.cells if not one.id.startswith("grade-")]
    add("deleted", deleted)

    edited = solved("edited", softmax=WRONG_SOFTMAX)
    for cell in edited.cells:
        if cell.id.startswith("grade-"):
            cell.source = "1000.0"
            cell.metadata.nbgrader.points = 1000
            cell.outputs = [new_output("execute_result", data={"text/plain": "1000.0"})]
    add("edited", edited, ("right", "partly", "right"))

    add("loop", with_cell("loop", "while True:\n    pass"), RIGHT, "time in cell")
    add("swallow", with_cell("swallow", SWALLOW), RIGHT, "time in cell")
    add("exit", with_cell("exit", ENDS, -1), RIGHT, "the kernel was ended in cell")
    add("forks", with_cell("forks", FORKS), RIGHT, "in cell")
    add("memory", with_cell("memory", MEMORY), RIGHT, "memory in cell")
    add("output", with_cell("output", OUTPUT), RIGHT, "too much output in cell")
    add("disk", with_cell("disk", DISK))
    add("hangs", solved("hangs", softmax=HANGS), ("right", "stopped", "right"), "stopped: time")
    add("kills", solved("kills", row=KILLS), ("right", "right", "stopped"), "stopped: stopped")
    add("changes", solved("changes", softmax=CHANGES), ("right", "changes", "right"))
    add(
        "patches",
        with_cell("patches", PATCHES, softmax=WRONG_SOFTMAX, row=WRONG_ROW, values=""),
        ("blank", "partly", "partly"),
    )
    add("files", with_cell("files", FILES.format(course=folder)))
    add("gradebook", with_cell("gradebook", GRADEBOOK.format(course=folder)))
    add("sockets", with_cell("sockets", SOCKETS))
    add("zoë", with_cell("zoë", UNICODE))
    add("forged", with_cell("forged", FORGED))
    add("renamed", solved("renamed"), RIGHT, "another name", file="C__Users_Zoë_class (1).IPYNB")
    whole = json.dumps(solved("truncated")).encode()
    add("truncated", whole[: len(whole) // 2], BLANK, "not a notebook")
    add("picture", bytes(range(256)) * 40, BLANK, "not a notebook")
    add("deep", b"[" * 200_000, BLANK, "not a notebook")
    add("nothing", json.dumps({"cells": 1, "metadata": []}).encode(), BLANK, "not a notebook")

    borrowed = build(course, assignment, "correct", "starter")
    for cell, source in zip(borrowed.cells, solved("correct").cells, strict=True):
        cell.source = source.source
    add("borrowed", borrowed, ("partly", "right", "right"), "another student")
    return found


ASKED = dict(zip(("values", "softmax", "row"), EXERCISES, strict=True))


def index_of(notebook, exercise: str) -> int:
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == f"answer-{exercise}")
