"""Ctrl+C that is not lost: where Python runs a finalizer, it prints KeyboardInterrupt and goes on.

A command listens from its beginning, and heeds between two submissions what was lost within one.
A process is started whole or not at all: one that ends half told prints a traceback of its own.
"""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.resource_tracker
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_came: list[int] = []
_held: list[bool] = []


def listen() -> None:
    """Remember each interrupt, and raise it as Python does."""
    _came.clear()
    signal.signal(signal.SIGINT, remember)


def remember(number: int, _: object) -> None:
    _came.append(number)
    if not _held:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Raise an interrupt that comes within the block at its end."""
    _held.append(True)
    try:
        yield
    finally:
        _held.pop()
    heed()


def start_forkserver() -> None:
    """Start the process that others are forked from, where no Ctrl+C of the terminal reaches it.

    What it forks is out of reach, too, until `reachable` is called there.
    """
    # It would unblock the signal again.
    multiprocessing.resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def reachable() -> None:
    """Let interrupts through again, in a forked process that prints nothing any more."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def heed() -> None:
    """Raise the interrupt that came, if one came and was lost."""
    if _came:
        raise KeyboardInterrupt
