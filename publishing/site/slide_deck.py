"""A deck of slides for teaching, made of the chapters when the site is built: slides/index.html.

One slide asks a question, and the next one answers it. reveal.js draws them; its files come from
the pinned package sphinx-revealjs, so that the deck opens without a net, and from a folder.
"""

from __future__ import annotations

import re
import shutil
import struct
from functools import partial
from html import escape
from pathlib import Path

import nbformat
import sphinx_revealjs
from docutils import nodes
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from publishing.site.formulas import displayed, mathml
from publishing.site.slides import HEADING, Slide, slides
from publishing.translation.language import ENGLISH, _, in_page, language, said, tag
from publishing.translation.words import REVEALS

HERE = Path(__file__).parent
REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
FILES = ("LICENSE", "dist/reveal.js", "dist/reveal.css")
FOLDER = "slides"
WIDE = 1.8  # times as wide as high


def formula(latex: str, options: dict) -> str:
    """A formula as the pages show it; what is wrong with one, its chapter's page has said."""
    return displayed(latex)[0] if options["display_mode"] else mathml(latex, "inline")[0]


def without_links(self, tokens, place, options, env) -> str:
    """A slide has one link, to its place in the chapter."""
    return ""


def without_anchors(self, tokens, place, options, env) -> str:
    """Nor one that is written as HTML."""
    text = tokens[place].content
    return "" if re.match(r"</?a\b", text) else text


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=formula)
MARKDOWN.add_render_rule("link_open", without_links)
MARKDOWN.add_render_rule("link_close", without_links)
MARKDOWN.add_render_rule("html_inline", without_anchors)


def layout(picture: bytes) -> str:
    """How a slide is laid out: a wide picture stands above the words, another one beside them."""
    if not picture:
        return "words"
    width, height = struct.unpack(">II", picture[16:24])  # where a PNG says it
    return "above" if width > WIDE * height else "beside"


def places(app: Sphinx, chapter: str) -> list[tuple[str, str]]:
    """The headings of a chapter in their order: the anchor of each, and its words."""
    links = app.env.tocs[chapter].findall(nodes.reference)
    return [(link["anchorname"], link.astext()) for link in links]


def in_words(script: str) -> str:
    """What reveal.js says, in the language that is made."""
    for word in REVEALS:
        script = script.replace(word, said(word))
    return script


def content(slide: Slide, name: str, folder: Path) -> dict:
    """What the template needs of a slide; its picture is written beside the deck."""
    picture = ""
    if slide.picture:
        picture = f"{name}.png"
        (folder / picture).write_bytes(slide.picture)
    return {
        "name": name,
        "question": MARKDOWN.render(slide.question),
        "given": escape(slide.given),
        "answer": MARKDOWN.render(slide.answer),
        "printed": escape(slide.printed),
        "picture": picture,
        "alt": said(slide.alt, "drawings"),
        "layout": layout(slide.picture),
        "explorer": slide.explorer,
    }


def chapter_of(app: Sphinx, name: str, folder: Path) -> dict:
    """A chapter's title, address and slides."""
    notebook = nbformat.read(Path(app.srcdir) / f"{name}.ipynb", as_version=4)
    number, headings = Path(name).name[:2], places(app, name)
    contents = []
    for count, slide in enumerate(slides(notebook, partial(in_page, name)), start=1):
        if slide.heading >= len(headings):
            raise ExtensionError(f"{name}: its headings are not those of its page")
        anchor, words = headings[slide.heading]
        made = content(slide, f"s{number}-{count}", folder)
        contents.append({**made, "anchor": anchor, "heading": words})
    title = HEADING.search(notebook.cells[0].source)
    words = re.sub(r"^\d+\W*", "", said(title[1], name)) if title else name
    return {"number": number, "title": words, "page": f"../{name}.html", "slides": contents}


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    folder = Path(app.outdir) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in FILES:
        copied = Path(shutil.copy(REVEAL / name, folder))
        if language() != ENGLISH and copied.suffix == ".js":
            copied.write_text(in_words(copied.read_text(encoding="utf-8")), encoding="utf-8")
    names = sorted(name for name in app.env.found_docs if name.startswith("chapters/"))
    chapters = [chapter_of(app, name, folder) for name in names]
    page = Environment(loader=FileSystemLoader(HERE), autoescape=False, trim_blocks=True)
    page.globals["_"] = _
    template = page.get_template("slide_deck.html")
    text = template.render(book=app.config.html_title, lang=tag(), chapters=chapters)
    (folder / "index.html").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
