"""A sandbox for one kernel: bubblewrap, with limits on time, memory, processes and files.

Inside there is the interpreter with its packages, read-only, an empty folder that forgets, and
the folder of the kernel's sockets. There is no network, no other file and no other process.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 2**20
PYTHON = os.path.normpath(sys.executable)  # not resolved: a virtual environment's is a link

# As root there is no user namespace: the kernel's own user is then one that owns nothing.
FIRST_USER, LAST_USER = 1_000_000, 2_000_000_000


class CannotGrade(Exception):
    """Grading cannot start. Its one sentence is for the instructor; nobody gets a zero for it."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell: int = 30  # seconds of the processor, for one cell
    call: int = 20  # seconds, for the calls of one exercise
    whole: int = 300  # seconds, for all of it
    memory: int = 3072 * MEBIBYTE  # bytes, for one process, and for all of them together
    processes: int = 24
    threads: int = 192
    disk: int = 64 * MEBIBYTE  # bytes, in each of the folders that forget
    output: int = 4 * MEBIBYTE  # bytes, of a notebook's outputs
    answers: int = 8 * MEBIBYTE  # bytes, of all answers


@dataclass(frozen=True)
class Sandbox:
    """The walls around one kernel. `sockets` is its one folder that is seen from outside."""

    sockets: Path
    library: Path | None = None
    limits: Limits = Limits()
    user: int = 0

    @classmethod
    def make(cls, sockets: Path, library: Path | None = None, limits: Limits | None = None):
        user = FIRST_USER + secrets.randbelow(LAST_USER) if os.geteuid() == 0 else 0
        return cls(sockets, library, limits or Limits(), user)

    def open_sockets(self) -> None:
        """Let the kernel's user into the folder of its sockets."""
        if self.user:
            for path in [self.sockets, *self.sockets.iterdir()]:
                os.chown(path, self.user, self.user)

    def command(self, inner: list[str]) -> list[str]:
        """The command line that runs `inner` inside."""
        limits = self.limits
        outer = [
            "prlimit",
            f"--nproc={limits.threads}",
            f"--as={limits.memory}",
            f"--fsize={limits.disk}",
            f"--cpu={limits.whole}",
            "--core=0",
            "--nofile=512",
            "bwrap",
        ]
        if self.user:
            user = str(self.user)
            # bubblewrap starts as root and has left; what runs inside is nobody's user.
            inner = [
                *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
                *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--", *inner),
            ]
            outer += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
            outer += ["--cap-add", "CAP_SETPCAP"]
        else:
            outer += ["--unshare-user"]
        return [*outer, *self.walls(), "--", *inner]

    def walls(self) -> list[str]:
        size = ["--size", str(self.limits.disk), "--perms", "1777", "--tmpfs"]
        walls = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        walls += ["--die-with-parent", "--clearenv", "--hostname", "sandbox"]
        walls += ["--ro-bind", "/usr", "/usr"]
        for top in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
            if Path(top).is_symlink():
                walls += ["--symlink", str(Path(top).readlink()), top]
            elif Path(top).is_dir():
                walls += ["--ro-bind", top, top]
        walls += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
        walls += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", *size, "/tmp"]
        walls += [*size, "/student"]
        for prefix in sorted({sys.base_prefix, os.path.normpath(sys.prefix)}):
            if not prefix.startswith("/usr"):
                walls += [*parents(Path(prefix)), "--ro-bind", prefix, prefix]
        walls += [*parents(self.sockets), "--bind", str(self.sockets), str(self.sockets)]
        path = str(Path(PYTHON).parent)
        names = {"HOME": "/student", "PATH": f"{path}:/usr/bin:/bin", "LANG": "C.UTF-8"}
        names |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "IPYTHONDIR": "/student/.ipython"}
        names |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "IN_SANDBOX": "1"}
        if self.library:
            walls += ["--ro-bind", str(self.library), "/library"]
            names["PYTHONPATH"] = "/library"
        for name, value in names.items():
            walls += ["--setenv", name, value]
        return [*walls, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/student"]


def parents(path: Path) -> list[str]:
    """Folders above a bind that everyone may pass: bubblewrap would make them its own user's."""
    above = [p for p in reversed(path.parents) if str(p) not in ("/", "/tmp", "/usr")]
    return [word for p in above for word in ("--perms", "0755", "--dir", str(p))]


PROOF = """
import os, socket
print("here", os.path.exists("/student"), os.path.exists({here!r}), os.geteuid() != 0)
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=1)
    print("network")
except OSError:
    print("no network")
"""


def check(hidden: Path) -> None:
    """Raise CannotGrade, in one sentence, unless a sandbox opens and `hidden` is not seen in it."""
    missing = [tool for tool in ("bwrap", "prlimit", "setpriv") if not shutil.which(tool)]
    if sys.platform != "linux" or missing:
        what = f"{missing[0]} is missing" if missing else f"this is {sys.platform}"
        raise CannotGrade(
            f"grading needs bubblewrap on Linux, and {what}: install the package bubblewrap, or "
            "grade on a hub or in a container"
        )
    import socket
    import tempfile

    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tempfile.TemporaryDirectory(prefix="sandbox-") as sockets,
    ):
        sandbox = Sandbox.make(Path(sockets))
        sandbox.open_sockets()
        proof = PROOF.format(here=str(hidden.resolve()), port=server.getsockname()[1])
        command = sandbox.command([PYTHON, "-c", proof])
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    wanted = ["here True False True", "no network"]
    if done.returncode or done.stdout.split("\n")[:2] != wanted:
        said = (done.stderr or done.stdout).strip().replace("\n", ", ")
        raise CannotGrade(f"the sandbox does not hold on this machine: {said}")
