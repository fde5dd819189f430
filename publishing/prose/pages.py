"""A notebook or a Markdown page as passages of prose between cells that print numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from pathlib import Path

import nbformat

from publishing import ROOT
from publishing.prose.numbers import Number, find, values

# What a reader does not read as prose: fenced code, comments, tags, addresses, labels of a list.
NOT_PROSE = re.compile(
    r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)$|^:{3,}[^\n]*|^:[a-z-]+:[^\n]*"
    r"|<!--.*?-->|</?[A-Za-z][^<>$]*>|(?<=\])\([^)]*\)|https?://[^\s)]+|[\w.-]+/[\w.-]+#\d+"
    r"|^[ >]*\d+\.(?=\s)",
    re.DOTALL | re.MULTILINE,
)
HIDDEN = re.compile(r"<script\b.*?</script>|<style\b.*?</style>", re.DOTALL)
ROW_ENDS = re.compile(r"</(?:tr|p|li|div|h\d)>|<br\s*/?>")
TAG = re.compile(r"<[^>]*>")
HEADING = re.compile(r"^(#+)\s+(.+)$")


@dataclass(frozen=True)
class Cell:
    """What computes: its numbers by line, of the lines that hold any."""

    id: str
    code: list[list]
    printed: list[list]


@dataclass(frozen=True)
class Passage:
    """A stretch of prose: a Markdown cell of a notebook, or what stands under a heading."""

    id: str
    text: str
    line: int = 1  # of its first line in the file, if the file is Markdown
    place: int = 0  # how many cells stand before it

    @cached_property
    def prose(self) -> str:
        """The text with all that is no prose blanked, so that each number keeps its place."""
        return NOT_PROSE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), self.text)

    @cached_property
    def numbers(self) -> list[Number]:
        return find(self.prose)

    def around(self, start: int, end: int, width: int = 38) -> str:
        """The words about a place, with the place in ⟨ ⟩, in one line."""
        before = self.text[max(0, start - width) : start].rpartition("\n")[2]
        after = self.text[end : end + width].partition("\n")[0]
        return " ".join(f"{before}⟨{self.text[start:end]}⟩{after}".split())


@dataclass(frozen=True)
class Page:
    path: Path
    passages: list[Passage]
    cells: list[Cell] = field(default_factory=list)
    source: str = ""  # of all its code

    @property
    def name(self) -> str:
        return self.path.stem


def printed_texts(cell) -> list[str]:
    """What each output of a notebook's cell shows the reader, as plain text."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text" in output:
            texts.append(output["text"])
        if "text/plain" in data:
            texts.append(data["text/plain"])
        if "text/html" in data:
            html = ROW_ENDS.sub("\n", HIDDEN.sub(" ", data["text/html"]))
            texts.append(unescape(TAG.sub(" ", html)))
        if "evalue" in output:
            texts.append(output["evalue"])
    return texts


def by_line(text: str) -> list[list]:
    return [line for line in map(values, text.splitlines()) if line]


def slug(heading: str) -> str:
    """A heading's name, as the link to it has it.

    >>> slug("Why √d_k: toss *coins*")
    'why-d_k-toss-coins'
    """
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def notebook_page(path: Path, notebook) -> Page:
    passages, cells = [], []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            passages.append(Passage(cell.id, cell.source, place=len(cells)))
        elif cell.cell_type == "code":
            printed = [line for text in printed_texts(cell) for line in by_line(text)]
            cells.append(Cell(cell.id, by_line(cell.source), printed))
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return Page(path, passages, cells, code)


def markdown_page(path: Path, text: str) -> Page:
    """Each heading begins a passage; each example under it is a cell: `<heading>-1` and so on."""
    passages, cells, ids, source = [], [], {}, ""
    lines, inside = text.splitlines(), None
    starts = [(0, "top")]
    for at, line in enumerate(lines):
        fence = re.match(r" *(`{3,}|~{3,})", line)
        if fence:
            inside = None if inside and line.strip().startswith(inside) else inside or fence[1]
        elif not inside and (heading := HEADING.match(line)):
            starts.append((at, slug(heading[2])))
    for (start, name), (end, _) in zip(starts, [*starts[1:], (len(lines), "")], strict=True):
        if start == end:
            continue
        ids[name] = ids.get(name, 0) + 1
        name = name if ids[name] == 1 else f"{name}-again-{ids[name]}"
        part = "\n".join(lines[start:end])
        passages.append(Passage(name, part, line=start + 1, place=len(cells)))
        examples = re.finditer(r"^```(\w+)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
        for number, example in enumerate(examples, 1):
            source += example[2]
            code, printed = [], []
            for line in example[2].splitlines():
                prompted = example[1] != "pycon" or line.startswith((">>>", "..."))
                (code if prompted else printed).append(line)
            cell = Cell(f"{name}-{number}", by_line("\n".join(code)), by_line("\n".join(printed)))
            cells.append(cell)
    return Page(path, passages, cells, source)


def read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return notebook_page(path, nbformat.reads(text, as_version=4))
    return markdown_page(path, text)


def pages() -> list[Path]:
    """All that is read as the book: chapters, the pages around them, and README."""
    paths = [*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("book/*.ipynb"), *ROOT.glob("book/*.md")]
    return sorted([*paths, ROOT / "README.md"])
