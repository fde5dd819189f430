"""A notebook in another language: its Markdown exchanged, and the words in its code and outputs.

What its code prints in that language only a run can say: see `publishing/notebooks/printed.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from publishing.translation import code
from publishing.translation.labels import labels_of
from publishing.translation.language import in_chinese
from publishing.translation.markdown import pieces, translated
from publishing.translation.outputs import alt, in_output
from publishing.translation.pages import tagged


def chinese(notebook, docname: str, exercise_cells: Callable[[str, int], list]):
    """A page's notebook in Chinese.

    exercise_cells: the generated cells of the exercise with this id, which has this number.
    """

    def lookup(message: str) -> str:
        return in_chinese(message, docname)

    made, cells, placed = deepcopy(notebook), [], []
    for cell in made.cells:
        name = tagged(cell, "exercise")
        if name is not None:
            if name not in placed:
                placed.append(name)
                cells += [
                    with_outputs(new, made.cells) for new in exercise_cells(name, len(placed))
                ]
            continue
        if cell.cell_type == "markdown":
            cell.source = translated(cell.source, lookup)
        else:
            cell.source = code.exchanged(cell.source, lookup, labels_of(docname))
        for output in cell.get("outputs", []):
            in_output(output)
        shown = cell.metadata.get("mystnb", {}).get("image", {})
        if "alt" in shown:
            shown["alt"] = alt(shown["alt"])
        cells.append(cell)
    made.cells = cells
    return made


def in_english(text: str, docname: str) -> str:
    """What a run of a page's Chinese code gave, with the labels of the English code.

    >>> in_english("Drawing: 固定的向量 0.45", "chapters/01_bottleneck")
    'Drawing: one fixed vector 0.45'
    """
    known = {in_chinese(label, docname): label for label in labels_of(docname)}
    for chinese in sorted(known, key=len, reverse=True):
        text = text.replace(chinese, known[chinese])
    return text


def with_outputs(cell, cells):
    """A generated cell with what the stored one of the same id has printed."""
    stored = next((other for other in cells if other.id == cell.id), None)
    if stored is not None and cell.cell_type == "code":
        cell.outputs, cell.execution_count = stored.outputs, stored.execution_count
    if stored is not None:
        cell.metadata = stored.metadata
    return cell


def headings(text: str, lookup: Callable[[str], str]) -> dict[str, str]:
    """The headings of a text in English, by what they are in the other language."""
    originals = {}
    for piece in pieces(text):
        if piece.kind == "heading":
            said = lookup(piece.message)
            if originals.setdefault(said, piece.message) != piece.message:
                raise ValueError(f"two headings of one page are both {said!r}")
    return originals
