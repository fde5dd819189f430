"""Every number that the sources print stands in an output of its chapter, in a cell with its id."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import nbformat
import pytest

from publishing.notebooks.chapters import NOTEBOOKS
from publishing.prose.numbers import rounds_to, values
from publishing.prose.pages import printed_texts

CHAPTERS = {path.name[:2]: path for path in NOTEBOOKS if path.parent.name == "chapters"}
LEDGER = json.loads(Path(__file__).with_name("ledger.json").read_text(encoding="utf-8"))
DUE = [entry for entry in LEDGER if entry["chapter"] in CHAPTERS]


def rows(value) -> list[list]:
    """The rows of a tensor of any rank, in order; a single number is a row of one."""
    if not isinstance(value, list):
        return [[value]]
    if not isinstance(value[0], list):
        return [value]
    return [row for part in value for row in rows(part)]


def tagged(chapter: str) -> dict[str, list]:
    """The cells of a chapter by the ids that their ledger tags carry."""
    cells: dict[str, list] = {}
    for cell in nbformat.read(CHAPTERS[chapter], as_version=4).cells:
        for tag in cell.metadata.get("tags", []):
            if tag.startswith("ledger:"):
                cells.setdefault(tag.removeprefix("ledger:"), []).append(cell)
    return cells


def printed(entry: dict) -> list[list[Decimal]]:
    """The rows of numbers as the source prints them."""
    if "printed_strings" in entry:
        return [[Decimal(text) for text in row] for row in rows(entry["printed_strings"])]
    kind = f".{entry['decimals']}{'e' if entry['format'] == 'sci' else 'f'}"
    return [[Decimal(format(float(value), kind)) for value in row] for row in rows(entry["values"])]


def stands_in(rows: list[list[Decimal]], shown: list[Decimal]) -> bool:
    """Whether the rows stand in the shown numbers: each without a gap, one after the other."""
    start = 0
    for row in rows:
        for at in range(start, len(shown) - len(row) + 1):
            if all(rounds_to(s, w) for s, w in zip(shown[at:], row, strict=False)):
                start = at + len(row)
                break
        else:
            return False
    return True


def missing(entry: dict, cells: list) -> list[str]:
    """What the outputs of these cells do not show."""
    shown = [values(text) for cell in cells for text in printed_texts(cell)]
    wanted = {"as printed": printed(entry)}
    if entry["status"] == "wrong":
        wanted["put right"] = [[Decimal(t) for t in row] for row in rows(entry["right_strings"])]
    return [how for how, these in wanted.items() if not any(stands_in(these, s) for s in shown)]


@pytest.mark.parametrize("entry", DUE, ids=lambda entry: entry["id"])
def test_number_stands_in_its_chapter(entry):
    cells = tagged(entry["chapter"]).get(entry["id"], [])
    assert cells, f"no cell of chapter {entry['chapter']} has the tag ledger:{entry['id']}"
    expected = [[str(number) for number in row] for row in printed(entry)]
    assert missing(entry, cells) == [], f"expected {expected}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_unknown_tag(chapter):
    known = {entry["id"] for entry in DUE if entry["chapter"] == chapter}
    assert set(tagged(chapter)) <= known


def test_how_many():
    """`pytest -rP` shows it: how many of the ledger's numbers the book has."""
    done = sum(entry["id"] in tagged(entry["chapter"]) for entry in DUE)
    print(f"{done} of {len(DUE)} entries of the written chapters ({len(LEDGER)} in all)")
    assert done == len(DUE)


def cell(text):
    return {"outputs": [{"output_type": "stream", "name": "stdout", "text": text}]}


def test_a_wrong_digit_is_seen():
    entry = next(entry for entry in LEDGER if entry["id"] == "simple-attn.context.x2")
    assert missing(entry, [cell("tensor([0.4419, 0.6515, 0.5683])")]) == []
    assert missing(entry, [cell("tensor([0.4419, 0.6516, 0.5683])")]) == ["as printed"]
    assert missing(entry, [cell("tensor([0.4419, 0.5683, 0.6515])")]) == ["as printed"]
    entry = next(entry for entry in LEDGER if entry["id"] == "notebook.softmax")
    as_printed = "\n".join(" ".join(row) for row in entry["printed_strings"])
    assert missing(entry, [cell(as_printed)]) == ["put right"]


def test_a_masked_cell_is_seen():
    entry = next(entry for entry in LEDGER if entry["id"] == "masked-mha.scores.masked")
    shown = "\n".join(" ".join(str(number) for number in row) for row in rows(entry["values"]))
    assert missing(entry, [cell(shown)]) == []
    assert missing(entry, [cell(shown.replace("-inf", "0", 1))]) == ["as printed"]
