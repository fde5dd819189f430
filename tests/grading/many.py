"""Measure the grading of a large class: time, memory, a kill in the middle.

    python -m tests.grading.many [--students 300] [--jobs 2] [--dask local]

Nine of ten hand in a solution, some of them with a mistake; one of ten is hostile.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from tests.grading.conftest import hand_in, make
from tests.grading.students import class_of
from tools.grading.notebooks import build
from tools.grading.one import stored

ROOT = Path(__file__).parents[2]
HOSTILE = ("loop", "exit", "memory", "output", "changes", "truncated", "patches")


def grading(course, asked) -> subprocess.Popen:
    call = [sys.executable, "-m", "tools.grading.grade", str(course.folder)]
    call += ["--assignment", "class", "--jobs", str(asked.jobs)]
    call += ["--dask", asked.dask] if asked.dask else []
    return subprocess.Popen(call, cwd=ROOT, start_new_session=True)


def watch(process: subprocess.Popen, peaks: list[int]) -> None:
    """Note the memory that everything below a process takes, shared pages counted once."""
    while process.poll() is None:
        total = 0
        try:
            for one in psutil.Process(process.pid).children(recursive=True):
                total += one.memory_full_info().pss
        except psutil.Error:
            pass
        peaks.append(total)
        time.sleep(2)


def results(course) -> dict[str, float]:
    return {
        path.stem: path.stat().st_mtime for path in course.folder.glob("results/class/[!.]*.json")
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--dask", default="")
    asked = parser.parse_args()
    names = [f"s{number:03}" for number in range(asked.students)]
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        course = make(Path(folder) / "course", [*names])
        assignment = course.assignment("class")
        hostile = class_of(course, assignment)
        for number, name in enumerate(names):
            if number % 10 == 9:
                raw = hostile[HOSTILE[number // 10 % len(HOSTILE)]].raw
            else:
                notebook = build(course, assignment, name, "solution")
                if number % 10 > 5:
                    exercise = assignment.exercises[number % 3]
                    mistake = exercise.mistakes[number % len(exercise.mistakes)]
                    for cell in notebook.cells:
                        if cell.id == f"answer-{exercise.id}":
                            cell.source = mistake.code
                raw = json.dumps(notebook).encode()
            hand_in(course, "class", name, raw)
        made = [sys.executable, "-m", "tools.grading.make", str(course.folder)]
        subprocess.run(made, cwd=ROOT, check=True)

        began, peaks = time.monotonic(), []
        process = grading(course, asked)
        while len(results(course)) < asked.students // 2 and process.poll() is None:
            time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        first = results(course)
        process = grading(course, asked)
        threading.Thread(target=watch, args=(process, peaks), daemon=True).start()
        process.wait()
        seconds = time.monotonic() - began
        last = results(course)
        again = [name for name in first if last[name] != first[name]]
        each = [stored(course, "class", name) for name in names]
        spent = [one["seconds"] for one in each]
        print(f"{len(last)} of {asked.students} graded, exit {process.returncode}")
        print(f"{seconds:.0f} s in all, {asked.jobs} at a time, killed at {len(first)}")
        print(f"graded twice after the kill: {len(again)}")
        print(f"a student: median {statistics.median(spent):.1f} s, longest {max(spent):.1f} s")
        print(f"memory: {max(peaks) / 2**30:.2f} GiB at most for everything at once")
        print(f"a sandbox: median {statistics.median(one['peak_mib'] for one in each):.0f} MiB")


if __name__ == "__main__":
    main()
