"""Many submissions: one that fails touches no other, a kill loses nothing, Dask gives the same."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from grading import engine
from grading.notebooks import build
from grading.submission import stored
from tests.grading.conftest import hand_in, make, run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUBREAPER = 36  # prctl's PR_SET_CHILD_SUBREAPER
NAMES = ("ada", "bob", "cem", "dan")
SAME = ("score", "flags", "digest", "marks")


@pytest.fixture
def course(tmp_path):
    course = make(tmp_path / "course", NAMES)
    for name in NAMES:
        answer = "starter" if name == "dan" else "solution"
        notebook = build(course, course.assignment("class"), name, answer)
        hand_in(course, "class", name, nbformat.writes(notebook).encode())
    return course


def results(course) -> dict:
    by_name = {name: stored(course, "class", name) for name in NAMES}
    return {name: {key: result[key] for key in SAME} for name, result in by_name.items() if result}


def jobs() -> list[engine.Job]:
    return [("class", name) for name in NAMES]


def test_one_that_fails_touches_no_other(course):
    asked = [("class", "nobody"), *jobs()]
    ended = dict(engine.local(course.folder, asked, 2, 300))
    assert [job for job, why in ended.items() if why] == [("class", "nobody")]
    assert set(results(course)) == set(NAMES)


def test_one_that_takes_too_long_is_ended_and_gets_no_result(course):
    ended = dict(engine.local(course.folder, jobs()[:1], 1, 0.1))
    assert ended == {("class", "ada"): "it took too long"}
    assert results(course) == {}


def killed(*_) -> str:
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_that_is_killed_stops_no_other(tmp_path):
    ended = dict(engine.local(tmp_path, jobs()[:2], 1, 300, killed))
    assert ended == dict.fromkeys(jobs()[:2], "it ended with -9")


def test_a_kill_in_the_middle_loses_nothing(course):
    assert run("make", course.folder).returncode == 0
    call = [sys.executable, "-m", "grading", "grade", str(course.folder)]
    call += ["--assignment", "class", "--jobs", "1"]
    first = subprocess.Popen(call, cwd=ROOT, start_new_session=True)
    while not results(course) and first.poll() is None:
        time.sleep(0.1)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = {name: course.result("class", name).stat().st_mtime_ns for name in results(course)}
    assert 0 < len(before) < len(NAMES)
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "4 graded" in done.stdout
    after = {name: course.result("class", name).stat().st_mtime_ns for name in results(course)}
    assert {name: after[name] for name in before} == before
    assert set(after) == set(NAMES)


def test_a_stop_is_said_in_one_sentence_and_leaves_nothing(course):
    assert run("make", course.folder).returncode == 0
    call = [sys.executable, "-m", "grading", "grade", str(course.folder), "--jobs", "2"]
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    before = set(psutil.Process().children(recursive=True))
    first = subprocess.Popen(call, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True)
    while not results(course) and first.poll() is None:
        time.sleep(0.1)
    os.killpg(first.pid, signal.SIGINT)
    said = first.communicate()[1].decode().replace("\r", "\n").strip().split("\n")[-1]
    assert said == "Stopped. What is graded stays graded; the same command goes on."
    after = set(psutil.Process().children(recursive=True)) - before
    _, alive = psutil.wait_procs(after, timeout=60)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    ctypes.CDLL(None).prctl(SUBREAPER, 0)


@pytest.mark.deep
def test_dask_gives_the_same(course):
    ended = dict(engine.dask(course.folder, jobs(), 2, 300, "local"))
    assert set(ended.values()) == {""}
    by_dask = results(course)
    for name in NAMES:
        course.result("class", name).unlink()
    assert set(dict(engine.local(course.folder, jobs(), 2, 300)).values()) == {""}
    assert results(course) == by_dask
