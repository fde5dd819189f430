"""A document for the printer: sheets with a title, contents, running heads and one style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from publishing.paper.contents import Part
from publishing.paper.index import index
from publishing.paper.sheet import UNKNOWN, Sheet, key
from publishing.paper.words import Words

STYLE = Path(__file__).with_name("paper.css")
INDEX = "index-of-terms"  # its place
EMPTY = '<div class="blank-page"{}></div>'  # a page
SIZES = {"a4": "A4", "letter": "letter"}
MARGINS = (22.0, 24.0)  # left and above, in millimetres; `paper.css` has them too


@dataclass(frozen=True)
class Book:
    """What all documents of one language and edition share; date: of the version, 2026-11-21."""

    title: str
    author: str
    version: str
    date: str
    edition: str
    language: str
    words: Words
    site: Path
    paper: str


@dataclass(frozen=True)
class Document:
    """What is printed as one PDF: its text, and the places where a sheet begins."""

    text: str
    openings: tuple[str, ...]


def quoted(text: str) -> str:
    """A string of a style sheet."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def running_heads(name: str, left: str, right: str) -> str:
    """The titles at the outer edges: the book's on left pages, the sheet's on right ones."""
    return (
        f"@page {name}:left {{ @top-left {{ content: {quoted(left)} }} }} "
        f"@page {name}:right {{ @top-right {{ content: {quoted(right)} }} }} "
        f"#{name} {{ page: {name} }}"
    )


def ident(name: str) -> str:
    return "sheet-" + re.sub(r"\W", "-", name)


def line(target: str, title: str, kind: str) -> str:
    """A line of the contents."""
    return (
        f'<li class="{kind}"><a href="#{escape(target)}"><span>{escape(title)}</span>'
        f'<span class="dots"></span><span data-page-of="{escape(target)}">{UNKNOWN}</span></a></li>'
    )


def contents(sheets: list[Sheet], parts: list[Part], last: str, in_detail: bool) -> str:
    """The contents of the whole book; `last` is the title of the index. In detail: the sections of
    the chapters, too."""
    by_name, lines = {sheet.name: sheet for sheet in sheets}, []
    for part in parts:
        if part.caption:
            lines.append(f'<li class="part">{escape(part.caption)}</li>')
        for name in part.pages:
            sheet = by_name[name]
            lines.append(line(key(name), sheet.title, "sheet"))
            if in_detail and name.startswith("chapters/"):
                lines += [line(*section, "section") for section in sheet.sections]
    lines.append(line(INDEX, last, "sheet"))
    kind = "contents in-detail" if in_detail else "contents"
    return f'<ul class="{kind}">{"".join(lines)}</ul>'


def title_page(book: Book) -> str:
    edition = book.words.edition.get(book.edition, "")
    lines = [
        f'<h1 class="book-title">{escape(book.title)}</h1>',
        f"<p>{escape(book.author)}</p>",
        f"<p>{escape(book.words.version.format(n=book.version))}</p>",
        f"<p><strong>{escape(edition)}</strong></p>" if edition else "",
        f'<div class="colophon"><p>{escape(book.words.how_to_read)}</p>'
        f"<p>{escape(book.words.licence)}</p></div>",
    ]
    return f'<section class="title-page">{"".join(lines)}</section>'


def whole(book: Book, sheets: list[Sheet], parts: list[Part]) -> Document:
    """The whole book: its contents, the sheets, the index. Each begins on a right page."""
    words = book.words
    front = (
        title_page(book)
        + EMPTY.format("")
        + "".join(
            f"<section class='contents-page'><h1>{escape(title)}</h1>"
            f"{contents(sheets, parts, words.index, in_detail)}</section>"
            for title, in_detail in ((words.contents, False), (words.in_detail, True))
        )
    )
    printed = {sheet.name for sheet in sheets}
    texts = {key(sheet.name): (sheet.title, str(sheet.article)) for sheet in sheets}
    article = f'<article class="bd-article" id="{INDEX}"><h1>{escape(words.index)}</h1>'
    texts[INDEX] = words.index, f"{article}{index(book.site, printed)}</article>"
    return html(book, book.title, texts, front)


def alone(book: Book, sheet: Sheet) -> Document:
    """One chapter: what book it is from above its title, its sections below it."""
    lines = "".join(line(*section, "section") for section in sheet.sections)
    version = book.words.version.format(n=book.version)
    above = f'<p class="from-book">{escape(version)}</p>'
    below = (
        f'<nav class="chapter-contents"><p>{escape(book.words.in_this_chapter)}</p>'
        f'<ul class="contents">{lines}</ul></nav>'
    )
    text = str(sheet.article).replace("<h1", f"{above}<h1", 1).replace("</h1>", f"</h1>{below}", 1)
    texts = {key(sheet.name): (sheet.title, text)}
    return html(book, f"{sheet.title} · {book.title}", texts, "")


def html(book: Book, title: str, texts: dict[str, tuple[str, str]], front: str) -> Document:
    """The document of some sheets: their titles and texts by their places."""
    static = (book.site / "_static").as_uri()
    links = "".join(
        f'<link rel="stylesheet" href="{static}/{name}">'
        for name in ("pygments.css", "site.css", "drawings.css", "zh.css")
        if (book.site / "_static" / name).is_file()
    )
    heads = "\n".join(
        running_heads(ident(place), book.title, of) for place, (of, _) in texts.items()
    )
    body = "\n".join(
        (EMPTY.format(f' data-before="{escape(place)}" hidden') if front else "")
        + f'<div class="sheet" id="{ident(place)}">{text}</div>'
        for place, (_, text) in texts.items()
    )
    made = f"""<!doctype html>
<html lang="{book.language}" data-theme="light">
<head><meta charset="utf-8"><title>{escape(title)}</title>
{links}
<style>/* fonts */</style>
<style>@page {{ size: {SIZES[book.paper]} }}
{STYLE.read_text(encoding="utf-8")}
{heads}</style></head>
<body>{front}{body}</body></html>"""
    return Document(made, tuple(texts))
