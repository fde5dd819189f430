"""A document for the printer: sheets with a title, contents, running heads and one style."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from publishing.paper.contents import Part
from publishing.paper.sheet import UNKNOWN, Sheet, key
from publishing.paper.words import Words

STYLE = Path(__file__).with_name("paper.css")
SIZES = {"a4": "A4", "letter": "letter"}
MARGINS = (22.0, 24.0)  # left and above, in millimetres; `paper.css` has them too


@dataclass(frozen=True)
class Book:
    """What all documents of one language and edition share."""

    title: str
    author: str
    version: str
    edition: str
    language: str
    words: Words
    site: Path
    paper: str


def quoted(text: str) -> str:
    """A string of a style sheet."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def running_head(book: Book, sheet: Sheet) -> str:
    left, right = quoted(book.title), quoted(sheet.title)
    if sheet.title == book.title:
        left = '""'
    return (
        f"@page {ident(sheet)} {{ @top-left {{ content: {left} }} "
        f"@top-right {{ content: {right} }} }}"
        f" #{ident(sheet)} {{ page: {ident(sheet)} }}"
    )


def ident(sheet: Sheet) -> str:
    return "sheet-" + re.sub(r"\W", "-", key(sheet.name))


def line(target: str, title: str, kind: str) -> str:
    """A line of the contents."""
    return (
        f'<li class="{kind}"><a href="#{escape(target)}"><span>{escape(title)}</span>'
        f'<span class="dots"></span><span data-page-of="{escape(target)}">{UNKNOWN}</span></a></li>'
    )


def contents(sheets: list[Sheet], parts: list[Part]) -> str:
    """The contents of the whole book."""
    by_name, lines = {sheet.name: sheet for sheet in sheets}, []
    for part in parts:
        if part.caption:
            lines.append(f'<li class="part">{escape(part.caption)}</li>')
        for name in part.pages:
            sheet = by_name[name]
            lines.append(line(key(name), sheet.title, "sheet"))
            if name.startswith("chapters/"):
                lines += [line(*section, "section") for section in sheet.sections]
    return f'<ul class="contents">{"".join(lines)}</ul>'


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


def whole(book: Book, sheets: list[Sheet], parts: list[Part]) -> str:
    """The whole book."""
    front = (
        f"{title_page(book)}<section class='contents-page'><h1 id='contents'>"
        f"{escape(book.words.contents)}</h1>{contents(sheets, parts)}</section>"
    )
    return html(book, book.title, {sheet: str(sheet.article) for sheet in sheets}, front)


def alone(book: Book, sheet: Sheet) -> str:
    """One chapter: what book it is from above its title, its sections below it."""
    lines = "".join(line(*section, "section") for section in sheet.sections)
    version = book.words.version.format(n=book.version)
    above = f'<p class="from-book">{escape(version)}</p>'
    below = (
        f'<nav class="chapter-contents"><p>{escape(book.words.in_this_chapter)}</p>'
        f'<ul class="contents">{lines}</ul></nav>'
    )
    text = str(sheet.article).replace("<h1", f"{above}<h1", 1).replace("</h1>", f"</h1>{below}", 1)
    return html(book, f"{sheet.title} · {book.title}", {sheet: text}, "")


def html(book: Book, title: str, sheets: dict[Sheet, str], front: str) -> str:
    static = (book.site / "_static").as_uri()
    links = "".join(
        f'<link rel="stylesheet" href="{static}/{name}">'
        for name in ("pygments.css", "site.css", "drawings.css", "zh.css")
        if (book.site / "_static" / name).is_file()
    )
    heads = "\n".join(running_head(book, sheet) for sheet in sheets)
    body = "\n".join(
        f'<div class="sheet" id="{ident(sheet)}">{text}</div>' for sheet, text in sheets.items()
    )
    return f"""<!doctype html>
<html lang="{book.language}" data-theme="light">
<head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="author" content="{escape(book.author)}">
{links}
<style>/* fonts */</style>
<style>@page {{ size: {SIZES[book.paper]} }}
{STYLE.read_text(encoding="utf-8")}
{heads}</style></head>
<body>{front}{body}</body></html>"""
