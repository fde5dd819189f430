"""Put each drawing into its page as part of it, where the choice of light or dark is known.

A notebook stores a drawing as a file of its own, which knows only what the system has chosen. In a
page its colours come from drawings.css, which is written here from the same table. A page that is
no notebook asks for a drawing by name:

    ```{drawing} exponential
    ```
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attn_core.views import drawings
from attn_core.views.drawings.drawing import LETTER_STYLE, rules
from attn_core.views.drawings.scripted import read_script
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.two_arrows import Movable
from publishing.translation.language import ENGLISH, language
from publishing.translation.outputs import drawing
from publishing.translation.scripts import exchanged

IMAGE = re.compile(r'(?:<a [^>]*>)?<img [^>]*?src="([^"]+\.svg)"[^>]*>(?:</a>)?')
STYLE = re.compile(r"\s*<style>.*?</style>", re.DOTALL)
KINDS = (Steps, Movable)  # those with a script of their own
BEGINS = re.compile(r"<svg [^>]*class=\"drawing[ \"]", re.DOTALL)


def inline(svg: str) -> str:
    """A drawing as an element of a page: without the style that it has alone.

    >>> inline('<svg class="drawing"><style>a{}</style><g></g></svg>')
    '<svg class="drawing"><g></g></svg>'
    """
    return re.sub(r"\n\s*", "", STYLE.sub("", svg))


def put(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if doctree is None or "body" not in context:
        return
    folder = Path(app.outdir, pagename).parent

    def element(image: re.Match) -> str:
        path = (folder / image[1]).resolve()
        source = Path(app.builder.srcdir, images.get(path.name, ""))
        if not source.is_file():
            return image[0]
        text = source.read_text(encoding="utf-8")
        if not BEGINS.search(text):
            return image[0]
        return inline(text)

    images = {name: uri for uri, name in app.builder.images.items()}
    context["body"] = IMAGE.sub(element, context["body"])
    for kind in KINDS:
        if f'class="{kind.kind}"' in context["body"]:
            app.add_js_file(kind.script, loading_method="defer")


def write_files(app: Sphinx) -> None:
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    paper = "@media print{" + rules(0) + "}"
    text = (
        f".drawing{{{LETTER_STYLE}}}{rules(0)}{rules(1, 'html[data-theme=dark] .drawing')}{paper}"
    )
    (folder / "drawings.css").write_text(text, encoding="utf-8")
    for kind in KINDS:
        text = exchanged(read_script(kind.script))
        (folder / kind.script).write_text(text, encoding="utf-8")


class Drawn(SphinxDirective):
    """A drawing that needs no numbers from its page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        make = getattr(drawings, self.arguments[0], None)
        if make is None:
            raise self.error(
                f"drawing must name one of attn_core.views.drawings: {drawings.__all__}"
            )
        svg = make().svg() if language() == ENGLISH else drawing(make().svg())
        return [nodes.raw("", f'<div class="drawn">{inline(svg)}</div>', format="html")]


def setup(app: Sphinx) -> dict:
    app.add_directive("drawing", Drawn)
    app.add_css_file("drawings.css")
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", put)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
