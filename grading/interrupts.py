"""Ctrl+C that is not lost: where Python runs a finalizer, it prints KeyboardInterrupt and goes on.

A command listens from its beginning, and heeds between two submissions what was lost within one.
"""

from __future__ import annotations

import signal

_came: list[int] = []


def listen() -> None:
    """Remember each interrupt, and raise it as Python does."""
    _came.clear()
    signal.signal(signal.SIGINT, remember)


def remember(number: int, _: object) -> None:
    _came.append(number)
    raise KeyboardInterrupt


def heed() -> None:
    """Raise the interrupt that came, if one came and was lost."""
    if _came:
        raise KeyboardInterrupt
