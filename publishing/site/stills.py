"""Give each explorer its still for paper: the picture of its first state, from its stored output.

The picture stands in the notebook beside the explorer's data, and GitHub shows it. The build writes
it into the static folder and puts it after the explorer; the style sheet shows one of the two, the
explorer on a screen and the still on paper. A browser loads it when it prints; print.js sees to
those that would not wait for it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

from publishing.translation.language import said
from publishing.translation.outputs import CATALOGUE

ELEMENT = re.compile(r'<(attention-(?:explorer|model|training)) name="([\w-]+)".*?</\1>', re.DOTALL)


def stills(notebook) -> dict[str, tuple[bytes, dict]]:
    """The picture of each explorer of a notebook by its name, and what is known of it."""
    pictures = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            named = ELEMENT.match(data.get("text/html", ""))
            if named and "image/png" in data:
                of_it = output.metadata["image/png"]
                known = {**of_it, "alt": said(of_it["alt"], CATALOGUE)}
                pictures[named[2]] = base64.b64decode(data["image/png"]), known
    return pictures


def picture(url: str, alt: str, width: int, height: int, parts: Sequence[int] = ()) -> str:
    """The still; `parts` are the heights of the pictures that it has under one another.

    >>> picture("a.png", "6 queries", 393, 318)
    '<img class="ax-still" src="a.png" alt="6 queries" width="393" height="318" loading="lazy">'
    """
    named = f'src="{escape(url)}" alt="{escape(alt)}"'
    heights = f' data-parts="{" ".join(map(str, parts))}"' if parts else ""
    size = f'width="{width}" height="{height}"{heights}'
    return f'<img class="ax-still" {named} {size} loading="lazy">'


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    path = Path(app.srcdir) / f"{pagename}.ipynb"
    if doctree is None or not path.is_file():
        return
    pictures = stills(nbformat.read(path, as_version=4))
    folder = Path(app.outdir) / "_static" / "stills"
    folder.mkdir(parents=True, exist_ok=True)

    def with_still(element: re.Match) -> str:
        if element[2] not in pictures:
            return element[0]
        content, known = pictures[element[2]]
        name = f"{path.stem}-{element[2]}.png"
        (folder / name).write_bytes(content)
        return element[0] + picture(context["pathto"](f"_static/stills/{name}", 1), **known)

    context["body"] = ELEMENT.sub(with_still, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
