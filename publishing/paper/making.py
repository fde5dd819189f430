"""Print the documents of one language: the whole book, and each chapter alone."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import yaml
from playwright.sync_api import Browser

from machine import promised
from publishing import ROOT
from publishing.paper import fonts
from publishing.paper.contents import NAME, Part, parts, site_of
from publishing.paper.document import MARGINS, Book, Document, alone, whole
from publishing.paper.printing import About, write
from publishing.paper.sheet import Maker, key
from publishing.paper.words import WORDS
from publishing.translation.language import ENGLISH, in_chinese

THE_BOOK = "book"  # what `only` calls the whole of it, beside the numbers of chapters


def book_of(site: Path, language: str, edition: str, paper: str) -> tuple[Book, list[Part]]:
    """What all documents of one language have in common, and the parts of the book."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    author = settings["author"] if language == ENGLISH else in_chinese(settings["author"])
    pages = site_of(site, language)
    title, every = parts(pages)
    version = promised.project()["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    date = cited["date-released"]
    book = Book(title, author, version, date, edition, language, WORDS[language], pages, paper)
    return book, every


def whole_book(book: Book, every: list[Part]) -> Document:
    """The document of all pages."""
    names = [name for part in every for name in part.pages]
    sheets = [Maker(book.site, name, book.words, set(names)).sheet() for name in names]
    return whole(book, sheets, every)


def documents_of(book: Book, every: list[Part], only: list[str]) -> dict[str, Document]:
    """The documents that are asked for, by the names of their files."""
    documents: dict[str, Document] = {}
    if not only or THE_BOOK in only:
        documents[NAME] = whole_book(book, every)
    for name in (name for part in every for name in part.pages if name.startswith("chapters/")):
        if not only or key(name).partition("_")[0] in only:
            sheet = Maker(book.site, name, book.words, {name}).sheet()
            documents[f"chapters/{key(name)}"] = alone(book, sheet)
    return documents


def make(
    browser: Browser,
    site: Path,
    language: str,
    edition: str,
    paper: str,
    out: Path,
    only: list[str],
) -> list[Path]:
    """Print one language; `only` has the numbers of chapters or "book", or nothing for all."""
    book, every = book_of(site, language, edition, paper)
    documents = documents_of(book, every, only)
    made: list[Path] = []
    characters = set().union(*(document.text for document in documents.values()))
    rules, known = fonts.of_site(book.site, characters)
    if lacking := fonts.lacking(characters, known):
        sys.exit(f"no font of the paper has a sign for {lacking}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, document in documents.items():
            suffix = "" if paper == "a4" else f"-{paper}"
            target = out / f"{name}{suffix}.pdf"
            target.parent.mkdir(parents=True, exist_ok=True)
            began = time.monotonic()
            text = document.text.replace("/* fonts */", rules)
            about = About(book.author, book.words.subject, language, book.date)
            page = Path(scratch, "document.html")
            sheets = write(browser, text, document.openings, about, page, MARGINS, target)
            size, seconds = target.stat().st_size / 1e6, time.monotonic() - began
            print(f"{sheets:4} pages {size:6.1f} MB {seconds:4.0f} s  {target}", flush=True)
            made.append(target)
    return made
