"""What the code of a Chinese notebook prints: it is run, and the printed texts are kept.

They stay in the Chinese notebook until its code is another one, or the English code prints other
numbers. `is_stale` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from publishing.translation.code import tree_of

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def code_of(notebook) -> dict[str, str]:
    """What decides what a notebook prints: the code of its cells, by their ids."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return {cell.id: tree_of(cell.source) for cell in cells}


def printed(cell) -> list[NotebookNode]:
    return [output for output in cell.get("outputs", []) if output.output_type == "stream"]


def numbers_in(cell) -> list[list[str]]:
    """In each printed text, in their order: a translation may name them in another one."""
    return [sorted(NUMBER.findall(output.text)) for output in printed(cell)]


def others(made, run) -> Iterator[str]:
    """The cells that print other numbers than those of the same ids in another notebook."""
    numbers = {cell.id: numbers_in(cell) for cell in run.cells}
    for cell in made.cells:
        if numbers_in(cell) != numbers.get(cell.id, []):
            yield cell.id


def is_stale(made, stored) -> bool:
    """Whether a Chinese notebook must be run: `made` has its code, and the English outputs."""
    return code_of(made) != code_of(stored) or any(others(made, stored))


def give(made, run) -> None:
    """Put into a notebook what the same code has printed in a run."""
    texts = {cell.id: [output.text for output in printed(cell)] for cell in run.cells}
    for cell in made.cells:
        for output, text in zip(printed(cell), texts.get(cell.id, []), strict=True):
            output.text = text
