"""The sandbox: what a notebook in it can't see, and one sentence where there can be none."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import psutil
import pytest

from grading import sandbox
from grading.sandbox import PYTHON, CannotGrade, Limits, Sandbox

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]


def printed(code: str) -> str:
    """What Python prints in a sandbox."""
    start = "import sys; sys.path.append('/library')"
    process = Sandbox().start([PYTHON, "-c", f"{start}\n{code}"], subprocess.PIPE)
    return process.communicate(timeout=60)[0].decode().strip()


def inside(code: str) -> str:
    """The last line of it."""
    return printed(code).split("\n")[-1]


def test_it_holds(course):
    sandbox.check(course.folder / "secret")


@pytest.mark.parametrize(
    ("holes", "words"),
    [
        (["--unshare-net", "--seccomp"], "there is no network"),
        (["--unshare-pid", "--as-pid-1"], "no other process is seen"),
        (["--seccomp"], "system calls are filtered"),
    ],
)
def test_a_wall_that_does_not_hold_is_seen(course, monkeypatch, holes, words):
    whole = sandbox.walls

    def holed(*arguments):
        command = whole(*arguments)
        for hole in holes:
            place = command.index(hole)
            del command[place : place + (2 if hole == "--seccomp" else 1)]
        return command

    monkeypatch.setattr(sandbox, "walls", holed)
    with pytest.raises(CannotGrade, match=f"not true inside: {words}"):
        sandbox.check(course.folder / "secret")


def test_a_file_that_is_seen_inside_is_told(tmp_path):
    with pytest.raises(CannotGrade, match="not true inside: the grader's files are hidden"):
        sandbox.check(Path("/usr/bin/env"))


@pytest.mark.parametrize("tool", sandbox.TOOLS)
def test_without_bubblewrap_there_is_one_sentence(course, monkeypatch, tool):
    there = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else there(name))
    with pytest.raises(CannotGrade, match=f"{tool} is missing: install") as error:
        sandbox.check(course.folder / "secret")
    assert "\n" not in str(error.value)


def test_the_grader_and_the_solutions_are_absent():
    assert inside("import grading").startswith("ModuleNotFoundError")
    assert inside("import exercises.form").startswith("ModuleNotFoundError")
    assert inside(f"open({str(ROOT / 'Makefile')!r})").startswith("FileNotFoundError")


READERS = {
    "from attn_core import toy; print(len(toy.notebook().tokens))": "3",
    "print(trace(*torch.ones(3, 2, 2)).output.tolist())": "[[1.0, 1.0]",
    "import matplotlib.pyplot as plt; print(plt.plot([1]))": "[<matplotlib.lines.Line2D",
    "from attn_core.views import figure; print(figure(trace(*torch.ones(3, 2, 2))))": "",
    "from attn_core.views import drawings; print(drawings.__name__)": "attn_core.views.drawings",
}


def test_what_readers_have_is_there():
    code = "\nprint('next')\n".join(["import torch; from attn_core import trace", *READERS])
    said = printed(code).split("next\n")[1:]
    for begins, of_one in zip(READERS.values(), said, strict=True):
        assert of_one.startswith(begins)
    assert "Error" not in "".join(said)


def test_what_the_library_asks_for_readers_is_asked_for_graders():
    """The environment of grading has what `pip install attn_core[views]` brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["views"]]
    text = (ROOT / "requirements-grading.txt").read_text(encoding="utf-8")
    there = {line.partition("==")[0].lower() for line in text.split("\n")}
    assert {re.split("[<>=]", requirement)[0].lower() for requirement in wanted} <= there


def test_a_cell_that_checks_itself_runs_on():
    assert inside("from exercises.notebook import check; check('04-a')").startswith(
        "04-a: no answer"
    )


def test_what_readers_have_stays_as_it_is():
    assert "Read-only" in inside("open('/library/attn_core/__init__.py', 'w')")
    assert "PermissionError" in inside("open('/library/exercises/notebook.py', 'a')")


WALLS = {
    # The environment of the instructor's shell.
    "open('/proc/1/environ').read()": ("", "Permission denied: '/proc/1/environ'"),
    "'KEY_OF_MINE' in os.environ": ("False",),
    # The terminal.
    "open('/dev/tty')": ("No such device or address: '/dev/tty'",),
    "os.read(0, 1)": ("b''",),
    "sorted(os.listdir('/proc/self/fd'))": ("['0', '1', '2', '3']",),
    "sys.stderr.isatty() or sys.stdout.isatty()": ("False",),
    # Doors into the kernel.
    "ctypes.CDLL(None).unshare(0x10000000)": ("-1",),
    "ctypes.CDLL(None).unshare(0x20000)": ("-1",),
    "ctypes.CDLL(None).syscall(250, 0, -3, 0)": ("-1",),
    "ctypes.CDLL(None).ptrace(16, 1, 0, 0)": ("-1",),
    "ctypes.CDLL(None).mount(b'x', b'/student', b'tmpfs', 0, b'')": ("-1",),
    "__import__('resource').prlimit(1, 0, (9, 9))": ("Operation not permitted",),
    # Memory that no process would show as its own.
    "__import__('mmap').mmap(-1, 4096)": ("Operation not permitted",),
    "open('/dev/zero', 'r+b')": ("Permission denied: '/dev/zero'",),
    "ctypes.CDLL(None).vmsplice(1, 0, 0, 0)": ("-1",),
    "ctypes.CDLL(None).memfd_create(b'x', 0)": ("-1",),
    # What tells which files another sandbox opens, or has opened.
    "ctypes.CDLL(None).inotify_init1(0)": ("-1",),
    "ctypes.CDLL(None).fanotify_init(0x200, 0)": ("-1",),
    "fcntl.fcntl(os.open('/usr/bin', 0), fcntl.F_NOTIFY, 0x8000003f)": ("not permitted",),
    "ctypes.CDLL(None).fcntl(os.open('/usr', 0), ctypes.c_long(1026 + 2**32), 63)": ("-1",),
    "fcntl.fcntl(os.open('/tmp', os.O_TMPFILE | os.O_RDWR), fcntl.F_SETLEASE, 1)": (
        "not permitted",
    ),
    "os.preadv(os.open('/bin/sh', 0), [bytearray(9)], 0, os.RWF_NOWAIT)": ("not permitted",),
    "os.posix_fadvise(os.open('/bin/sh', 0), 0, 0, os.POSIX_FADV_DONTNEED)": ("not permitted",),
    "ctypes.CDLL(None).syscall(206, 1, (ctypes.c_long * 1)())": ("-1",),  # io_setup
    "ctypes.CDLL(None, use_errno=True).syscall(451, 0, 0, 0, 0), ctypes.get_errno()": ("-1 38",),
    "ctypes.CDLL(None).mincore(0, 0, 0)": ("-1",),
    "fcntl.fcntl(os.open('/bin/sh', 0), 1035, bytes(8))": ("not permitted",),  # F_GET_RW_HINT
    "os.splice(*os.pipe(), 0, flags=2)": ("not permitted",),
    "[fcntl.flock(os.open('/bin/sh', 0), fcntl.LOCK_EX) for _ in range(2)]": ("[None, None]",),
    "fcntl.lockf(os.open('/bin/sh', 0), fcntl.LOCK_EX)": ("None",),  # needs a right to write
    "sqlite3.connect('/tmp/a').execute('create table a (b)').connection.commit()": ("None",),
    # What can be written, and how much.
    "open('/usr/x', 'w')": ("Read-only file system: '/usr/x'",),
    "open('/x', 'w')": ("Permission denied: '/x'", "Read-only file system: '/x'"),
    "open('/dev/x', 'w')": ("Permission denied: '/dev/x'", "Read-only file system: '/dev/x'"),
    "[os.statvfs(one).f_blocks * 4096 >> 20 for one in ('/student', '/tmp', '/dev/shm')]": (
        "[64, 64, 64]",
    ),
    # Who one is.
    "os.setuid(0)": ("Operation not permitted", "Invalid argument"),
    "os.kill(1, 9) or os.path.exists('/proc/1')": ("True", "Operation not permitted"),
    "open('/etc/passwd')": ("No such file or directory: '/etc/passwd'",),
    "os.listdir('/root')": (
        "No such file or directory: '/root'",
        "Permission denied: '/root'",
        "['.pyenv']",
    ),
}


@pytest.mark.parametrize("code", WALLS)
def test_a_wall(code, monkeypatch):
    monkeypatch.setenv("KEY_OF_MINE", "5")
    said = inside(f"import ctypes, fcntl, os, sqlite3, sys\nprint({code})")
    assert any(said.endswith(words) for words in WALLS[code]), said


def test_a_terminal_is_out_of_reach():
    """Started where there is a terminal, a sandbox has none."""
    pid, terminal = os.forkpty()
    if pid == 0:
        with contextlib.suppress(BaseException):
            open_streams = "print('open' if any(map(os.isatty, range(3))) else 'shut')"
            said = inside(f"import os\ntry: open('/dev/tty')\nexcept OSError: {open_streams}")
            os.write(1, said.encode())
        os._exit(0)
    said = b""
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 100):
            said += part
    os.waitpid(pid, 0)
    assert said.strip() == b"shut"


def test_all_that_can_be_written_is_bounded():
    most = Limits().disk + 2**20
    code = "for folder in ('/student', '/tmp', '/dev/shm'):\n"
    code += (
        "    try:\n        for n in range(99): open(f'{folder}/{n}', 'wb').write(bytes(2**23))\n"
    )
    code += "    except OSError: pass\n"
    code += "import shutil\nprint(sum(shutil.disk_usage(f).used for f in ('/student', '/tmp')))"
    assert int(inside(code)) <= 2 * most


GRADER = """
import time
from grading.box import Box
from grading.inside.border import FROM_RUNNER, Cell
from grading.sandbox import Limits

box = Box(Limits(), 1, time.monotonic() + 600)
cell = "import os, time\\nfor _ in range(3): os.fork()\\nos.setsid()\\nprint(1)"
box.send(box.links[0], Cell(cell))
box.receive(box.links[0], FROM_RUNNER)
print(box.process.pid, flush=True)
input()
"""


def test_when_its_grader_is_killed_nothing_of_it_is_left():
    call = [PYTHON, "-c", GRADER]
    with subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as grader:
        first = psutil.Process(int(grader.stdout.readline()))
        below = first.children(recursive=True)
        assert len(below) >= 3
        grader.kill()
    _, alive = psutil.wait_procs([first, *below], timeout=60)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
