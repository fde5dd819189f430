"""The proof that the numbers in prose are held: slips of one digit, planted at random, are seen.

A slip is seen if the check of its passage says so. And `make numbers` may not make it good: where
the slip is planted into prose that it knows, and where it meets the passage for the first time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from publishing.prose import checking, origins
from publishing.prose.evaluating import CELL
from publishing.prose.numbers import WORDS, Number
from publishing.prose.pages import Page, Passage, pages, read
from publishing.prose.updating import updated_passage

SEED = 20
PAGES = [read(path) for path in pages()]
ORIGINS = {page.name: origins.load(page) for page in PAGES}


@dataclass(frozen=True)
class Slip:
    page: Page
    passage: Passage  # as it stands
    number: Number
    new: str

    @property
    def planted(self) -> Passage:
        text = self.passage.text
        text = text[: self.number.start] + self.new + text[self.number.end :]
        return replace(self.passage, text=text)

    @property
    def known(self) -> list[origins.Entry]:
        return ORIGINS[self.page.name].get(self.passage.id, [])

    def __str__(self) -> str:
        around = self.passage.around(self.number.start, self.number.end)
        return f"{self.page.name}, {self.passage.id}: {around} → {self.new}"


def is_digits(number: Number) -> bool:
    return number.written[-1].isdigit()


def is_small(number: Number) -> bool:
    return number.written.isdigit() and len(number.written) <= 2


def in_table(passage: Passage, number: Number) -> bool:
    return passage.text[: number.start].rpartition("\n")[2].startswith("|")


# What is planted where: (how many, does a number of this passage of this page count?)
KINDS = {
    "small whole numbers": (
        35,
        lambda page, passage, number: is_small(number) and not in_table(passage, number),
    ),
    "decimals": (20, lambda page, passage, number: "." in number.written and is_digits(number)),
    "cells of tables": (
        20,
        lambda page, passage, number: in_table(passage, number) and is_digits(number),
    ),
    "README": (5, lambda page, passage, number: page.name == "README" and is_digits(number)),
    "pages": (15, lambda page, passage, number: page.path.suffix == ".md" and is_digits(number)),
    "words": (5, lambda page, passage, number: number.written.lower() in WORDS),
}


def changed(number: Number, chance: random.Random) -> str:
    """The number with one digit another one, or another word."""
    if not is_digits(number):
        return chance.choice([word for word in WORDS if word != number.written.lower()])
    places = [at for at, sign in enumerate(number.written) if sign in "0123456789"]
    at = chance.choice(places)
    digit = chance.choice([digit for digit in "0123456789" if digit != number.written[at]])
    return number.written[:at] + digit + number.written[at + 1 :]


def slips(seed: int) -> Iterator[Slip]:
    chance = random.Random(seed)
    for many, counts in KINDS.values():
        places = [
            (page, passage, number)
            for page in PAGES
            for passage in page.passages
            for number in passage.numbers
            if counts(page, passage, number)
        ]
        for page, passage, number in chance.sample(places, many):
            yield Slip(page, passage, number, changed(number, chance))


def test_a_hundred_slips_are_seen():
    planted = list(slips(SEED))
    assert len(planted) == 100
    unseen = [
        slip for slip in planted if not checking.problems_of(slip.page, slip.planted, slip.known)
    ]
    assert len(unseen) <= 5, "\n".join(map(str, unseen))


def is_settled(slip: Slip, entries: list[origins.Entry]) -> bool:
    """Whether nobody would be asked about the number that was planted."""
    starts = [number.start for number in origins.due(slip.page, slip.planted)]
    holds = [entry for entry in entries for _ in entry.written]
    entry = dict(zip(starts, holds, strict=True)).get(slip.number.start)
    return entry is None or checking.slip(slip.page, entry) is None


@pytest.mark.slow
@pytest.mark.parametrize("is_new", [False, True], ids=["known prose", "new prose"])
def test_make_numbers_makes_no_slip_good(is_new):
    blessed = []
    for slip in slips(SEED + 1):
        known = [] if is_new else slip.known
        if is_settled(slip, updated_passage(slip.page, slip.planted, known)):
            blessed.append(slip)
    assert len(blessed) <= 5, "\n".join(map(str, blessed))


def cells_named(page: Page) -> list[tuple[origins.Entry, str]]:
    """The entries of a page whose origin is one of its own cells, with the cell's id.

    Not the indices: with more rows each of them is still there.
    """
    return [
        (entry, name[1])
        for passage in page.passages
        for entry in ORIGINS[page.name].get(passage.id, [])
        if not entry.is_constant and not entry.origin.startswith("index of ")
        for name in CELL.finditer(entry.origin)
        if "/" not in name[1]
    ]


def other(lines: list[list]) -> list[list]:
    """Other numbers, and twice as many, in twice as many lines."""
    return [[number * number + 3 for number in line * 2] for line in lines * 2]


def test_where_an_output_changes_its_prose_is_wrong():
    unseen = []
    for page in PAGES:
        for entry, name in cells_named(page):
            cells = [
                replace(cell, code=other(cell.code), printed=other(cell.printed))
                if cell.id == name
                else cell
                for cell in page.cells
            ]
            if not checking.slip(replace(page, cells=cells), entry):
                unseen.append(f"{page.name}: {entry}")
    assert not unseen, "\n".join(unseen)
