"""Write the notebooks in Chinese beside the English ones, as chapters/zh/03_self_attention.ipynb.

Each is made of the stored English notebook and of the catalogues: code and outputs are the same
but for their words. What it prints, and its plots, only a run can make: they are kept from the last
one. A page whose catalogue is still being translated has none yet.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from copy import deepcopy
from functools import partial
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

import exercises
from attn_core.views.pixels import drawn
from publishing import ROOT
from publishing.notebooks import plots, printed
from publishing.notebooks.chapters import NOTEBOOKS, ZH, beside, docname_of, exercise_cells, run
from publishing.notebooks.exercises import FOLDER, chapters, localized, stored
from publishing.translation.checking import underway
from publishing.translation.exercises import chinese as chinese_exercise
from publishing.translation.exercises import say
from publishing.translation.language import in_chinese
from publishing.translation.markdown import translated
from publishing.translation.notebooks import chinese, in_english
from publishing.translation.outputs import PNG, SVG, in_output
from publishing.translation.pages import README

PLAIN = "text/plain"
# Where a link leads, in Markdown and in HTML; nothing with a scheme, nothing inside its own page.
LINKED = re.compile(r'(\]\(|\b(?:href|src)=")(?!\w+:|#|/)([^)\s"#]+)')


def relinked(text: str, folder: Path) -> str:
    """A text that has moved one folder down, with its links to where they led: to the Chinese
    notebook where one is there, and else to the same file."""

    def link(match: re.Match) -> str:
        target = (folder / match[2]).resolve()
        is_notebook = target.suffix == ".ipynb" and target.is_file()
        goal = beside(target) if is_notebook else target
        return match[1] + Path(os.path.relpath(goal, folder / ZH)).as_posix()

    return LINKED.sub(link, text)


def notebook_in_chinese(notebook, docname: str):
    """A chapter in Chinese, or a page of the book that is a notebook."""
    made = with_words_exchanged(notebook, docname)
    stored = stored_of(docname)
    if not printed.is_stale(made, stored):
        printed.give(made, stored)
    give_pixels(made, stored, docname)
    return made


def with_words_exchanged(notebook, docname: str):
    """The same as far as the catalogues can make it: what it prints is English still."""
    known = exercises.load()

    def cells(name: str, number: int) -> list:
        return exercise_cells(chinese_exercise(known[name]), number, say)

    return chinese(notebook, docname, cells)


def stored_of(docname: str):
    """The Chinese notebook as it is stored; an empty one where there is none."""
    path = beside(ROOT / f"{docname}.ipynb")
    return nbformat.read(path, as_version=4) if path.is_file() else new_notebook()


def is_stale(path: Path) -> bool:
    """Whether the Chinese notebook of a page must be run again for what it prints."""
    docname = docname_of(path)
    made = with_words_exchanged(nbformat.read(path, as_version=4), docname)
    return printed.is_stale(made, stored_of(docname))


def run_again(path: Path) -> None:
    """Run the Chinese notebook of a page, and store what it prints."""
    made = of_page(path)
    done = deepcopy(made)
    run(done, beside(path), docname_of(path))
    if wrong := [*printed.others(made, done)]:
        sys.exit(f"{docname_of(path)}: in Chinese, cell {wrong[0]} prints other numbers")
    printed.give(made, done)
    write(beside(path), nbformat.writes(made) + "\n")


def give_pixels(made, stored, docname: str) -> None:
    """Give a Chinese notebook the pixels of the stored one, where these show the same words."""
    plots.exchange(made, stored, docname)
    known = drawings(stored)
    for place, data in drawings(made).items():
        is_known = place in known and known[place][SVG] == data[SVG]
        data[PNG] = known[place][PNG] if is_known else drawn(data[SVG])


def of_page(path: Path):
    """The Chinese notebook of a chapter, or of a page of the book that is a notebook."""
    made = notebook_in_chinese(nbformat.read(path, as_version=4), docname_of(path))
    return moved(made, path.parent)


def in_chinese_too(outputs: list, docname: str) -> list:
    """What a Chinese cell of a page gives when it is run, with its drawings, views and plots in
    Chinese, as they are made of the English ones."""
    made = deepcopy(outputs)
    for output in made:
        data = output.get("data", {})
        for kind in {SVG, PLAIN} & data.keys():
            data[kind] = in_english(data[kind], docname)
        in_output(output)
        if {SVG, PNG} <= output.get("data", {}).keys():
            output["data"][PNG] = drawn(output["data"][SVG])
        if plots.words_of(output):
            output["data"][PNG], _ = output["metadata"][PNG].pop(plots.CHINESE)
    return made


def drawings(notebook) -> dict[plots.Place, dict]:
    """The data of the drawings of a notebook: the pictures that are stored as SVG, too."""
    found = plots.pictures(notebook).items()
    return {place: output.data for place, output in found if SVG in output.data}


def moved(notebook, folder: Path):
    """A notebook of a page in this folder, with the links of its Chinese one, a folder below."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source, folder)
    return notebook


def all_made(paths: list[Path]) -> dict[Path, str]:
    """Each Chinese notebook as its file should be: of these pages, and of these chapters'
    exercises."""
    ready = [path for path in paths if docname_of(path) not in underway()]
    made = {beside(path): of_page(path) for path in ready}
    numbers = {path.name[:2] for path in paths if "exercises" not in underway()}
    for chapter in sorted(numbers & {*chapters()}):
        made[FOLDER / ZH / stored(chapter).name] = localized(chapter)
    texts = {path: nbformat.writes(notebook) + "\n" for path, notebook in made.items()}
    if set(paths) == set(NOTEBOOKS):
        texts |= made_readme()
    return texts


def made_readme() -> dict[Path, str]:
    """The same of the README; nothing while its translation is under way."""
    return {} if README in underway() else {ROOT / "README.zh.md": readme()}


def readme() -> str:
    """The README in Chinese, which lies beside the English one."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return translated(text, partial(in_chinese, catalogue=README))


def store(paths: list[Path], pages: Collection[str] = (), again: Collection[Path] = ()) -> None:
    """Write what differs: of these notebooks, and of the README if it is among these pages. Those
    that would print something else are run first, and those that are to be run again."""
    for path in paths:
        if docname_of(path) not in underway() and (path in again or is_stale(path)):
            run_again(path)
    for path, text in (all_made(paths) | (made_readme() if README in pages else {})).items():
        write(path, text)


def write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: stored", file=sys.stderr)


if __name__ == "__main__":
    store(NOTEBOOKS)
