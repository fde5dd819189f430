"""Runs a student's cells in IPython, and keeps the moments that are asked about.

The first process of the sandbox holds a line to the grader, and ends when that ends; with it all
others end, and none of them can end it. Its child, the kernel, runs the cells that it is told to.
Right after the cell of an exercise it forks; the fork is a snapshot (answers.py). No later cell can
change what a snapshot holds, and no snapshot what another holds.

Nothing of this file stands among the student's names, and none of theirs is looked up here but the
answers'. What happens here is the student's to tamper with: it can change the student's own
answers, and nothing else.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from . import answers
from .border import PLACE, TO_RUNNER, Keep, Picture, Raised, Ran, Ready, plain
from .links import Link

SHOWN = ["text/plain", "image/png"]
SET_DUMPABLE = 4  # prctl's PR_SET_DUMPABLE


class Publisher(DisplayPublisher):
    def publish(self, data, *_, **__) -> None:
        self.shell.show(data)


class Hook(DisplayHook):
    """Shows the value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        self.shell.show(format_dict)


class Shell(InteractiveShell):
    """IPython that prints to a pipe, and sends its pictures over the link."""

    displayhook_class = Hook
    display_pub_class = Publisher
    control: Link | None

    def show(self, data: dict) -> None:
        if self.control is None:  # in a snapshot nothing is shown
            return
        picture = data.get("image/png")
        if picture is None:
            print(data.get("text/plain", ""))
            return
        print(PLACE, end="", flush=True)
        png = base64.b64decode(picture) if isinstance(picture, str) else picture
        self.control.send(Picture(png))

    def enable_gui(self, gui=None) -> None:
        """There is no screen: %matplotlib asks for it nevertheless."""

    def ask_exit(self) -> None:
        """`exit()` ends nothing."""


def flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:  # a cell may have put anything there, or closed it
            continue


def limit(limits: dict[str, int], snapshots: int) -> None:
    """Limit this process and all that come from it. `memory` is beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    lower(resource.RLIMIT_AS, pages * resource.getpagesize() + limits["memory"])
    lower(resource.RLIMIT_NOFILE, limits["files"])
    lower(resource.RLIMIT_FSIZE, limits["disk"])
    lower(resource.RLIMIT_CPU, limits["whole"])
    lower(resource.RLIMIT_CORE, 0)
    # The last ones are for snapshots, so that a cell that takes all it gets stops none.
    lower(resource.RLIMIT_NPROC, limits["threads"] + snapshots)
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    resource.setrlimit(resource.RLIMIT_NPROC, (max(1, hard - snapshots), hard))


def lower(kind: int, value: int) -> None:
    """Set a limit for good, unless there is a lower one."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def run(shell: Shell, source: str) -> str:
    """Run a cell. Returns the name of the error that it ended with, or ""."""
    try:
        result = shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as raised:
        error = raised
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)  # an alarm would ring in another's cell
    flush()
    return "" if error is None else plain(type(error).__name__[:100])


def keep(link: Link, names: list[str], shell: Shell, others: list[Link], seconds: int) -> None:
    """Fork a snapshot of this moment."""
    child, (soft, hard) = -1, resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
    try:
        # Of forking beside threads; by our own module, whatever a cell has put in its place.
        with warnings.catch_warnings(module=warnings, action="ignore"):
            child = os.fork()
    except OSError:
        link.send(Raised("OSError"))
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    if child:
        link.close()
        return
    try:
        for other in others:
            other.close()
        shell.control = None
        # The grader ends it earlier; this is for one that hides from it.
        lower(resource.RLIMIT_CPU, 2 * seconds)
        answers.serve(link, names, shell.user_ns)
    finally:
        os._exit(0)


def kernel(links: dict[int, Link], limits: dict[str, int]) -> None:
    """Run cells until the grader hangs up."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Minimal"
    config.DisplayFormatter.active_types = SHOWN
    shell = Shell.instance(config=config)
    shell.control = control = links.pop(0)
    control.send(Ready())
    while True:
        asked = control.receive(TO_RUNNER)
        if isinstance(asked, Keep):
            link = links.pop(asked.link)
            keep(link, asked.names, shell, [control, *links.values()], limits["call"])
        else:
            control.send(Ran(run(shell, asked.source)))


def main() -> None:
    """What the sandbox starts, with the numbers of its links and its limits, as JSON."""
    asked = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path.remove("/runner")
    for name in [module for module in sys.modules if module.partition(".")[0] == "inside"]:
        del sys.modules[name]
    sys.path[:] = ["", *sys.path, "/library"]
    sys.stdout.reconfigure(line_buffering=True)
    limit(asked["limits"], len(asked["links"]))
    links = {number: Link(descriptor) for number, descriptor in enumerate(asked["links"])}
    # The memory of the first process is out of the others' reach.
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_DUMPABLE, 0)
    if os.fork() == 0:
        prctl(SET_DUMPABLE, 1)
        try:
            os.close(asked["line"])
            kernel(links, asked["limits"])
        finally:
            os._exit(1)
    for link in links.values():
        link.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which Python would obey, sent from inside
    signal.signal(signal.SIGCHLD, reap)
    os.read(asked["line"], 1)


def reap(*_) -> None:
    """Let the ended be gone."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
