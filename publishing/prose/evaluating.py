"""What an origin is worth: `scores-row[0, 2]` of a page, `1 / 16`, `chapter("dropout")`.

An origin is a Python expression in which a cell's id stands for the numbers that the cell prints,
by line, of the lines that hold any, and place: `scores[1]`, `scores[1, 2]`, `scores[:, 0]`. Those
of its code are `scores.code[0, 1]`; those of another page `03_self_attention/scores[1]`. What a
passage lists is counted: `count("someone", "<summary>")`. `index of scores[1, 0]` is any number
that counts so many things from 0; for what begins with `law` see `laws`.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal

import torch

import exercises
from attn_core import toy
from attn_core.checks import STAGES
from attn_core.mistakes import MISTAKES
from machine import promised
from publishing import ROOT
from publishing.prose.pages import Cell, Page, pages, read

CELL = re.compile(r"(?<![\w.\"'\])])((?:\w+/)?[^\W\d][\w-]*)(\.code)?(?=\[)")
CHAPTERS = {path.stem[3:]: int(path.stem[:2]) for path in ROOT.glob("chapters/*.ipynb")}


class NoSuchNumber(Exception):
    """An origin that names what is not there, in one sentence."""


class Lines:
    """The numbers of a cell by line and place: an index gives a number, a slice several."""

    def __init__(self, name: str, lines: list[list[Decimal]]) -> None:
        self.name = name
        self.lines = [[float(number) for number in line] for line in lines]

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index):
        line, place = index if isinstance(index, tuple) else (index, slice(None))
        try:
            rows = self.lines[line]
            return [row[place] for row in rows] if isinstance(line, slice) else rows[place]
        except IndexError:
            raise NoSuchNumber(f"{self.name} has no number at {index}") from None


def chapter(name: str) -> int:
    """The number of a chapter, by its name: chapter("dropout") is 7."""
    if name not in CHAPTERS:
        raise NoSuchNumber(f"there is no chapter named {name!r}")
    return CHAPTERS[name]


def times(left: list[float], right: list[float]) -> list[float]:
    """The products of two rows, place by place."""
    return [a * b for a, b in zip(left, right, strict=True)]


def pairs(left: list[float], right: list[float]) -> list[float]:
    """The numbers of two rows in turn, as a written-out dot product has them."""
    return [number for pair in zip(left, right, strict=True) for number in pair]


def library(module: str):
    """A module of the library, for its constants: library("translators.training").PAIRS."""
    return importlib.import_module(f"attn_core.{module}")


def pinned(package: str) -> float:
    """The version that the book is pinned to, without its last part: pinned("torch") is 2.13."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    version = next(line for line in lines if line.startswith(f"{package}==")).partition("==")[2]
    return float(".".join(version.split(".")[:2]))


def oldest_python() -> float:
    """The oldest Python that the library takes."""
    return float(promised.project()["requires-python"].removeprefix(">="))


def newest_python() -> float:
    """The newest Python that the library names."""
    return float(promised.pythons()[-1])


def oldest(package: str) -> float:
    """The oldest version of a package that the library takes: oldest("torch") is 2.5."""
    return float(promised.oldest()[package])


def stored(path: str):
    """A measurement that the repository holds as JSON."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@functools.cache
def other_page(name: str) -> Page:
    paths = [path for path in pages() if path.stem == name]
    if not paths:
        raise NoSuchNumber(f"there is no page named {name}")
    return read(paths[0])


def found(path: str, pattern: str) -> float:
    """The number that a file has: found("checks/mutants.py", "LEAST = ([0-9]+)") is 90."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"))
    if not match:
        raise NoSuchNumber(f"{path} has no {pattern}")
    return float(match[1])


def count(page: Page, passage: str, pattern: str) -> int:
    """How often a passage of the page has a pattern: count("someone", "<summary>")."""
    texts = [part.text for part in page.passages if part.id == passage]
    if not texts:
        raise NoSuchNumber(f"there is no passage named {passage}")
    return len(re.findall(pattern, texts[0], re.MULTILINE))


def exercise(page: Page, id: str) -> int:
    """The number of an exercise's box on its page: exercise("06-mask-to-add")."""
    boxes = [part.id.removeprefix("exercise-") for part in page.passages]
    return [box for box in boxes if box in EXERCISES].index(id) + 1


EXERCISES = exercises.load()
FACTS = {
    "CHAPTERS": CHAPTERS,
    "EXERCISES": EXERCISES,
    "MISTAKES": MISTAKES,
    "STAGES": STAGES,
    "chapter": chapter,
    "found": found,
    "torch": torch,
    "pairs": pairs,
    "stored": stored,
    "times": times,
    "library": library,
    "newest_python": newest_python,
    "oldest": oldest,
    "oldest_python": oldest_python,
    "pinned": pinned,
    "toy": toy,
} | {
    name: getattr(math, name)
    for name in ("exp", "log", "sqrt", "sin", "cos", "log10", "factorial", "e", "inf")
}


def cell_of(page: Page, name: str, kind: str) -> Lines:
    where, _, id = name.rpartition("/")
    cells: list[Cell] = (other_page(where) if where else page).cells
    for cell in cells:
        if cell.id == id:
            return Lines(name, cell.code if kind == "code" else cell.printed)
    raise NoSuchNumber(f"there is no cell named {name}")


def flat(value) -> list[float]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Iterable):
        return [number for part in value for number in flat(part)]
    return [value]


def call(origin: str) -> str:
    """The origin as Python: `scores-row[0, 2]` asks the cell of this name."""
    return CELL.sub(lambda m: f"cell({m[1]!r}, {(m[2] or '.')[1:]!r})", origin)


def worth(page: Page, origin: str) -> list[Decimal]:
    """The numbers that an origin stands for.

    Raises NoSuchNumber, in one sentence, if it names what is not there.
    """
    names = {
        **FACTS,
        "cell": functools.partial(cell_of, page),
        "count": functools.partial(count, page),
        "exercise": functools.partial(exercise, page),
    }
    try:
        value = eval(call(origin), names)
        return [Decimal(repr(number)) for number in flat(value)]
    except NoSuchNumber:
        raise
    except Exception as error:
        raise NoSuchNumber(f"{origin!r} cannot be worked out: {error}") from None
