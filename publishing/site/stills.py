"""Give each explorer its still for paper: the picture of its first state, from its stored output.

The picture stands in the notebook beside the explorer's data, and GitHub shows it. The build writes
it into the static folder and puts it after the explorer; the style sheet shows one of the two, the
explorer on a screen and the still on paper. A browser loads it when it prints; print.js sees to
those that would not wait for it.
"""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

from publishing.notebooks.chapters import beside
from publishing.translation.language import ENGLISH, language
from publishing.translation.outputs import HTML, PNG

ELEMENT = re.compile(r'<(attention-(?:explorer|model|training)) name="([\w-]+)".*?</\1>', re.DOTALL)


def stills(notebook) -> dict[str, tuple[bytes, dict]]:
    """The picture of each explorer of a notebook by its name, and what is known of it."""
    pictures = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            named = ELEMENT.match(data.get(HTML, ""))
            if named and PNG in data:
                pictures[named[2]] = base64.b64decode(data[PNG]), output.metadata[PNG]
    return pictures


def picture(url: str, known: dict) -> str:
    """The still; its parts are the heights of the pictures that it has under one another.

    >>> picture("a.png", {"alt": "6 queries", "width": 393, "height": 318})
    '<img class="ax-still" src="a.png" alt="6 queries" width="393" height="318" loading="lazy">'
    """
    named = f'src="{escape(url)}" alt="{escape(known["alt"])}"'
    parts = " ".join(map(str, known.get("parts", ())))
    size = f'width="{known["width"]}" height="{known["height"]}"'
    heights = f' data-parts="{parts}"' if parts else ""
    return f'<img class="ax-still" {named} {size}{heights} loading="lazy">'


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    path = Path(app.srcdir) / f"{pagename}.ipynb"
    if doctree is None or not path.is_file():
        return
    is_chinese = language() != ENGLISH and beside(path).is_file()
    pictures = stills(nbformat.read(beside(path) if is_chinese else path, as_version=4))
    folder = Path(app.outdir) / "_static" / "stills"
    folder.mkdir(parents=True, exist_ok=True)

    def with_still(element: re.Match) -> str:
        if element[2] not in pictures:
            return element[0]
        content, known = pictures[element[2]]
        name = f"{path.stem}-{element[2]}.png"
        (folder / name).write_bytes(content)
        return element[0] + picture(context["pathto"](f"_static/stills/{name}", 1), known)

    context["body"] = ELEMENT.sub(with_still, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
