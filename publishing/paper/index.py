"""The index on paper: that of the site, with a page for each place.

A term of the glossary has the chapters that lead to it and the glossary itself; a public name, its
entry in the reference.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from publishing.paper.sheet import UNKNOWN, place

# "ablate() (attn_core.watching.Seen method)", in any language.
NAME = re.compile(r"^([\w.]+)(?:\(\))? ?[(（].*?(attn_core[\w.]*).*[)）]$")
REFERENCE = "book/api"


def named(text: str) -> str:
    """An entry as paper says it: a method with its class.

    >>> named("ablate() (attn_core.watching.Seen method)"), named("AdamW (class in attn_core)")
    ('ablate (Seen)', 'AdamW')
    >>> named("alibi()（在 attn_core 模块中）"), named("值（value）")
    ('alibi', '值（value）')
    """
    found = NAME.match(text)
    if not found:
        return text
    name, owner = found[1], found[2].rpartition(".")[2]
    return f"{name} ({owner})" if owner[0].isupper() else name


def target(link: Tag) -> tuple[str, str]:
    """The page of the site that a link leads to, and the place in the document of all pages."""
    url = urlsplit(link["href"])
    page = url.path.removesuffix(".html")
    return page, place(page, unquote(url.fragment))


def of_item(item: Tag, printed: set[str]) -> list[tuple[str, str]]:
    """The names in an item of the site's index, each with a place in the document.

    Below the name of several functions or methods stands what tells them apart; below a term, the
    chapters that lead to it, and the glossary comes behind them.
    """
    links = [(link.get_text(), *target(link)) for link in item.select("a[href]")]
    (first, page, _), *_ = links
    if page == REFERENCE:
        name = re.match(r"[\w.]+", first)[0]
        names = [named(first), *(named(f"{name} {text}") for text, _, _ in links[1:])]
    else:
        names, links = [first] * len(links), [*links[1:], links[0]]
    return [(name, at) for name, (_, page, at) in zip(names, links, strict=True) if page in printed]


def entries(site: Path, printed: set[str]) -> dict[str, dict[str, list[str]]]:
    """By letter, the names that lead to printed pages, each with its places in their order."""
    page = BeautifulSoup((site / "genindex.html").read_text(encoding="utf-8"), "html.parser")
    letters = {}
    for heading in page.select("article h2"):
        found: dict[str, list[str]] = {}
        for item in heading.find_next_sibling("table").select("td > ul > li"):
            for name, at in of_item(item, printed):
                found.setdefault(name, []).append(at)
        # Chinese terms stay in the order of their sounds.
        names = sorted(
            found, key=lambda name: (not name.isascii(), name.isascii() and name.lower())
        )
        if names:
            letters[heading.get_text().strip("\N{PILCROW SIGN}# ")] = {
                name: found[name] for name in names
            }
    return letters


def line(name: str, places: list[str]) -> str:
    pages = ", ".join(
        f'<a href="#{escape(at)}" data-page-of="{escape(at)}">{UNKNOWN}</a>' for at in places
    )
    return f"<li>{escape(name)}, {pages}</li>"


def index(site: Path, printed: set[str]) -> str:
    """The lines of the index, under their letters."""
    return "".join(
        f'<p class="index-letter">{escape(letter)}</p><ul class="index">'
        f"{''.join(line(*entry) for entry in found.items())}</ul>"
        for letter, found in entries(site, printed).items()
    )
