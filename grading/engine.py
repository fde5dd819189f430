"""Many submissions at once, each in a process of its own.

On this machine: so many processes as asked for, forked from one that has imported everything, each
with an end to its time. On many: Dask's distributed scheduler, which calls the same command.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from exercises.messages import sentence
from grading import interrupts
from grading.run import SLOWEST
from grading.sandbox import PYTHON, CannotGrade, Limits

ROOT = Path(__file__).parents[1]
TOO_LONG = sentence("it took too long")
SLACK = 300  # seconds for all that is around a submission's own time
DIE_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG

Job = tuple[str, str]  # assignment, student
Work = Callable[[str, str, str], str]  # a course's folder and a job; "", or why it failed


def longest(limits: Limits, exercises: int) -> float:
    """Seconds after which a submission's process hangs for a reason of ours."""
    return SLOWEST * (limits.whole + exercises * limits.call) + SLACK


def store_one(folder: str, assignment: str, student: str) -> str:
    """Grade one submission."""
    from grading.course import Course
    from grading.submission import store

    store(Course.open(folder), assignment, student)
    return ""


def run_one(work: Work, folder: str, assignment: str, student: str, ended: Connection) -> None:
    """What a forked process does. It says "", or why nothing came of it."""
    from grading.submission import hold_back

    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    interrupts.reachable()
    hold_back()
    try:
        ended.send(work(folder, assignment, student))
    except CannotGrade as error:
        ended.send(str(error))
    except BaseException as error:
        ended.send(failure(error))


def failure(error: BaseException) -> str:
    """An error of ours, as its kind and place; its text may quote a student."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return sentence(
        "the grader failed: {0} in {1}",
        type(error).__name__,
        f"{Path(last.filename).name}:{last.lineno}",
    )


def heard(result: Connection, otherwise: str) -> str:
    """What a process has said before it ended."""
    try:
        return result.recv() if result.poll() else otherwise
    except EOFError:  # nothing: it was killed
        return otherwise


def local(
    folder: Path, jobs: list[Job], workers: int, seconds: float, work: Work = store_one
) -> Iterator[tuple[Job, str]]:
    """Do the jobs here, `workers` at a time. Yields each with "", or with why it failed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["grading.submission", "grading.pages"])
    interrupts.start_forkserver()
    todo, running = list(reversed(jobs)), {}
    try:
        while todo or running:
            while todo and len(running) < workers:
                job = todo.pop()
                result, ended = context.Pipe(duplex=False)
                process = context.Process(target=run_one, args=(work, str(folder), *job, ended))
                with interrupts.held():
                    process.start()
                ended.close()
                running[process.sentinel] = (process, job, time.monotonic() + seconds, result)
            wait(list(running), timeout=1)
            for sentinel, (process, job, until, result) in list(running.items()):
                late = time.monotonic() > until
                if late:
                    process.kill()
                if late or not process.is_alive():
                    process.join()
                    del running[sentinel]
                    ended_with = sentence("it ended with {0}", process.exitcode)
                    why = TOO_LONG if late else ended_with
                    yield job, why if late else heard(result, why)
                    result.close()
    finally:
        for process, *_ in running.values():
            process.kill()


def command(folder: str, assignment: str, student: str, seconds: float) -> str:
    """What a Dask worker does: the command for one submission. Returns "", or why it failed."""
    call = [PYTHON, "-m", "grading.submission", folder, assignment, student]
    try:
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return TOO_LONG
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
