"""Bring the origins of a page up to date, without taking a number on trust.

What is known and still true stays, also where its sentence has other words now. What can be told
with certainty is filled in. All else gets a ? and the best guess, and waits for a person. What is
left of the old origins, because their numbers are no longer there, is said.
"""

from __future__ import annotations

import re
from dataclasses import replace

from publishing.prose import deriving
from publishing.prose.checking import kept, lost, slip
from publishing.prose.numbers import Number
from publishing.prose.origins import Entry, Origins, due
from publishing.prose.pages import Page, Passage


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


def is_said_again(entry: Entry, passage: Passage, part: list[Number]) -> bool:
    """Whether a number of a sentence is the one that it had before it was reworded."""
    if [number.value for number in part] != [Number(w, 0, 0).value for w in entry.written]:
        return False
    before, now = (
        set(re.findall(r"[^\W\d]{3,}", around.lower()))
        for around in (entry.around, passage.around(part[0].start, part[-1].end))
    )
    return bool(before) and 2 * len(before & now) >= len(before)


def followed(
    page: Page, passage: Passage, numbers: list[Number], own: list[Entry], gone: list[Entry]
) -> tuple[Entry, Entry] | None:
    """Of the entries that are gone, the one of the first number: as it was, and as it is.

    Its output may have another number now, or its sentence other words, or another passage.
    """
    for entry in (*own, *gone):
        part = numbers[: len(entry.written)]
        if len(part) < len(entry.written) or not any(entry is other for other in gone):
            continue
        new = replace(entry, written=tuple(number.written for number in part))
        is_worked_out = not (entry.is_constant or entry.is_open or slip(page, new))
        if (is_worked_out and entry in own) or is_said_again(entry, passage, part):
            return entry, new
    return None


def updated_passage(
    page: Page, passage: Passage, old: list[Entry], gone: list[Entry] | None = None
) -> list[Entry]:
    """The entries of a passage as it is now. Takes from `gone`, of the page, what is here again."""
    numbers = due(page, passage)
    stay, entries, at = kept(passage, numbers, old), [], 0
    own = lost(old, stay)
    gone = [*own] if gone is None else gone
    while at < len(numbers):
        if at in stay:
            part = numbers[at : at + len(stay[at].written)]
            entries.append(moved(page, passage, stay[at], part))
            at += len(part)
            continue
        end = min((place for place in stay if place > at), default=len(numbers))
        for place in range(at, end):
            if found := followed(page, passage, numbers[place:end], own, gone):
                was, now = found
                gone[:] = [entry for entry in gone if entry is not was]
                end = place
                break
        entries += derived(page, passage, numbers[at:end])
        at = end
        if found:
            entries.append(now)
            at += len(now.written)
    return entries


def updated(page: Page, origins: Origins) -> tuple[Origins, list[str]]:
    """The origins of a page as it is now, and those that have lost their numbers, a line each."""
    named = {passage.id: passage for passage in page.passages}
    old = {
        name: origins.get(name) or renamed(page, passage, origins)
        for name, passage in named.items()
    }
    here = {id(entry) for entries in old.values() for entry in entries}
    gone = [entry for entries in origins.values() for entry in entries if id(entry) not in here]
    for name, passage in named.items():
        gone += lost(old[name], kept(passage, due(page, passage), old[name]))
    new = {name: updated_passage(page, passage, old[name], gone) for name, passage in named.items()}
    return {name: entries for name, entries in new.items() if entries}, [
        f"{page.name}, {name}: gone is {entry}"
        for name, entries in origins.items()
        for entry in entries
        if any(entry is other for other in gone)
    ]
