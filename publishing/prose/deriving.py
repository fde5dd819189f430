"""Which output a number of prose comes from, where that can be told; a guess where it cannot."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from publishing.prose.evaluating import CHAPTERS
from publishing.prose.numbers import Number, rounds_to
from publishing.prose.pages import Page, Passage


@dataclass(frozen=True)
class Run:
    """Numbers of a passage that stand side by side, and the numbers of a cell that they equal."""

    length: int
    digits: float  # the significant ones of all its numbers: how unlikely it is by chance
    away: int  # how many cells lie between
    origin: str

    @property
    def is_certain(self) -> bool:
        """Whether a slip of one digit would hardly ever have found an origin, too.

        Of 1,166 slips in passages without origins 9 found one under this rule.
        """
        return (
            (self.digits >= 3 and self.away <= 1)
            or (self.digits >= 4 and self.away <= 4)
            or self.digits >= 6
        )


def significant(number: Number) -> float:
    """How much the digits of a number tell: 0.9544 has four, 1000 one, 0 a half."""
    written = number.written.lstrip("-−").replace(",", "")
    if not written[-1].isdigit():
        return 1
    if "." in written:
        return len(written.partition("e")[0].replace(".", "").lstrip("0")) or 1
    return len(written.rstrip("0")) or 0.5


def equals(shown: Decimal, number: Number) -> bool:
    """Whether prose may have its number from here: a decimal rounded, a whole number as it is."""
    is_whole = number.value.is_finite() and number.value == number.value.to_integral_value()
    return shown == number.value if is_whole else rounds_to(shown, number.value)


def longest_run(page: Page, passage: Passage, numbers: list[Number]) -> Run | None:
    """The run of most digits that the first of these numbers begins; of equals, the nearest."""
    best, beside = None, side_by_side(passage, numbers)
    vector = bracketed(passage, numbers)
    for place, cell in enumerate(page.cells):
        away = passage.place - 1 - place if place < passage.place else place - passage.place
        for kind, lines in (("", cell.printed), (".code", cell.code)):
            for at, line in enumerate(lines):
                for start in range(len(line)):
                    length = 0
                    for number, shown in zip(beside, line[start:], strict=False):
                        if not equals(shown, number):
                            break
                        length += 1
                    digits = sum(map(significant, numbers[:length]))
                    # A vector in brackets that is a whole line: hardly by chance.
                    digits += 2 * (2 < length == len(line) == vector)
                    if length and (best is None or (digits, -away) > (best.digits, -best.away)):
                        which = f"{start}:{start + length}" if length > 1 else start
                        which = "" if length == len(line) else f", {which}"
                        best = Run(length, digits, away, f"{cell.id}{kind}[{at}{which}]")
    return best


def side_by_side(passage: Passage, numbers: list[Number]) -> list[Number]:
    """The first of the numbers, and those that follow it in the same clause or row."""
    end = 1
    while end < len(numbers):
        between = passage.prose[numbers[end - 1].end : numbers[end].start]
        if len(between) > 25 or "\n" in between or ". " in between:
            break
        end += 1
    return numbers[:end]


def bracketed(passage: Passage, numbers: list[Number]) -> int:
    """How many of the numbers are a vector in brackets: (0.5, −0.5)."""
    if passage.prose[: numbers[0].start][-1:] not in ("(", "["):
        return 0
    for at, number in enumerate(numbers):
        behind = passage.prose[number.end : number.end + 1]
        if behind in (")", "]"):
            return at + 1
        if passage.prose[number.end : number.end + 2] != ", ":
            return 0
    return 0


def named_chapter(passage: Passage, number: Number) -> str | None:
    """The name of the chapter that a number like 04 means."""
    names = [name for name, at in CHAPTERS.items() if f"{at:02}" == number.written]
    before = passage.prose[: number.start][-40:]
    is_meant = number.written.startswith("0") or re.search(r"[Cc]hapters?[^.\n]*$", before)
    return f'chapter("{names[0]}")' if names and is_meant else None


def runs(
    page: Page, passage: Passage, numbers: list[Number]
) -> list[tuple[list[Number], Run | None]]:
    """The numbers, cut into runs; where none begins, a number alone."""
    pieces = []
    while numbers:
        run = None if named_chapter(passage, numbers[0]) else longest_run(page, passage, numbers)
        if not (run and (run.is_certain or run.length == bracketed(passage, numbers))):
            run = alone(page, passage, numbers[0])
        length = run.length if run else 1
        pieces.append((numbers[:length], run))
        numbers = numbers[length:]
    return pieces


def alone(page: Page, passage: Passage, number: Number) -> Run | None:
    if name := named_chapter(passage, number):
        return Run(1, 0, len(page.cells), name)
    return longest_run(page, passage, [number])
