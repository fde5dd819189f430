"""The versions that pyproject.toml promises; as a script, whether its own Python is one of them.

    python3 machine/promised.py

It is written for older Pythons as well, so that they can say that they are too old.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def pythons():
    """Their versions, oldest first: ["3.11", "3.12", …]."""
    text = PROJECT.read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def refusal(version, program):
    """Why this Python can't build the book, or None if it can."""
    first, *_, last = known = pythons()
    if f"{version[0]}.{version[1]}" in known:
        return None
    asked = ".".join(map(str, version[:3]))
    return (
        f"The book needs Python {first} to {last}, but {program} is Python {asked}. "
        f"Name another one: make book PYTHON=python{known[1]}"
    )


def project():
    """The table [project]."""
    import tomllib  # since Python 3.11

    return tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]


def packages():
    """What the library needs, its pictures included: ["torch>=2.5", …]."""
    return project()["dependencies"] + project()["optional-dependencies"]["views"]


def oldest():
    """The oldest version that is promised, by the package's name."""
    return dict(re.fullmatch(r"([\w-]+)>=([\w.]+)", package).groups() for package in packages())


if __name__ == "__main__":
    sys.exit(refusal(sys.version_info, sys.executable))
