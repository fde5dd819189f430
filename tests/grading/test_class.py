"""A class of students of every kind, graded as an instructor would: each as it should be.

It is graded by root and by an ordinary user, on a quiet machine and beside a load: the first of the
four is among the slow tests, with a third of the students; `make deep` takes the others, with all.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import os
import pty
import re
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook

from grading.course import Course
from grading.numbers import given, seeds_of
from grading.submission import stored
from grading.terminal import harmless
from tests.grading.conftest import hand_in, make
from tests.grading.load import load
from tests.grading.ordinary import USER, as_ordinary
from tests.grading.students import EXERCISES, Student, class_of, fill

ROOT = Path(__file__).parents[2]
SUBREAPER = 36  # prctl's PR_SET_CHILD_SUBREAPER
RUNS = [("root", "quiet"), ("ordinary", "loaded"), ("root", "loaded"), ("ordinary", "quiet")]
MARKS = [pytest.mark.slow] + [pytest.mark.deep] * 3
# As many at once as there are processors would wait for those who sleep.
AT_ONCE = "6"


@dataclass
class Graded:
    """A class that was graded."""

    course: Course
    students: dict[str, Student]
    who: str
    environment: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict)  # what nobody may find, by what it is
    said: str = ""
    left: list[psutil.Process] = field(default_factory=list)

    @property
    def rows(self) -> dict[str, dict[str, str]]:
        path = self.course.folder / "grades" / "class.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {row["id"]: row for row in csv.DictReader(file)}

    def run(self, module: str, *arguments: str) -> tuple[int, str]:
        """A command, given at a terminal in which something was typed. Returns what it said."""
        command = [sys.executable, "-m", f"grading.{module}", str(self.course.folder), *arguments]
        if self.who == "ordinary":
            command = as_ordinary(command)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execvpe(command[0], command, self.environment)
        os.write(terminal, f"{self.tokens['typed']}\n".encode())
        said = b""
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while part := os.read(terminal, 1 << 16):
                said += part
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        # The terminal itself shows what is typed; that is no word of the command's.
        return code, said.decode(errors="replace").replace(self.tokens["typed"], "", 1)


@pytest.fixture(
    scope="module",
    params=[pytest.param(run, marks=mark) for run, mark in zip(RUNS, MARKS, strict=True)],
    ids=" ".join,
)
def graded(request):
    """The class after `make course` and `make grade`."""
    who, busy = request.param
    if who == "root" and os.geteuid() != 0:
        pytest.skip("these tests were not started by root")
    folder = Path(tempfile.mkdtemp(prefix="class-"))
    folder.chmod(0o755)
    course = make(folder / "course", ["correct"])
    students = class_of(course, course.assignment("class"), request.param != RUNS[0])
    course = make(folder / "course", students)
    for name, student in students.items():
        fill(course, name, student)
    (folder / "course" / "submitted" / "stranger" / "class").mkdir(parents=True)
    tokens = {kind: f"{kind}-{secrets.token_hex(8)}" for kind in ("typed", "environment")}
    environment = {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PATH": f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/bin",
        "OMP_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        "TOKEN": tokens["environment"],
    }
    for place in ("home", "tmp"):
        (folder / place).mkdir()
    if who == "ordinary" and os.geteuid() == 0:
        subprocess.run(["chown", "-hR", f"{USER}:{USER}", str(folder)], check=True)
    cohort = Graded(course, students, who, environment, tokens)
    # Whoever is left behind by its parents becomes a child of ours.
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    before = psutil.Process().children(recursive=True)
    code, said = cohort.run("make")
    assert code == 0, said
    with load() if busy == "loaded" else contextlib.nullcontext():
        code, cohort.said = cohort.run("grade", "--assignment", "class", "--jobs", AT_ONCE)
    assert code == 0, cohort.said
    after = set(psutil.Process().children(recursive=True)) - set(before)
    # Who waits for the command's end hears of it a moment later.
    _, alive = psutil.wait_procs(after, timeout=60)
    cohort.left = [process for process in alive if not is_gone(process)]
    yield cohort
    ctypes.CDLL(None).prctl(SUBREAPER, 0)
    shutil.rmtree(folder)


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def flags_of(row: dict[str, str]) -> str:
    return " ".join(text for column, text in row.items() if column.endswith("flags"))


def test_each_is_graded_as_it_should_be(graded):
    assert len(graded.students) > 40
    wrong = {}
    for name, student in graded.students.items():
        row = graded.rows[name]
        got, flags = tuple(row[f"{exercise} status"] for exercise in EXERCISES), flags_of(row)
        missing = [words for words in student.flags if words not in flags]
        if (row["status"], got) != ("graded", student.statuses) or missing:
            wrong[name] = (row["status"], got, student.statuses, flags, missing)
    assert wrong == {}


def test_a_status_is_worth_what_it_says(graded):
    for name, row in graded.rows.items():
        for exercise in EXERCISES:
            full, status = graded.course.known[exercise].points, row[f"{exercise} status"]
            score = float(row[f"{exercise} score"])
            wanted = {"right": score == full, "partly": 0 < score < full}
            assert wanted.get(status, score == 0), (name, exercise, status, score)


def test_whoever_means_well_gets_no_flag(graded):
    for name in ("correct", "copied", "stripped", "shadows", "scratch", "helper", "magic"):
        assert flags_of(graded.rows[name]).strip() == "", name


def test_the_gradebook_says_the_same(graded):
    with Gradebook(f"sqlite:///{graded.course.folder / 'gradebook.db'}") as book:
        for name, row in graded.rows.items():
            assert book.find_submission("class", name).score == pytest.approx(float(row["score"]))


def test_a_known_mistake_is_named(graded):
    assert graded.rows["partly"]["03-safe-softmax mistake"]


def hidden(graded: Graded, name: str) -> list[str]:
    """What a student's hidden inputs look like when they are printed."""
    texts = []
    for exercise in EXERCISES[1:]:
        for seed in seeds_of(graded.course.secret, exercise, name)[1:]:
            known = graded.course.known[exercise]
            texts += [line for line in given(known, seed).split("\n") if len(line) > 40]
            for value in known.parameters(seed).values():
                texts += [str(row) for row in getattr(value, "tolist", list)() if row]
    # Truths alone may be the same by chance.
    return [text for text in texts if len(text) > 12 and re.search(r"\d\.\d", text)]


def test_nothing_secret_came_out(graded):
    """Into no page, table, notebook or result, and not to the terminal."""
    folder = graded.course.folder
    parts = ("feedback", "grades", "results", "rebuilt", "autograded")
    files = [path for part in parts for path in (folder / part).rglob("*") if path.is_file()]
    texts = {path: path.read_bytes().decode(errors="replace") for path in files}
    texts[Path("terminal")] = graded.said
    tokens = [*graded.tokens.values(), (folder / "secret").read_text(encoding="utf-8").strip()]
    for path, text in texts.items():
        assert not [token for token in tokens if token in text], path
    for name in graded.students:
        of_hers = "".join(text for path, text in texts.items() if name in str(path))
        assert not [text for text in hidden(graded, name) if text in of_hers], name


def test_no_page_runs_a_script_of_theirs(graded):
    for name in graded.students:
        page = graded.course.folder / "feedback" / name / "class" / "class.html"
        text = page.read_text(encoding="utf-8")
        body = text[text.index("<body") :]
        assert "fetch(" not in re.sub(r"<pre.*?</pre>", "", body, flags=re.S)


def test_terminal_and_tables_are_text(graded):
    lines = graded.said.replace("\r", "\n").split("\n")
    assert [line for line in lines if line != harmless(line)] == []
    for path in (graded.course.folder / "grades").glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [cell for cell in cells if not cell.isprintable()] == []
        assert [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@")] in ([], [""])


def test_nothing_is_left(graded):
    assert graded.left == []
    assert list(Path(graded.environment["TMPDIR"]).rglob("*")) == []


def test_only_the_instructor_may_look(graded):
    for name in ("source", "keys", "results", "feedback", "grades", "handout", "gradebook.db"):
        mode = (graded.course.folder / name).stat().st_mode
        assert stat.S_IMODE(mode) & 0o077 == 0, name


def test_a_stranger_is_told(graded):
    assert "not on the roster, so not graded: stranger" in graded.said


def test_what_is_graded_is_not_graded_again(graded):
    before = graded.course.result("class", "correct").stat().st_mtime_ns
    code, said = graded.run("grade", "--assignment", "class", "--jobs", AT_ONCE)
    assert code == 0, said
    assert graded.course.result("class", "correct").stat().st_mtime_ns == before


def test_one_new_hand_in_changes_one_row(graded):
    course = graded.course
    hand_in(course, "class", "blank", graded.students["blank"].hand_in + b"\n")
    before = {name: course.result("class", name).read_bytes() for name in graded.students}
    code, said = graded.run("grade", "--assignment", "class", "--jobs", AT_ONCE)
    assert code == 0, said
    after = {name: course.result("class", name).read_bytes() for name in graded.students}
    assert [name for name in before if before[name] != after[name]] == ["blank"]
    assert stored(course, "class", "blank")["score"] == 0
