"""Measure the grading of a large class: time, memory, a kill in the middle.

    python -m tests.grading.many [--students 300] [--jobs 2] [--dask local]

Nine of ten hand in a notebook that runs, a third of these with a mistake; one of ten is hostile.
Half-way everything is killed, and the same command is given again. With 300 students the result is
stored in many.json, and as the table many.md, which the page for instructors includes.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import psutil

from benchmarks.cost import machine
from grading.notebooks import build
from grading.submission import stored
from tests.grading.conftest import hand_in, make
from tests.grading.students import EXERCISES, RIGHT, class_of

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_suffix(".json")
HOSTILE = ("loop", "exit", "memory", "output", "changes", "truncated", "patches")
PACKAGES = ("nbgrader", "torch", "ipykernel")
WHOLE = 300  # students of the class whose numbers are stored

TABLE = """\
| {students} submissions of {exercises} exercises, {jobs} at a time | measured |
|---|---:|
| sandboxes: every notebook run and marked | {sandboxes:.0f} s |
| gradebook, feedback pages and tables | {books:.0f} s |
| both | {whole:.0f} s |
| wall-clock time per student | {share:.2f} s |
| time in the sandbox per student: median | {median:.1f} s |
| longest time in the sandbox, for a hostile submission | {longest:.1f} s |
| memory for everything at once, at most | {memory:.2f} GiB |
| memory of one sandbox: median | {sandbox:.0f} MiB |
| submissions graded when the run was killed | {killed} |
| graded twice because of the kill | {twice} |
| rows with an unexpected result | {wrong} |
| other processes that needed a processor at the start | {others:.1f} |

Measured on {date} by `make class-300`: {machine}, {cores} cores, Python {python}, {versions}.
"""


def grading(course, asked) -> subprocess.Popen:
    call = [sys.executable, "-m", "grading", "grade", str(course.folder)]
    call += ["--assignment", "class", "--jobs", str(asked.jobs)]
    call += ["--dask", asked.dask] if asked.dask else []
    return subprocess.Popen(call, cwd=ROOT, start_new_session=True)


def watch(process: subprocess.Popen, peaks: list[int]) -> threading.Thread:
    """Note the memory of a process and of all below it, shared pages counted once."""

    def look():
        while process.poll() is None:
            total, family = 0, []
            with contextlib.suppress(psutil.Error):
                first = psutil.Process(process.pid)
                family = [first, *first.children(recursive=True)]
            for member in family:
                with contextlib.suppress(psutil.Error):  # it has just ended
                    total += member.memory_full_info().pss
            peaks.append(total)
            time.sleep(2)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    return thread


def results(course) -> dict[str, int]:
    """When each result was written, by the student."""
    paths = course.folder.glob("results/class/[!.]*.json")
    return {path.stem: path.stat().st_mtime_ns for path in paths}


def fill(course, names: list[str]) -> dict[str, tuple | None]:
    """Hand in for everybody. Returns the statuses that each must get; None: not all right."""
    assignment = course.assignment("class")
    hostile, wanted = class_of(course, assignment), {}
    for number, name in enumerate(names):
        if number % 10 == 9:
            student = hostile[HOSTILE[number // 10 % len(HOSTILE)]]
            # Theirs are another's numbers: that shows in the one exercise that asks for values.
            raw, wanted[name] = student.hand_in, student.statuses[1:]
        else:
            notebook, wanted[name] = build(course, assignment, name, "solution"), RIGHT[1:]
            if number % 10 > 5:
                exercise = assignment.exercises[number % 3]
                mistake = exercise.mistakes[number % len(exercise.mistakes)]
                wanted[name] = None
                for cell in notebook.cells:
                    if cell.id == f"answer-{exercise.id}":
                        cell.source = mistake.code
            raw = json.dumps(notebook).encode()
        hand_in(course, "class", name, raw)
    return wanted


def wrong_rows(course, wanted: dict[str, tuple | None]) -> list[str]:
    """Those whose row in the table is missing, or not as it should be."""
    with (course.folder / "grades" / "class.csv").open(encoding="utf-8-sig") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    wrong = []
    for name, statuses in wanted.items():
        row = rows.get(name, {})
        got = tuple(row.get(f"{exercise} status") for exercise in EXERCISES)
        fits = got[1:] == statuses if statuses else got != RIGHT
        if row.get("status") != "graded" or not fits:
            wrong.append(f"{name}: {row.get('status')}, {got}, wanted {statuses}")
    return wrong


def measure(course, names: list[str], asked) -> tuple[dict, list[str]]:
    """Grade them all, with a kill in the middle. Returns what was measured, and wrong rows."""
    others = os.getloadavg()[0]
    wanted, peaks = fill(course, names), []
    made = [sys.executable, "-m", "grading", "make", str(course.folder)]
    subprocess.run(made, cwd=ROOT, check=True)

    began = time.monotonic()
    process = grading(course, asked)
    watching = watch(process, peaks)
    while len(results(course)) < asked.students // 2 and process.poll() is None:
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    watching.join()
    first = results(course)

    process = grading(course, asked)
    watching = watch(process, peaks)
    while len(results(course)) < asked.students and process.poll() is None:
        time.sleep(0.5)
    run = time.monotonic() - began
    code = process.wait()
    whole = time.monotonic() - began
    last = results(course)
    each = [result for name in names if (result := stored(course, "class", name))]
    measured = {
        "students": asked.students,
        "exercises": len(EXERCISES),
        "jobs": asked.jobs,
        "engine": asked.dask or "processes",
        "exit": code,
        "graded": len(last),
        "sandboxes": round(run, 1),
        "books": round(whole - run, 1),
        "whole": round(whole, 1),
        "share": round(whole / asked.students, 3),
        "median": statistics.median(result["seconds"] for result in each),
        "longest": max(result["seconds"] for result in each),
        "memory": round(max(peaks) / 2**30, 3),
        "sandbox": statistics.median(result["peak_mib"] for result in each),
        "killed": len(first),
        "others": round(others, 1),
        "twice": sum(last.get(name) != when for name, when in first.items()),
        "date": date.today().isoformat(),
        "machine": machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }
    wrong = wrong_rows(course, wanted)
    return {**measured, "wrong": len(wrong)}, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=WHOLE)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--dask", default="")
    asked = parser.parse_args()
    names = [f"s{number:03}" for number in range(asked.students)]
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        course = make(Path(folder) / "course", names)
        measured, wrong = measure(course, names, asked)
    print(*wrong, TABLE.format(**measured), sep="\n")
    if measured["exit"] or measured["twice"] or wrong or measured["graded"] < asked.students:
        sys.exit("This class was not graded as it should be; nothing is stored.")
    if asked.students == WHOLE and not asked.dask:
        STORED.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", "utf-8")
        STORED.with_suffix(".md").write_text(TABLE.format(**measured), "utf-8")


if __name__ == "__main__":
    main()
