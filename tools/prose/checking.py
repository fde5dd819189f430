"""Is each number of a page what its origin says? If not: which one, and why."""

from __future__ import annotations

import ast
import difflib

from tools.prose import evaluating
from tools.prose.numbers import Number, rounds_to
from tools.prose.origins import Entry, Origins, due
from tools.prose.pages import Page, Passage


def kept(numbers: list[Number], entries: list[Entry]) -> dict[int, Entry]:
    """The entries whose numbers still stand in the passage, side by side, by their first place."""
    old = [written for entry in entries for written in entry.written]
    matcher = difflib.SequenceMatcher(None, old, [n.written for n in numbers], autojunk=False)
    now = {a + i: b + i for a, b, size in matcher.get_matching_blocks() for i in range(size)}
    by_place, at = {}, 0
    for entry in entries:
        places = [now.get(at + i) for i in range(len(entry.written))]
        if None not in places and places == list(range(places[0], places[0] + len(places))):
            by_place[places[0]] = entry
        at += len(entry.written)
    return by_place


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
        return "waits for a person: is the origin after the ? right?"
    if entry.is_constant:
        return None
    if is_typed(entry.origin):
        return f"comes from {entry.origin}, which names no output: write `because` and a reason"
    try:
        worth = evaluating.worth(page, entry.origin)
    except evaluating.NoSuchNumber as error:
        return f"has no origin any more: {error}"
    wanted = [Number(written, 0, 0).value for written in entry.written]
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
    bound = kept(numbers, entries)
    places = {at + i for at, entry in bound.items() for i in range(len(entry.written))}
    for at, number in enumerate(numbers):
        if at not in places:
            faults.append(told(page, passage, [number], "has no origin"))
    for at, entry in bound.items():
        if why := slip(page, entry):
            faults.append(told(page, passage, numbers[at : at + len(entry.written)], why))
    gone = len(entries) - len(bound)
    if gone and not faults:
        faults.append(f"{page.name}, {passage.id}: {gone} origins are of numbers that are gone")
    return faults


def problems(page: Page, origins: Origins) -> list[str]:
    faults = [
        problem
        for passage in page.passages
        for problem in problems_of(page, passage, origins.get(passage.id, []))
    ]
    names = {passage.id for passage in page.passages}
    return faults + [f"{page.name}: no passage is named {name}" for name in origins.keys() - names]
