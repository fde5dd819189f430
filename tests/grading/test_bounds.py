"""What a submission may take of the grader itself: so much memory, so much time, and no more."""

from __future__ import annotations

import base64
import contextlib
import json
import string
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from exercises import Exercise
from grading import processes
from grading.cells import LONGEST, defines, python, would_define
from grading.grade import OF_THE_EXCHANGE
from grading.marks import Late, mark, within
from grading.notebooks import PNG, clean, rebuild, write_marks
from grading.reading import read
from grading.report import safe
from grading.run import Run
from grading.sandbox import Limits
from grading.terminal import harmless
from tests.grading.hostile import LINKS
from tests.grading.test_run import BRIEF, asked, run

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
RAN = '{"is":"ran","error":""}'
MOST = 100  # MiB of memory for a submission

# Each a notebook's file of nearly 20 MB.
FILES = {
    "cells": """b'{"cells":[' + b'{"cell_type":""},' * 1_200_000 + b'{"cell_type":""}]}'""",
    "names": (
        """b'{"cells":[' + b'{"cell_type":"code","id":"\\xe7\\x88\\xb1"},' * 199_000"""
        """ + b'{"cell_type":""}]}'"""
    ),
    "names spelled": (
        """b'{"cells":[' + b'{"\\\\u0063ell_type":""},' * 800_000 + b'{"cell_type":""}]}'"""
    ),
    "no numbers": """b'{"cells":[],"a":[' + b'NaN,' * 4_900_000 + b'1]}'""",
    "Chinese": """'{"cells":[]}爱'.encode("gbk") + "爱".encode("gbk") * 9_000_000""",
    "metadata": (
        """b'{"cells":[' + b'{"cell_type":"","metadata":{"nbgrader":{}}},' * 66_000"""
        """ + b'{"cell_type":""}]}'"""
    ),
    "lines": (
        """b'{"cells":[{"cell_type":"code","source":[' + b'"ab",' * 3_500_000 + b'"a"]}]}'"""
    ),
    "letters": (
        """b'{"cells":[{"cell_type":"code","source":"' + "爱".encode() * 6_000_000 + b'"}]}'"""
    ),
    "outputs": (
        """b'{"cells":[{"cell_type":"code","outputs":[' + b"[]," * 6_000_000 + b'[]]}]}'"""
    ),
}
READING = """
import resource
from grading.reading import read

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

raw = {raw}
assert 2_000_000 < len(raw) < 20 * 2**20
before = most()
read(raw)
print((most() - before) // 1024)
"""


def said(code: str) -> str:
    """What a program of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_to_read_a_file_takes_little_memory(file):
    assert int(said(READING.format(raw=FILES[file]))) < MOST


RUNNING = """
import resource
from tests.grading.test_run import asked, run

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

with run("x = 1", "def f(n): return n", x="x = ...", f="def f(n): ...") as ran:
    with asked(ran, 1) as answer:
        answer.function("f")(1)
before = most()
with run(*{cells!r}, x="x = ...", f="def f(n): ...") as ran:
    print(ran.flags)
    for number, name in enumerate("xf"):
        try:
            with asked(ran, number) as answer:
                answer.function("f")(1) if name == "f" else answer.value("x")
        except Exception as error:
            print(type(error).__name__, error)
print((most() - before) // 1024)
"""
HUGE = {
    "errors": ['raise Exception("a" * 150_000_000)'] * 4,
    "prints": ["print('a' * 400_000_000)"],
    "places": ["for _ in range(30): print('a\\x1e' * 50_000)"],
    "values": ["import torch", "x = [torch.zeros(2) for _ in range(15_000)]"],
    "answers": ["import torch\ndef f(n): return [[[]] * 9 for _ in range(9_000)]"],
    "names of errors": ["raise type('A' * 10**7, (Exception,), {})"],
}


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(
            name, marks=pytest.mark.slow if name in ("prints", "answers") else pytest.mark.deep
        )
        for name in HUGE
    ],
)
def test_to_run_a_notebook_takes_little_memory(cells):
    assert int(said(RUNNING.format(cells=HUGE[cells])).split("\n")[-2]) < MOST


@pytest.mark.slow
def test_what_many_processes_take_together_is_counted():
    """Each alone takes less than it may; the time is long, as some machines give memory slowly."""
    forks = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        held = b'x' * 300_000_000\n        time.sleep(1e6)\ntime.sleep(1e6)"
    )
    with run("x = 1", forks, limits=Limits(cell=200, memory=2**30), x="x = ...") as ran:
        assert ran.flags == ["memory in cell 2"]
        with asked(ran) as answer:
            assert answer.value("x") == 1


STATUS = "Name:\t) R 1\\nRssAnon:\t0 kB\nRssAnon:\t  10 kB\nRssFile:\t  99 kB\nRssShmem:\t   1 kB\n"
STATUS += "VmSwap:\t 500 kB\nHugetlbPages:\t 2000 kB\n"
TOGETHER = "Rss:  99 kB\nPss:  8 kB\nPss_Anon:  8 kB\nPrivate_Hugetlb:  2000 kB\nSwapPss:  250 kB\n"


def test_memory_is_counted_wherever_it_is(tmp_path, monkeypatch):
    """In memory, swapped out, or in huge pages, and be the process's name what it may."""
    monkeypatch.setattr(processes, "PROC", tmp_path)
    (tmp_path / "7").mkdir()
    stat = f"7 () S 1 0) R {' '.join(['0'] * 40)}"
    for name, text in (("stat", stat), ("status", STATUS), ("smaps_rollup", TOGETHER)):
        (tmp_path / "7" / name).write_text(text, encoding="utf-8")
    assert processes.use([7]).memory == 2511 * 1024
    assert processes.shared([7]) == 2258 * 1024


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_too_much_output_is_said(number):
    cell = ('raise Exception("a" * 150_000_000)', "print('a' * 400_000_000)")[number]
    with run(cell, "x = 1", x="x = ...") as ran, asked(ran) as answer:
        assert ran.flags == ["too much output in cell 1"]
        assert answer.value("x") == 1


def test_what_is_printed_makes_no_more_outputs_than_there_are_pictures():
    cells = (
        "print('a\\x1e' * 1000)",
        "from IPython.display import Image, display\n"
        "display(Image(b'\\x89PNG1', format='png'))\nprint('a\\x1e' * 1000)",
    )
    with run(*cells, x="x = ...") as ran:
        assert [len(cell.outputs) for cell in ran.cells] == [1, 2]


@pytest.mark.slow
def test_whoever_does_not_listen_uses_up_the_time():
    """The next cell is longer than what waits in a socket, and nobody takes it."""
    forged = f"{LINKS}import time\nlinks[0].sendall(b'{RAN}\\n')\ntime.sleep(1e9)"
    cells = ("seven = 7", forged, f"# {'a' * 900_000}", "eight = 8")
    with run(*cells, seven="seven = ...", eight="eight = ...") as ran:
        assert [flag for flag in ran.flags if flag.startswith("time in cell")]
        with asked(ran) as answer:
            assert answer.value("seven") == 7


def test_a_byte_out_of_band_stops_nobody():
    """The socket says that there is something, and gives nothing, however long one waits."""
    cell = f"{LINKS}import time\nlinks[0].send(b'x', socket.MSG_OOB)\ntime.sleep(1e9)"
    with run(cell, "x = 1", limits=BRIEF, x="x = ...") as ran, asked(ran) as answer:
        assert ran.flags == ["time in cell 1"]
        assert answer.value("x") == 1


def looping(names, parameters):
    """A check that believes what an answer says."""
    count = 0
    while count < names["x"]:
        count += 1
    return [("it is small", count == 3)]


@pytest.mark.parametrize(("value", "status"), [("3", "right"), ("2**60", "stopped")])
def test_a_check_that_would_work_for_ever_is_stopped(value, status):
    asked_for = Exercise("x", "01", "x", 1, 1, "", "x = ...", "x = 3", lambda seed: {}, looping)
    cells, limits = [new_code_cell(f"x = {value}")], Limits(call=2, memory=2**30)
    with Run(cells, (asked_for,), {"x": 0}, limits=limits) as ran, asked(ran) as answer:
        outcome = mark(asked_for, answer, [1])
    assert (outcome.status, outcome.score) == (status, 1.0 if status == "right" else 0.0)
    assert outcome.flags == (["stopped: time"] if status == "stopped" else [])


def test_our_own_time_is_not_to_be_caught():
    def check() -> None:
        with contextlib.suppress(Exception):
            while True:
                sum(range(1000))

    with pytest.raises(Late), within(1):
        check()


def test_lines_that_only_ipython_reads_cost_no_work():
    """IPython itself gives up after 500 of them, and takes minutes until then."""
    assert defines("!ls\n" * 4000 + "x = 1") == {"x"}
    for line in ("% 3", "# why?", "x = a", "'%s' % 3"):
        assert python(line) == line


SIGNS = [*string.punctuation, *" \t\f\r\n\xa0\u30000a爱"]
PAIRS = ["".join(pair) for pair in product(SIGNS, repeat=2)]
READ = [python, would_define, safe, harmless]
READ += [form.fullmatch for form in OF_THE_EXCHANGE.values()]


@pytest.mark.parametrize("units", [SIGNS, pytest.param(PAIRS, marks=pytest.mark.deep)], ids=len)
def test_no_text_of_repeated_signs_takes_longer_than_its_length(units):
    """A pattern whose parts overlap takes a minute for one of these, and is ended here."""
    for unit, end in product(units, ("", ")")):
        with within(5):
            defines(unit * (LONGEST // len(unit) - 1) + end)
            for read_text in READ:
                read_text(unit * (100_000 // len(unit)) + end)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("%matplotlib inline\nx = 1\n!ls\nx?\nfor i in []:\n    %time 1", {"x", "i"}),
        ("%%time\nx = 1", {"x"}),
        ("x = !ls\ny = %sx ls", {"x", "y"}),
        ("%matplotlib inline\nx = [\n    1,  # why?\n    2]\ny = '=%d' % 3", {"x", "y"}),
    ],
)
def test_a_cell_with_magic_binds_its_names(cell, names):
    assert defines(cell) == names


def test_what_python_warns_of_is_not_said():
    """It would quote a student at the terminal."""
    with warnings.catch_warnings(action="error"):
        assert defines("x = '\\\x1b'") == {"x"}


def test_a_long_text_between_the_cells_costs_none_of_them():
    picture = {"cell_type": "markdown", "source": "a" * 3_000_000}
    cells, _, flags = read(json.dumps({"cells": [picture, new_code_cell("x = 1")]}).encode())
    assert [cell.cell_type for cell in cells] == ["markdown", "code"]
    assert flags == []


def test_a_page_shows_so_much_and_no_more(course):
    """Code that takes a page minutes, in as many cells and texts as a notebook may have."""
    texts = [new_markdown_cell("<" * 15_000) for _ in range(20)]
    raw = json.dumps({"cells": [*(new_code_cell("+a" * 12_000) for _ in range(20)), *texts]})
    cells, _, _ = read(raw.encode())
    notebook = rebuild(course.assignment("class"), cells).notebook
    write_marks(notebook, [])
    kinds = ("code", "markdown")
    shown = ["".join(c.source for c in notebook.cells if c.cell_type == kind) for kind in kinds]
    assert 99_000 < shown[0].count("+a") * 2 <= 100_000
    assert shown[1].count("&lt;") == 100_000


@pytest.mark.parametrize(("side", "shown"), [(100, 1), (2**16, 0), (0, 0)])
def test_a_picture_that_no_browser_can_unpack_is_left_out(side, shown):
    png = base64.b64encode(PNG + side.to_bytes(4) * 2 + bytes(9)).decode()
    assert len(clean([new_output("display_data", data={"image/png": png})])) == shown
