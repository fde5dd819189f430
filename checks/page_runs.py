"""Runs of the page's tests in a copy of the project, each in a fork of one process.

The process has imported what takes seconds, torch and Sphinx among it, and has computed nothing; a
browser is started in each run. Only a run's script differs from the project's. Several processes
work at a time, each with a copy of its own: tests mostly wait.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Queue
from pathlib import Path

import pytest

from checks.page_score import ROOT, SITE, files
from machine import node

WORK = ROOT / ".mutants" / "page"
# What decides whether the page is right; the slow tests take as long again.
TESTS = ["tests/explorer", "tests/site", "tests/test_bench_page.py", "tests/test_bench_visits.py"]
PATIENCE = 10  # seconds of a wait, see tests/patience.py
TOO_LONG = 100
LONGEST_TEST = 90  # seconds, for one that hangs where no wait is bounded
HEAVY = ["hypothesis", "playwright.sync_api", "axe_playwright_python.sync_playwright"]
HEAVY += ["torch", "matplotlib", "anywidget", "attn_core.views", "publishing.site.exercise_boxes"]
OUR_OWN = ("benchmarks", "generate", "machine", "publishing", "tests", "attn_core.views")


@dataclass(frozen=True)
class Place:
    """Where a process works: a copy of the project, and beside it what its runs leave."""

    folder: Path

    @property
    def copy(self) -> Path:
        return self.folder / "copy"

    @property
    def built(self) -> Path:
        return self.copy / "_build" / "html" / "_static"

    @property
    def notes(self) -> Path:
        return self.folder / "notes"


HERE = Place(WORK)


def prepare(names: Queue) -> None:
    """Make this process one that runs tests, in a folder of a name that no other has."""
    global HERE
    HERE = Place(WORK / names.get())
    shutil.rmtree(HERE.folder, ignore_errors=True)
    named = (".git", ".venv*", ".mutants", ".hypothesis", "__pycache__", "node_modules")
    leave = shutil.ignore_patterns(*named)
    shutil.copytree(ROOT, HERE.copy, ignore=leave)
    (HERE.copy / "node_modules").symlink_to(ROOT / "node_modules")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # a run ends with the process
    os.chdir(HERE.copy)
    jupyter = ROOT / ".venv" / "share" / "jupyter"  # this environment sees only the packages
    os.environ |= {
        "PYTHONPATH": str(HERE.copy),  # for the kernels that a test starts
        "JUPYTER_PATH": str(jupyter),
        "JUPYTERLAB_DIR": str(jupyter / "lab"),
    }
    sys.path[:0] = [str(HERE.copy)]
    for name in HEAVY:
        importlib.import_module(name)


def outdated() -> list[str]:
    """The scripts of the copy's site that are not those of the project."""
    return [
        name
        for name, text in built().items()
        if (HERE.built / name).read_text(encoding="utf-8") != text
    ]


def forget(*names: str) -> None:
    """Let the next import read these packages again, from the copy, with its script."""
    for name in list(sys.modules):
        if any(name == package or name.startswith(f"{package}.") for package in names):
            del sys.modules[name]


def built() -> dict[str, str]:
    """The scripts of the copy's site as a build would make them, by name."""
    from attn_core.views import script
    from publishing.site import exercise_boxes

    if node.run("node", str(HERE.copy / "generate" / "bundle.js")).returncode:
        raise RuntimeError("the script of the copy must be one that esbuild bundles")
    scripts = script.files() | {
        "diagnosis.js": (script.BUILT / "diagnosis.js").read_text(encoding="utf-8"),
        "answer.js": exercise_boxes.script(),
    }
    for name in SITE:
        scripts[Path(name).name] = (HERE.copy / name).read_text(encoding="utf-8")
    return scripts


def write(texts: dict[str, str]) -> None:
    """Give the copy these texts, and to all other scripts those of the project."""
    for name in files():
        text = texts.get(name) or (ROOT / name).read_text(encoding="utf-8")
        (HERE.copy / name).write_text(text, encoding="utf-8")


@dataclass
class Run:
    """What came of a run: pytest's status, None if it had to be ended; a note of each test."""

    status: int | None
    tests: list[dict]

    @property
    def red(self) -> str | None:
        """The first test that failed, or that never ended."""
        return next((test["name"] for test in self.tests if not test.get("passed")), None)


def run(
    tests: list[str], *options: str, patience: float = PATIENCE, plugin: Notes | None = None
) -> Run:
    """Run tests in a fork, in this order; nothing of this process changes."""
    HERE.notes.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.environ["PATIENCE"] = str(patience)
        status = 70
        try:
            with (HERE.folder / "log").open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            status = _in_the_fork(tests, options, plugin or Notes())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    try:
        _, ended = os.waitpid(child, 0)
    except SystemExit:
        os.killpg(child, signal.SIGKILL)
        raise
    if os.WIFSIGNALED(ended):
        time.sleep(1)  # Playwright ends its browser once we are gone
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    lines = HERE.notes.read_text(encoding="utf-8").splitlines() if HERE.notes.exists() else []
    notes = {note["name"]: note for note in map(json.loads, lines)}
    return Run(os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None, list(notes.values()))


def _in_the_fork(tests: list[str], options: tuple[str, ...], plugin: Notes) -> int:
    for name, text in built().items():
        (HERE.built / name).write_text(text, encoding="utf-8")
    forget(*OUR_OWN)
    quiet = ["-q", "--tb=short", "-p", "no:cacheprovider", "-m", "not slow and not deep"]
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was imported before
    quiet += ["-p", "no:unraisableexception", f"--basetemp={HERE.folder / 'temporary'}"]
    return int(pytest.main([*quiet, *options, *tests], plugins=[plugin]))


def entering(marked: dict[str, str], tests: list[str]) -> list[dict]:
    """What the tests note of the marks that they pass, see Entered."""
    write(marked)
    return run(tests, plugin=Entered()).tests


def red(tests: list[str]) -> list[str]:
    """Those of the tests that fail with the project's own script."""
    write({})
    return [test["name"] for test in run(tests).tests if not test.get("passed")]


def first_red(changed: dict[str, str], batches: list[tuple[float, list[str]]]) -> str | None:
    """The first test that fails with these scripts, or never ends. A batch: patience, and tests."""
    for patience, tests in batches:
        failed = red_of_batch(changed, tests, patience) if tests else None
        if failed:
            return failed
    return None


def red_of_batch(changed: dict[str, str], tests: list[str], patience: float) -> str | None:
    write(changed)
    made = run(tests, "-x", patience=patience)
    if made.status not in (None, 0, 1):
        raise RuntimeError(f"pytest ended with {made.status}: see {HERE.folder / 'log'}")
    if made.status == 0:
        return None
    # A wait in vain may be the doing of a busy machine: the test must be green without the change.
    if made.tests[-1].get("seconds", patience) >= patience:
        write({})
        if run([made.red], patience=patience).status != 0:
            return red_of_batch(changed, tests, 4 * patience) if patience < TOO_LONG else None
    return made.red


class Notes:
    """A pytest plugin that notes each test as it begins and as it ends, and ends one that hangs."""

    def __init__(self, longest: int = LONGEST_TEST) -> None:
        self.longest = longest

    def note(self, **what) -> None:
        with HERE.notes.open("a", encoding="utf-8") as notes:
            notes.write(json.dumps(what) + "\n")

    def pytest_runtest_logstart(self, nodeid):
        self.seconds, self.passed = 0.0, True
        self.note(name=nodeid)
        signal.alarm(self.longest)

    def pytest_runtest_logreport(self, report):
        self.seconds += report.duration
        self.passed &= not report.failed

    def pytest_runtest_logfinish(self, nodeid):
        signal.alarm(0)
        self.note(name=nodeid, seconds=round(self.seconds, 3), passed=self.passed)


class Entered(Notes):
    """Notes for each test which functions of a marked script it enters, by their numbers.

    Each page gets `enters(n)`, which tells a number once a test.
    """

    SCRIPT = """(() => {
      const told = new Set();
      globalThis.enters = (n) => { if (!told.has(n)) { told.add(n); toldOf(n); } };
      globalThis.enters.again = () => told.clear();
    })();"""

    def __init__(self) -> None:
        super().__init__(0)
        self.numbers, self.opened = set(), []

    def pytest_sessionstart(self):
        from playwright.sync_api import Browser

        for name in ("new_context", "new_page"):
            setattr(Browser, name, self.watched(getattr(Browser, name)))

    def watched(self, new):
        def made(*args, **how):
            target = new(*args, **how)
            target.expose_binding("toldOf", lambda _, number: self.numbers.add(number))
            target.add_init_script(self.SCRIPT)
            self.opened.append(target)
            return target

        return made

    @pytest.hookimpl(tryfirst=True)  # while the pages are still there
    def pytest_runtest_teardown(self):
        for target in list(self.opened):
            try:
                for page in getattr(target, "pages", [target]):
                    page.evaluate("globalThis.enters?.again()")
            except Exception:  # whatever is said of a page that is closed
                self.opened.remove(target)

    def pytest_runtest_logfinish(self, nodeid):
        self.note(
            name=nodeid,
            seconds=round(self.seconds, 3),
            passed=self.passed,
            entered=sorted(self.numbers),
        )
        self.numbers.clear()
