"""Numbers in prose are not typed: each stands in an output or the code of its chapter.

What is neither computed nor shown (a year, a page, a limit of float32) is listed in
`constants.json` with the reason.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import nbformat
import pytest

from tests.sources.numbers import numbers, output_texts, prose, rounds_to
from tools.notebooks import NOTEBOOKS

CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]
CONSTANTS = json.loads(Path(__file__).with_name("constants.json").read_text(encoding="utf-8"))


def of_interest(number: Decimal) -> bool:
    """Decimals, and whole numbers of three digits or more: the others count things."""
    return number.is_finite() and (number.as_tuple().exponent < 0 or abs(number) >= 100)


def typed(notebook) -> dict[str, list[str]]:
    """The numbers of the prose that stand nowhere else, by cell."""
    shown = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown += [n for text in [cell.source, *output_texts(cell)] for n in numbers(text)]
    shown += [Decimal(text) for text in CONSTANTS]
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for number in filter(of_interest, numbers(prose(cell.source))):
                if not any(rounds_to(abs(there), abs(number)) for there in shown):
                    found.setdefault(cell.id, []).append(str(number))
    return found


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_numbers_in_prose_stand_in_an_output(path):
    assert typed(nbformat.read(path, as_version=4)) == {}


def test_every_constant_has_a_reason():
    assert all(isinstance(why, str) and why for why in CONSTANTS.values())


def test_a_typed_number_is_seen():
    cells = [
        nbformat.v4.new_markdown_cell("It is 0.95, not 0.96; `0.97` and [0.98](a0.99.md), 1,234."),
        nbformat.v4.new_code_cell("print(x)"),
    ]
    cells[1].outputs = [nbformat.v4.new_output("stream", text="0.9544")]
    found = typed(nbformat.v4.new_notebook(cells=cells))
    assert found == {cells[0].id: ["0.96", "0.98", "1234"]}
