"""For a notebook in Chinese: as `exercises.notebook`, and `check` answers in Chinese."""

from __future__ import annotations

import sys

from exercises.form import Names
from exercises.messages import chinese
from exercises.notebook import feedback, found, given

__all__ = ["check", "given"]


def check(name: str, names: Names | None = None) -> None:
    """Print in Chinese what `exercises.notebook.check` prints in English, of the same arguments.

    >>> check("08-place", {"place": None})
    08-place：还没有作答。
    """
    say = chinese()
    exercise = found(name).translated(say)
    print(feedback(exercise, sys._getframe(1).f_globals if names is None else names, say))
