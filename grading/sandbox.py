"""The walls: bubblewrap's command line for one sandbox.

Inside there is the interpreter with its packages and attn_core, read-only, a few texts, and three
folders in memory that are bounded and end with the sandbox. There is no network, no terminal, no
environment, no other file and no other process. The host's disk is not written to at all.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from grading import library

MEBIBYTE = 2**20
PYTHON = os.path.normpath(sys.executable)  # not resolved: a virtual environment's is a link
TOOLS = ("bwrap", "setpriv")
PATIENCE = 300  # seconds for a sandbox to open, be the machine ever so busy
WRITABLE = ("/student", "/tmp", "/dev/shm")

# As root there is no user namespace: whoever runs inside is then a user who owns nothing.
FIRST_USER, LAST_USER = 1_000_000, 2_000_000_000
# From this version of Linux on a limit on processes counts those inside, not all of the user's.
COUNTS_INSIDE = (5, 14)


class CannotGrade(Exception):
    """Grading cannot go on. Its one sentence is for the instructor; nobody gets a zero for it."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Seconds are the processors', or spent asleep."""

    cell: int = 30  # seconds, for one cell
    call: int = 20  # seconds, for the calls of one exercise
    whole: int = 300  # seconds, for all cells
    memory: int = 3072 * MEBIBYTE  # bytes, beyond what torch takes: one process, and all together
    threads: int = 128
    files: int = 256  # that a process has open
    disk: int = 64 * MEBIBYTE  # bytes, in each of the folders that forget
    names: int = 20_000  # files and folders that lie there
    output: int = 4 * MEBIBYTE  # bytes, of what a notebook prints and shows
    answers: int = 8 * MEBIBYTE  # bytes, of all values, and of the replies of an exercise


@dataclass(frozen=True)
class Sandbox:
    """The walls around one notebook. `files` are texts by their paths inside."""

    limits: Limits = Limits()
    files: dict[str, str] = field(default_factory=dict)

    def start(self, inner: list[str], output: int, links: tuple[int, ...] = ()) -> subprocess.Popen:
        """Run `inner` inside. It has these open files, and no others: `output`, and `links`."""
        from grading.syscalls import program

        user = str(FIRST_USER + secrets.randbelow(LAST_USER)) if os.geteuid() == 0 else ""
        files = library.FILES | self.files
        texts = {path: memory_file(text) for path, text in files.items()}
        rules = program()
        try:
            return subprocess.Popen(
                [*walls(self.limits, texts, rules, user), "--", *as_user(user), *inner],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={},  # the first process inside keeps what bubblewrap was started with
                pass_fds=(*links, *texts.values(), rules),
                start_new_session=True,  # and no terminal
            )
        finally:
            for descriptor in (*texts.values(), rules):
                os.close(descriptor)


def memory_file(text: str) -> int:
    """A descriptor from which a text can be read."""
    descriptor = os.memfd_create("text")
    os.write(descriptor, text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def as_user(user: str) -> list[str]:
    """Root's way to be nobody's user. An ordinary user has no rights inside from the start."""
    if not user:
        return []
    who = ["--reuid", user, "--regid", user, "--clear-groups"]
    return [found("setpriv"), *who, "--inh-caps=-all", "--bounding-set=-all", "--"]


def found(tool: str) -> str:
    return shutil.which(tool) or tool


def walls(limits: Limits, texts: dict[str, int], rules: int, user: str) -> list[str]:
    """bubblewrap with what there is inside; texts: descriptors by path; rules: a filter's."""
    words = [found("bwrap"), "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--unshare-pid", "--as-pid-1", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "sandbox", "--seccomp", str(rules)]
    if user:
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        words += ["--cap-add", "CAP_SETPCAP"]
    else:
        words += ["--unshare-user"]
    words += ["--ro-bind", "/usr", "/usr"]
    for top in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if Path(top).is_symlink():
            words += ["--symlink", str(Path(top).readlink()), top]
        elif Path(top).is_dir():
            words += ["--ro-bind", top, top]
    cache = Path("/etc/ld.so.cache")
    words += [*parents(cache), "--ro-bind-try", str(cache), str(cache)]
    # A shared map of /dev/zero would be memory that no process shows as its own (syscalls.py).
    words += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/dev/null", "/dev/zero"]
    for folder in WRITABLE:
        words += ["--size", str(limits.disk), "--perms", "1777", "--tmpfs", folder]
    for prefix in sorted({sys.base_prefix, os.path.normpath(sys.prefix)}):
        if not prefix.startswith("/usr/"):
            words += [*parents(Path(prefix)), "--ro-bind", prefix, prefix]
    for place, folder in library.FOLDERS.items():
        words += [*parents(Path(place)), "--ro-bind", str(folder), place]
    for path, descriptor in texts.items():
        words += [*parents(Path(path)), "--perms", "0444", "--file", str(descriptor), path]
    for name, value in environment().items():
        words += ["--setenv", name, value]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/student"]


def parents(path: Path) -> list[str]:
    """Folders above a bind that everyone may pass: bubblewrap would make them its own user's."""
    above = [p for p in reversed(path.parents) if str(p) not in ("/", "/tmp", "/usr")]
    return [word for p in above for word in ("--perms", "0755", "--dir", str(p))]


def environment() -> dict[str, str]:
    return {
        "HOME": "/student",
        "IPYTHONDIR": "/student/.ipython",
        "LANG": "C.UTF-8",
        "PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # To compile takes a minute, a compiler and more room than there is; without it torch runs
        # the same code, with the same results.
        "TORCHDYNAMO_DISABLE": "1",
        # One thread, whatever a cell asks for: a snapshot is a fork, which has no other threads.
        "OMP_NUM_THREADS": "1",
        "OMP_THREAD_LIMIT": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


# Each says of one wall whether it holds. `hidden` is a file of the host, `port` a server of its.
PROOFS = {
    "the grader's files are hidden": "not os.path.exists({hidden!r})",
    "the user owns nothing": "os.geteuid() != 0 and not os.access('/', os.W_OK)",
    "there is no network": "fails(socket.create_connection, ('127.0.0.1', {port}), 1)",
    "there is no terminal": "fails(open, '/dev/tty')",
    "there is no environment": "begun() <= {names!r}",
    "no other process is seen": "len([one for one in os.listdir('/proc') if one.isdigit()]) < 5",
    "system calls are filtered": "ctypes.CDLL(None).unshare(0x10000000) == -1",
}
PROOF = """
import ctypes, os, socket

def fails(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return True

def begun():
    try:
        with open("/proc/1/environ") as file:
            return set(one.partition("=")[0] for one in file.read().split("\\0") if one)
    except OSError:
        return set()

print([{proofs}])
"""


def linux() -> tuple[int, ...]:
    """The kernel's version: (5, 14)."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def check(hidden: Path) -> None:
    """Raise CannotGrade, in one sentence, unless a sandbox opens and all its walls hold."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if sys.platform != "linux" or missing:
        what = f"{missing[0]} is missing" if missing else f"this is {sys.platform}"
        raise CannotGrade(
            f"grading needs bubblewrap on Linux, and {what}: install the package bubblewrap, or "
            "grade on a hub or in a container"
        )
    try:
        import grading.syscalls  # noqa: F401
    except RuntimeError:
        raise CannotGrade(
            "grading needs libseccomp, and it is missing: install the package libseccomp2"
        ) from None
    if os.geteuid() != 0 and linux() < COUNTS_INSIDE:
        raise CannotGrade(
            f"an ordinary user needs Linux 5.14 to grade, and this is {os.uname().release}: grade "
            "as root, on a hub or in a container"
        )
    if not Path("/proc/thread-self/children").exists():
        raise CannotGrade("this Linux does not say which processes a process has started")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        known = {"hidden": str(hidden.resolve()), "port": port, "names": {*environment(), "PWD"}}
        proofs = ", ".join(PROOFS.values()).format(**known)
        inner = [PYTHON, "-I", "-c", PROOF.format(proofs=f"bool(one) for one in ({proofs},)")]
        process = Sandbox().start(inner, subprocess.PIPE)
        try:
            said = process.communicate(timeout=PATIENCE)[0].decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            process.kill()
            said = f"it gave no answer in {PATIENCE} seconds"
    if said != str([True] * len(PROOFS)):
        held = said.strip("[]").split(", ")
        broken = [wall for wall, good in zip(PROOFS, held, strict=False) if good == "False"]
        why = f"not true inside: {broken[0]}" if broken else said.split("\n")[-1]
        raise CannotGrade(f"the sandbox does not hold on this machine: {why}")
