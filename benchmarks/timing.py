"""Times of several functions taken in turn, and a long computation's memory."""

import gc
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
NOT_TIMED = "time not measured: the machine was busy; the next `make bench` measures it"


def in_turn(
    calls: dict[str, Callable[[], object]],
    rounds: int,
    repeats: int = 1,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, list[float]]:
    """Seconds of processor time of this thread, or by another clock, for each call and round.

    Each round runs all of them, so that a slow moment of the machine hits all. What a call gives
    is freed before the next one starts: everyone gets fresh memory.

    >>> {name: len(times) for name, times in in_turn({"nothing": dict}, rounds=3).items()}
    {'nothing': 3}
    """
    times = {name: [] for name in calls}
    for call in calls.values():  # the first call prepares what later ones find ready
        call()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                start = clock()
                for _ in range(repeats):
                    result = call()
                times[name].append((clock() - start) / repeats)
                del result
    finally:
        gc.enable()
    return times


def on_the_clock(call: Callable[[], object], rounds: int) -> list[float]:
    """Seconds that pass while it runs, one number a round: for a call that uses several threads.

    >>> len(on_the_clock(dict, rounds=3))
    3
    """
    call()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def ratio(times: dict[str, list[float]], over: str, under: str) -> tuple[float, str]:
    """How many times longer one takes than the other: the median of the rounds, and their spread.

    >>> ratio({"a": [4.0, 6.0, 9.0], "b": [2.0, 2.0, 2.0]}, "a", "b")
    (3.0, '2.00 to 4.50×')
    """
    each = [a / b for a, b in zip(times[over], times[under], strict=True)]
    return median(each), f"{min(each):.2f} to {max(each):.2f}×"


def busy() -> str:
    """How many processes wanted the cores in the last minute, if more than there are."""
    wanted, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f"{wanted:.0f} processes shared {cores} cores" if wanted > cores + 1 else ""


def duration(seconds: float) -> str:
    """A time as a text.

    >>> duration(0.0000123), duration(0.0456), duration(78.9)
    ('12.3 µs', '45.6 ms', '78.9 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def peak_memory() -> int:
    """The most bytes that this process has had so far."""
    # Not ru_maxrss: that of a child starts at what its parent held.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def in_another_process(module: str, *arguments: str, **environment: str) -> object:
    """What `python -m module arguments` prints as JSON in its last line."""
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=os.environ | environment,
    )  # fmt: skip
    return json.loads(run.stdout.splitlines()[-1])
