"""Bring the origins of a page up to date, without taking a number on trust.

What is known and still true stays. What can be told with certainty is filled in. All else gets a ?
and the best guess, and waits for a person.
"""

from __future__ import annotations

from tools.prose import deriving
from tools.prose.checking import kept, slip
from tools.prose.numbers import Number
from tools.prose.origins import Entry, Origins, due
from tools.prose.pages import Page, Passage


def renamed(page: Page, passage: Passage, origins: Origins) -> list[Entry]:
    """The entries of a passage that has got another name, and the same numbers."""
    names = {passage.id for passage in page.passages}
    written = [number.written for number in due(page, passage)]
    for name, entries in origins.items():
        if name not in names and [text for entry in entries for text in entry.written] == written:
            return entries
    return []


def derived(page: Page, passage: Passage, numbers: list[Number]) -> list[Entry]:
    """Origins for numbers that have none: certain ones, and guesses behind a ?."""
    return [
        Entry(
            tuple(number.written for number in part),
            run.origin if run and run.is_certain else f"? {run.origin}" if run else "?",
        )
        for part, run in deriving.runs(page, passage, numbers)
    ]


def moved(page: Page, passage: Passage, entry: Entry, numbers: list[Number]) -> Entry:
    """The entry with the place where its numbers stand now, if that is certain."""
    if entry.is_open or not slip(page, entry):
        return entry
    entries = derived(page, passage, numbers)
    return entries[0] if len(entries) == 1 and not entries[0].is_open else entry


def followed(page: Page, numbers: list[Number], lost: list[Entry]) -> Entry | None:
    """The origin of a number that is another one now, as its output is."""
    for entry in lost:
        written = tuple(number.written for number in numbers[: len(entry.written)])
        new = Entry(written, entry.origin)
        if len(written) == len(entry.written) and not entry.is_constant and not slip(page, new):
            return new
    return None


def updated_passage(page: Page, passage: Passage, old: list[Entry]) -> list[Entry]:
    numbers = due(page, passage)
    stay, entries, at = kept(numbers, old), [], 0
    lost = [entry for entry in old if entry not in stay.values()]
    while at < len(numbers):
        if at in stay:
            part = numbers[at : at + len(stay[at].written)]
            entries.append(moved(page, passage, stay[at], part))
            at += len(part)
        else:
            end = min((place for place in stay if place > at), default=len(numbers))
            if new := followed(page, numbers[at:end], lost):
                entries.append(new)
                at += len(new.written)
            else:
                entries += derived(page, passage, numbers[at:end])
                at = end
    return entries


def updated(page: Page, origins: Origins) -> Origins:
    new = {
        passage.id: updated_passage(
            page, passage, origins.get(passage.id) or renamed(page, passage, origins)
        )
        for passage in page.passages
    }
    return {name: entries for name, entries in new.items() if entries}
