"""The API reference from attn_core's docstrings, tied to the chapters in both directions.

A docstring says "Taught in chapter 03.": on the reference page the number becomes a link, and under
the chapter stands a line with the names that say so.
"""

from __future__ import annotations

import re
from html import escape

from sphinx.application import Sphinx

from publishing.translation.docstrings import TAUGHT, blocks, docstring, named, paragraphs
from publishing.translation.language import ENGLISH, _, language

CHAPTER = re.compile(r"\b\d\d\b")


def chapter_pages(docnames) -> dict[str, str]:
    """ "03" → "chapters/03_self_attention", for the chapters that are in the book."""
    return {name[9:11]: name for name in docnames if re.match(r"chapters/\d\d_", name)}


def taught_in(docstring: str) -> list[str]:
    """The chapters that a docstring names.

    >>> taught_in("A box. Taught in chapter 04, the reason in\\n    chapter 05.")
    ['04', '05']
    >>> taught_in("一个框。讲解见第 03、14 章。")
    ['03', '14']
    >>> taught_in("every: the distance. Taught\\n        in chapter 06.")
    ['06']
    """
    sentence = TAUGHT.search(docstring)
    return CHAPTER.findall(sentence[0]) if sentence else []


def plain(text: str, pages: dict[str, str]) -> str:
    """A docstring's words as reStructuredText: no sign but `code` means anything."""
    parts = text.split("`")
    marked = [re.sub(r"([*_|\\])", r"\\\1", part) for part in parts]
    marked[1::2] = [f"``{part}``" for part in parts[1::2]]
    text = "".join(marked)
    sentence = TAUGHT.search(text)
    if not sentence:
        return text
    linked = CHAPTER.sub(
        lambda number: (
            f":doc:`{number[0]} </{pages[number[0]]}>`" if number[0] in pages else number[0]
        ),
        sentence[0],
    )
    return text.replace(sentence[0], linked)


def to_rst(lines: list[str], pages: dict[str, str]) -> list[str]:
    """A docstring of attn_core as reStructuredText; its examples stay as they are."""
    result: list[str] = []
    for paragraph in paragraphs(lines):
        if paragraph.startswith(">>>"):
            result += [*paragraph.split("\n"), ""]
            continue
        for block in blocks(paragraph.split("\n")):
            bullet = "* " if block.startswith("* ") else ""
            result += [bullet + plain(docstring(block.removeprefix(bullet)), pages), ""]
    return result


def process(app: Sphinx, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = to_rst(lines, chapter_pages(app.env.found_docs))


def names_of(app: Sphinx, chapter: str) -> list[tuple[str, str]]:
    """The documented names whose docstring names the chapter, each with its place."""
    names = []
    for name, entry in sorted(app.env.get_domain("py").objects.items()):
        if entry.aliased or entry.objtype == "module":
            continue
        if chapter in taught_in(named(name).__doc__ or ""):
            names.append((name, f"{entry.docname}#{entry.node_id}"))
    return names


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if not re.match(r"chapters/\d\d_", pagename) or "body" not in context:
        return
    items = []
    for name, place in names_of(app, pagename[9:11]):
        docname, anchor = place.split("#")
        href = f"{context['pathto'](docname)}#{anchor}"
        short = name.removeprefix("attn_core.")
        items.append(f'<a href="{escape(href)}"><code>{escape(short)}</code></a>')
    if items:
        head = _("In the reference:")
        in_english = language() == ENGLISH
        named = f" {', '.join(items)}" if in_english else f"{'、'.join(items)}。"
        context["body"] += f'<p class="taught-here">{head}{named}</p>'


def setup(app: Sphinx) -> dict:
    app.connect("autodoc-process-docstring", process)
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
