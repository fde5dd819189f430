"""The words of a plot in another language: matplotlib draws a copy with them.

A plot is stored as pixels, with what it says beside them. While a notebook is run, each plot is
drawn in Chinese, too, and these pixels go into the Chinese notebook, where they stay until the
notebook is run again. `stale` says when that is needed.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import nbformat
from matplotlib.text import Text
from nbformat import NotebookNode

from attn_core.views.picture import Picture
from publishing.notebooks.outputs import picture_differs
from publishing.translation.language import in_chinese
from publishing.translation.markdown import has_words
from publishing.translation.outputs import CATALOGUE, PNG, WORDS

CHINESE = "chinese"
SIZE = "width", "height", "parts"
Pixels = tuple[str, dict]  # a PNG in base64, and what it says of itself
Place = tuple[str, int]  # the id of a cell, and which of its pictures


def first_line(docname: str) -> str:
    """What a kernel that finds our modules is told before it runs a page: each plot gives its
    Chinese pixels, too."""
    return f"from publishing.notebooks import plots; plots.listen({docname!r}); del plots"


def listen(docname: str) -> None:
    """From now on each plot of this process tells its words, and its pixels in Chinese."""
    shown = Picture._repr_png_

    def in_both(picture: Picture) -> tuple[str, dict[str, object]]:
        # A copy, as it was before it was drawn: to lay a plot out again may move its parts a pixel.
        other = pickle.loads(pickle.dumps(picture))
        png, said = shown(picture)
        texts = [text for part in getattr(other, "parts", [other]) for text in written(part)]
        if texts:
            said |= {WORDS: list(dict.fromkeys(text.get_text() for text in texts))}
            for text in texts:
                text.set_text(chinese(text.get_text(), docname))
            said[CHINESE] = shown(other)
        return png, said

    Picture._repr_png_ = in_both


def written(picture: Picture) -> Iterator[Text]:
    """What a plot says in words. Labels of ticks are left out: they name data."""
    ticks = {
        label
        for axes in picture.axes
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels())
    }
    for text in picture.findobj(Text):
        if text not in ticks and text.get_visible() and has_words(text.get_text()):
            yield text


def chinese(word: str, docname: str) -> str:
    """A word of a plot, from the page's own catalogue where its code has it."""
    said = in_chinese(word, docname)
    return said if said != word else in_chinese(word, CATALOGUE)


def pictures(notebook) -> dict[Place, NotebookNode]:
    """The pictures of a notebook."""
    return {
        (cell.id, place): output for cell in notebook.cells for place, output in pictures_of(cell)
    }


def pictures_of(cell) -> Iterator[tuple[int, NotebookNode]]:
    return enumerate(one for one in cell.get("outputs", []) if PNG in one.get("data", {}))


def words_of(output) -> list[str]:
    """What a plot says; nothing where an output is none."""
    return output.get("metadata", {}).get(PNG, {}).get(WORDS, [])


def chinese_words(output, docname: str) -> list[str]:
    return [chinese(word, docname) for word in words_of(output)]


def taken_out(notebook) -> dict[Place, Pixels]:
    """The Chinese pixels in a notebook that was run, which then has them no more."""
    return {
        place: output.metadata[PNG].pop(CHINESE)
        for place, output in pictures(notebook).items()
        if words_of(output)
    }


def put(made: dict[Place, Pixels], english, docname: str, path: Path) -> None:
    """Store Chinese pixels in the Chinese notebook, which is made with those that it has."""
    if not made or not path.is_file():
        return
    notebook = nbformat.read(path, as_version=4)
    ours, theirs = pictures(notebook), pictures(english)
    for place in made.keys() & ours.keys() & theirs.keys():
        (png, said), stored = made[place], ours[place]
        words = chinese_words(theirs[place], docname)
        if words_of(stored) != words or picture_differs(stored.data[PNG], png):
            stored.data[PNG] = png
            stored.metadata[PNG] = resized(stored, said) | {WORDS: words}
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def resized(output, said: dict) -> dict:
    """What a picture says of itself, with the size of another one."""
    kept = {name: of for name, of in output.metadata[PNG].items() if name not in SIZE}
    return kept | {name: said[name] for name in SIZE if name in said}


def stale(english, stored, docname: str) -> list[str]:
    """The cells of a Chinese notebook whose plots have other words than the catalogue."""
    ours = pictures(stored)
    return [
        place[0]
        for place, output in pictures(english).items()
        if words_of(output)
        and (place not in ours or words_of(ours[place]) != chinese_words(output, docname))
    ]


def exchange(made, stored, docname: str) -> None:
    """Give a Chinese notebook that is made the Chinese pixels that are stored."""
    old, known = set(stale(made, stored, docname)), pictures(stored)
    for cell in made.cells:
        for place, output in pictures_of(cell):
            if words_of(output) and cell.id not in old:
                picture = known[cell.id, place]
                output.data[PNG] = picture.data[PNG]
                said = resized(output, picture.metadata[PNG]) | {WORDS: words_of(picture)}
                output.metadata[PNG] = said
                if "mystnb" in cell.metadata:
                    cell.metadata["mystnb"]["image"]["width"] = f"{said['width']}px"
