"""A record and its first tile with all threads, alone and beside a program that computes.

    make bench

Other tables count processor time, which doesn't show how long threads wait for one another. Here
it is the wall-clock time.
"""

import os
import time
from dataclasses import replace

import torch

from attn_core import causal, trace
from benchmarks import peers, report
from benchmarks.kernels import inputs, no_slower, row
from benchmarks.timing import NOT_TIMED, busy, in_turn
from machine import load

T = 8192
# What is timed, beside what, and how many times as long it may take.
GOALS = {
    "`trace`": ("trace", "SDPA", 1.25),
    "the first tile": ("first tile", "flash", 1.5),
    "the first tile, all threads against one": ("first tile", "one thread", 1.0),
}


def rows(T: int, state: str, rounds: int, others: str = "") -> list[dict]:
    """The goals in one state of the machine; `others` says what else keeps it busy."""
    q, k, v = inputs(1, 1, T, 64)
    record = trace(q, k, v, keep=causal())

    def first_tile() -> None:
        """Of a record that nobody has looked at, so that the row statistics belong to it."""
        replace(record, known={}).tile("weights", range(64), range(64))

    def on_one_thread() -> None:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        first_tile()
        torch.set_num_threads(threads)

    calls = {
        "trace": lambda: trace(q, k, v, keep=causal()),
        "SDPA": lambda: peers.torch_alone(q, k, v, is_causal=True),
        "first tile": first_tile,
        "flash": lambda: peers.flash_of_torch(q, k, v),
        "one thread": on_one_thread,
    }
    times = in_turn(calls, rounds, clock=time.perf_counter)
    return [
        no_slower(name_of(what, T, state), goal, times, ours, theirs, others)
        | {"section": "threads"}
        for what, (ours, theirs, goal) in GOALS.items()
    ]


def untimed(T: int, state: str) -> list[dict]:
    """The same rows where other programs would decide what is measured."""
    return [
        row(name_of(what, T, state), f"≤ {goal:g}×", "–", note=NOT_TIMED) | {"section": "threads"}
        for what, (_, _, goal) in GOALS.items()
    ]


def name_of(what: str, T: int, state: str) -> str:
    return f"{what}, {T:,} tokens, {state}"


def main() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    others = busy()  # before there is one of ours
    with torch.no_grad():
        lines = untimed(T, "alone") if others else rows(T, "alone", 9)
        with load.busy(1):
            lines += rows(T, "beside a busy program", 9, others)
    report.store(lines, "All threads, beside a busy program", "make bench", ("torch",))


if __name__ == "__main__":
    main()
