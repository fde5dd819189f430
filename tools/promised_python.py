"""The Pythons that pyproject.toml promises; as a script, it says whether its own is one of them.

    python3 tools/promised_python.py

It is written for older Pythons as well, so that they can say that they are too old.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def promised():
    """Their versions, oldest first: ["3.11", "3.12", …]."""
    text = PROJECT.read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def refusal(version, program):
    """Why this Python can't build the book, or None if it can."""
    first, *_, last = known = promised()
    if f"{version[0]}.{version[1]}" in known:
        return None
    asked = ".".join(map(str, version[:3]))
    return (
        f"The book needs Python {first} to {last}, but {program} is Python {asked}. "
        f"Name another one: make book PYTHON=python{known[1]}"
    )


if __name__ == "__main__":
    sys.exit(refusal(sys.version_info, sys.executable))
