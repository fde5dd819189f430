"""Many submissions at once, each in a process of its own.

On this machine: so many processes as asked for, forked from one that has imported everything, each
with an end to its time. On many: Dask's distributed scheduler, which calls the same command.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path

from tools.grading.sandbox import PYTHON

ROOT = Path(__file__).parents[2]
SLACK = 120  # seconds beyond the limit of the whole, for all that is around it

Job = tuple[str, str]  # assignment, student


def run_one(folder: str, assignment: str, student: str) -> None:
    """What a forked process does."""
    from tools.grading.course import Course
    from tools.grading.one import hold_back, store

    hold_back()
    store(Course.open(folder), assignment, student)


def local(folder: Path, jobs: list[Job], workers: int, seconds: float) -> Iterator[tuple[Job, str]]:
    """Grade the jobs here, `workers` at a time. Yields each with "", or with why it failed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tools.grading.one"])
    todo, running = list(reversed(jobs)), {}
    try:
        while todo or running:
            while todo and len(running) < workers:
                job = todo.pop()
                process = context.Process(target=run_one, args=(str(folder), *job))
                process.start()
                running[process.sentinel] = (process, job, time.monotonic() + seconds)
            wait(list(running), timeout=1)
            for sentinel, (process, job, until) in list(running.items()):
                late = time.monotonic() > until
                if late:
                    process.kill()
                if late or not process.is_alive():
                    process.join()
                    del running[sentinel]
                    why = "it took too long" if late else f"it ended with {process.exitcode}"
                    yield job, "" if process.exitcode == 0 else why
    finally:
        for process, *_ in running.values():
            process.kill()


def command(folder: str, assignment: str, student: str, seconds: float) -> str:
    """What a Dask worker does: the command for one submission. Returns "", or why it failed."""
    call = [PYTHON, "-m", "tools.grading.one", folder, assignment, student]
    try:
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "it took too long"
    return done.stderr.strip().split("\n")[-1] if done.returncode else ""


def dask(
    folder: Path, jobs: list[Job], workers: int, seconds: float, address: str
) -> Iterator[tuple[Job, str]]:
    """Grade the jobs on a Dask scheduler, whose workers see the course's folder under its name.

    address: a scheduler's, "tcp://…"; "local" starts a cluster of processes on this machine.
    """
    from distributed import Client, LocalCluster, as_completed

    # A worker's one thread waits for the command, so no thread meets another.
    where = (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        if address == "local"
        else address
    )
    with Client(where) as client:
        futures = {
            client.submit(command, str(folder), *job, seconds, pure=False): job for job in jobs
        }
        for future in as_completed(futures):
            failed = future.exception()
            yield futures[future], str(failed) if failed else future.result()
    if address == "local":
        where.close()
