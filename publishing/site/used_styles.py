"""Leave out of the style sheets the rules that no page of the site can use.

The theme's has 390 KB, most of it for parts that the book has not. A rule stays if each class and
each id that it asks for is a word of some page or of some script: those that scripts set are there
too. Our own style sheets stay as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import tinycss2
from sphinx.application import Sphinx
from tinycss2.ast import Node

from publishing.site.pages import own_pages

WORD = re.compile(r"[\w-]+")
OF_OTHERS = ("styles/*.css", "mystnb.*.css", "sphinx-design.min.css")
PUT_TOGETHER = {"bs-tooltip-auto"}  # by scripts, which do not have it as a word
NESTED = {"media", "supports"}
SKIP = (True, True)  # comments and white space


def words(texts: Iterable[str]) -> set[str]:
    """
    >>> sorted(words(['<p class="ax-root wide">', "x.classList.add('show')"]))
    ['add', 'ax-root', 'class', 'classList', 'p', 'show', 'wide', 'x']
    """
    return {word for text in texts for word in WORD.findall(text)}


def selectors(prelude: list[Node]) -> Iterator[list[Node]]:
    """The selectors between a rule's commas."""
    part: list[Node] = []
    for token in prelude:
        if token == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def names(selector: list[Node]) -> set[str]:
    """The classes and ids that an element must have: none of those in :not(…) and its kind."""
    needed = {token.value for token in selector if token.type == "hash"}
    for before, token in pairwise(selector):
        if before == "." and token.type == "ident":
            needed.add(token.value)
    return needed


def used(rules: Iterable[Node], known: set[str]) -> str:
    """The rules that some element may match, as CSS.

    >>> text = ".a .b, p:not(.c){x:1} .d{x:2} @media print{.a{x:3} .d{x:4}}"
    >>> used(tinycss2.parse_stylesheet(text, *SKIP), {"a", "e"})
    ' p:not(.c){x:1}@media print{.a{x:3}}'
    """
    parts = []
    for rule in rules:
        if rule.type == "qualified-rule":
            kept = [
                selector for selector in selectors(rule.prelude) if words(names(selector)) <= known
            ]
            if kept:
                heads = ",".join(map(tinycss2.serialize, kept))
                parts.append(f"{heads}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED:
            inside = used(tinycss2.parse_rule_list(rule.content, *SKIP), known)
            if inside:
                head = tinycss2.serialize(rule.prelude)
                parts.append(f"@{rule.at_keyword}{head}{{{inside}}}")
        else:
            parts.append(rule.serialize())
    return "".join(parts)


def prune(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    folder, static = Path(app.outdir), Path(app.outdir) / "_static"
    pages = list(own_pages(folder))
    texts = [*pages, *static.glob("*.js"), *static.glob("scripts/*.js")]
    known = PUT_TOGETHER | words(path.read_text(encoding="utf-8") for path in texts)
    marks = {}
    for path in (path for pattern in OF_OTHERS for path in static.glob(pattern)):
        sheet = tinycss2.parse_stylesheet(path.read_text(encoding="utf-8"), *SKIP)
        text = used(sheet, known)
        path.write_text(text, encoding="utf-8")
        marks[path.name] = hashlib.sha256(text.encode()).hexdigest()[:8]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        page.write_text(marked(text, marks), encoding="utf-8")


def marked(page: str, marks: dict[str, str]) -> str:
    """A page that asks for the sheets by what is in them now, so that no cache gives older ones.

    >>> marked('<link href="a/b.css?v=1"> <link href="a/a-b.css">', {"b.css": "2"})
    '<link href="a/b.css?v=2"> <link href="a/a-b.css">'
    """
    for name, mark in marks.items():
        page = re.sub(rf'/{re.escape(name)}(\?\w+=\w+)?"', f'/{name}?v={mark}"', page)
    return page


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", prune, priority=700)  # when all pages and scripts are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
