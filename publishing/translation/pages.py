"""The pages of the book, and the Markdown that each is made of."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import yaml

from publishing import ROOT
from publishing.translation import code
from publishing.translation.labels import labels_of
from publishing.translation.markdown import Piece, pieces

INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
NUMBER = re.compile(r"(?P<code>`[^`]*`)|\d+(?:[.,]\d+)*")
# The README is a page of the repository, not of the site.
README = "README"


def docnames() -> list[str]:
    """Every page in the order of the contents, and the README.

    >>> docnames()[0], docnames()[-1]
    ('book/index', 'README')
    """
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [page["file"] for part in toc["parts"] for page in part["chapters"]]
    return [toc["root"], *chapters, README]


def path_of(docname: str) -> Path:
    """The file of a page."""
    paths = (ROOT / f"{docname}{suffix}" for suffix in (".ipynb", ".md"))
    return next(path for path in paths if path.is_file())


def tagged(cell, kind: str) -> str | None:
    """The id that follows a tag's kind: of the exercise, or of the mistake, that a cell is of."""
    tags = cell.metadata.get("tags", [])
    return next((tag.split(":", 1)[1] for tag in tags if tag.startswith(f"{kind}:")), None)


def with_included(text: str, folder: Path) -> str:
    """A text with the files in it that it includes."""
    return INCLUDE.sub(lambda match: (folder / match[1]).read_text(encoding="utf-8"), text)


def without_numbers(message: str) -> tuple[str, list[str]]:
    """A measured message as a form for any numbers, and its numbers.

    >>> without_numbers("`f32`: 0.98 to 1.31×")
    ('`f32`: {0} to {1}×', ['0.98', '1.31'])
    """
    numbers: list[str] = []

    def place(match: re.Match) -> str:
        if match["code"]:
            return match[0]
        numbers.append(match[0])
        return f"{{{len(numbers) - 1}}}"

    return NUMBER.sub(place, message), numbers


def texts(docname: str) -> list[str]:
    """The Markdown of a page, a text a cell, without the exercises: those have a catalogue."""
    path = path_of(docname)
    return [path.read_text(encoding="utf-8")] if path.suffix == ".md" else sources(path, "markdown")


def sources(path: Path, kind: str) -> list[str]:
    """The cells of a notebook of one kind, "markdown" or "code", without those of exercises."""
    cells = nbformat.read(path, as_version=4).cells
    return [
        cell.source for cell in cells if cell.cell_type == kind and tagged(cell, "exercise") is None
    ]


def words_of_code(docname: str) -> list[str]:
    path = path_of(docname)
    codes = sources(path, "code") if path.suffix == ".ipynb" else []
    return [said.message for source in codes for said in code.said_in(source, labels_of(docname))]


def measured(docname: str) -> list[str]:
    """The files that a page includes: tables that a measurement writes."""
    folder = path_of(docname).parent
    names = [name for text in texts(docname) for name in INCLUDE.findall(text)]
    return [(folder / name).read_text(encoding="utf-8") for name in names]


def messages(docname: str) -> list[Piece]:
    """Every message of a page, in its order, then those of its code. What is measured comes last,
    without numbers: the next measurement says the same with other ones."""
    in_order = [piece for text in texts(docname) for piece in pieces(text)]
    in_order += [Piece(0, 0, message, "code") for message in words_of_code(docname)]
    for piece in (piece for text in measured(docname) for piece in pieces(text)):
        in_order.append(replace(piece, message=without_numbers(piece.message)[0]))
    return in_order
