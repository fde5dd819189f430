"""The two commands: `python -m grading make COURSE …`, `python -m grading grade COURSE …`."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = ("make", "grade")


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m grading {{{','.join(COMMANDS)}}} COURSE …")
    try:
        command = import_module(f"grading.{sys.argv.pop(1)}")  # takes seconds
    except KeyboardInterrupt:
        sys.exit("Stopped before anything was begun.")
    command.main()


if __name__ == "__main__":
    main()
