"""Run a command as an ordinary user, where the tests are run by root.

The user has no account: a number is enough. Where the interpreter or the repository lies in a
folder that only root may enter, the command sees that folder emptied of all else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
USER = 54_321


def closed(path: Path) -> Path | None:
    """The first folder above a path that not everybody may enter."""
    return next(
        (folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001), None
    )


def ordinary(command: list[str]) -> list[str]:
    """The command, to be run by root, that runs a command as an ordinary user."""
    needed = sorted({Path(sys.base_prefix), Path(os.path.normpath(sys.prefix)), ROOT})
    words = ["bwrap", "--dev-bind", "/", "/"]
    for folder in sorted({parent for path in needed if (parent := closed(path))}):
        words += ["--perms", "0755", "--tmpfs", str(folder)]
        for path in needed:
            if closed(path) == folder:
                words += ["--perms", "0755", "--dir", str(path.parent), "--bind", *[str(path)] * 2]
    who = ["--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
    return [*words, "--", "setpriv", *who, "--inh-caps=-all", "--bounding-set=-all", "--", *command]


def as_ordinary(command: list[str]) -> list[str]:
    """The command as an ordinary user gives it; who is one, gives it as it is."""
    return ordinary(command) if os.geteuid() == 0 else command
