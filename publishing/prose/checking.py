"""Is each number of a page what its origin says? If not: which one, and why."""

from __future__ import annotations

import ast
import difflib

from publishing.prose import evaluating, laws
from publishing.prose.numbers import Number, rounds_to
from publishing.prose.origins import Entry, Origins, due
from publishing.prose.pages import Page, Passage


def aligned(old: list[str], new: list[str]) -> dict[int, int]:
    """Where each of the old strings is among the new ones, in the same order."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return {a + i: b + i for a, b, size in matcher.get_matching_blocks() for i in range(size)}


def kept(passage: Passage, numbers: list[Number], entries: list[Entry]) -> dict[int, Entry]:
    """The entries whose numbers are still in the passage, side by side, by their first place.

    Of several equal numbers it is the one behind the same words.
    """
    old = [written.lower() for entry in entries for written in entry.written]
    new = [number.written.lower() for number in numbers]
    words = [word for entry in entries for word in (entry.around, *[""] * len(entry.written[1:]))]
    now, done = {at: at for at in range(len(old))} if old == new else {}, (-1, -1)
    sure = aligned(
        [behind(around) + written for around, written in zip(words, old, strict=True)],
        [behind(passage.around(n.start, n.end)) + n.written.lower() for n in numbers],
    )
    for at, place in [*sure.items(), (len(old), len(new))] if old != new else []:
        between = aligned(old[done[0] + 1 : at], new[done[1] + 1 : place])
        now |= {done[0] + 1 + i: done[1] + 1 + j for i, j in between.items()} | {at: place}
        done = (at, place)
    by_place, at = {}, 0
    for entry in entries:
        places = [now.get(at + i) for i in range(len(entry.written))]
        if None not in places and places == list(range(places[0], places[0] + len(places))):
            by_place[places[0]] = entry
        at += len(entry.written)
    return by_place


def behind(around: str) -> str:
    """The words in front of a number."""
    return around.partition("⟨")[0][-8:] if around else "?"


def lost(entries: list[Entry], bound: dict[int, Entry]) -> list[Entry]:
    """The entries whose numbers have not been found."""
    return [entry for entry in entries if not any(entry is other for other in bound.values())]


def is_typed(origin: str) -> bool:
    """Whether an origin is only the number again: 4, or len(scores[0, 0:4])."""
    try:
        nodes = list(ast.walk(ast.parse(evaluating.call(origin), mode="eval")))
    except SyntaxError:
        return False
    if any(isinstance(node, ast.Call) and is_given_length(node) for node in nodes):
        return True
    return not any(isinstance(node, ast.Name | ast.BinOp) for node in nodes)


def is_given_length(node: ast.Call) -> bool:
    """Whether a call counts what it cuts itself: the length of [0, 0:4] is 4 anyway."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "len"):
        return False
    of = node.args[0] if node.args else None
    return isinstance(of, ast.Subscript) and any(
        isinstance(part, ast.Slice) and part.lower and part.upper for part in ast.walk(of.slice)
    )


def slip(page: Page, entry: Entry) -> str | None:
    """What is wrong with an entry, in a few words."""
    if entry.is_open:
        guess = entry.origin.removeprefix("?").strip()
        if guess:
            return f"may come from {guess}: if so, take out the ? before it; else write another"
        return "is in no output nearby: mend it, or write where it comes from in place of the ?"
    if entry.is_constant:
        return None
    wanted = [Number(written, 0, 0).value for written in entry.written]
    if entry.origin.startswith("law "):
        why = laws.slip(entry.origin.removeprefix("law "), tuple(wanted))
        return why and f"comes from {entry.origin}, {why}"
    origin = entry.origin.removeprefix("index of ")
    if is_typed(origin):
        return f"comes from {origin}, which names no output: write `because` and a reason"
    try:
        worth = evaluating.worth(page, origin)
    except evaluating.NoSuchNumber as error:
        return f"has no origin any more: {error}"
    if origin != entry.origin and len(worth) == 1:
        is_right = all(number % 1 == 0 and -worth[0] <= number < worth[0] for number in wanted)
        return None if is_right else f"but there are only {worth[0]:f}, counted from 0"
    if len(worth) == 1:  # the same number, said again
        worth *= len(wanted)
    if len(worth) == len(wanted) and all(map(rounds_to, worth, wanted)):
        return None
    return f"but {entry.origin} is {' '.join(f'{number.normalize():f}' for number in worth[:12])}"


def told(page: Page, passage: Passage, numbers: list[Number], why: str) -> str:
    line = passage.text[: numbers[0].start].count("\n") + passage.line
    around = passage.around(numbers[0].start, numbers[-1].end)
    return f"{page.name}, {passage.id}, line {line}: “{around}” {why}"


def problems_of(page: Page, passage: Passage, entries: list[Entry]) -> list[str]:
    """Each number of a passage that has no origin, or another one than its origin says."""
    numbers, faults = due(page, passage), []
    bound = kept(passage, numbers, entries)
    places = {at + i for at, entry in bound.items() for i in range(len(entry.written))}
    for at, number in enumerate(numbers):
        if at not in places:
            faults.append(told(page, passage, [number], "has no origin"))
    for at, entry in bound.items():
        if why := slip(page, entry):
            faults.append(told(page, passage, numbers[at : at + len(entry.written)], why))
    gone = [f"{page.name}, {passage.id}: gone is {entry}" for entry in lost(entries, bound)]
    return faults or gone


def problems(page: Page, origins: Origins) -> list[str]:
    faults = [
        problem
        for passage in page.passages
        for problem in problems_of(page, passage, origins.get(passage.id, []))
    ]
    names = {passage.id for passage in page.passages}
    return faults + [f"{page.name}: no passage is named {name}" for name in origins.keys() - names]
