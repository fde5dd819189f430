"""Print the documents of one language: the whole book, and each chapter alone."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import yaml
from playwright.sync_api import Browser

from tools.paper import fonts
from tools.paper.contents import NAME, ROOT, parts, site_of
from tools.paper.document import MARGINS, Book, alone, whole
from tools.paper.printing import write
from tools.paper.sheet import Maker, key
from tools.paper.words import WORDS
from tools.release import version
from translation.language import ENGLISH, in_chinese


def make(
    browser: Browser,
    site: Path,
    language: str,
    edition: str,
    paper: str,
    out: Path,
    only: list[str],
) -> list[Path]:
    """Print one language; `only` has the numbers of chapters, or nothing for all and the book."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    words = WORDS[language]
    author = settings["author"] if language == ENGLISH else in_chinese(settings["author"])
    pages = site_of(site, language)
    title, every = parts(pages)
    book = Book(title, author, version(), edition, language, words, pages, paper)
    made: list[Path] = []
    documents: dict[str, str] = {}
    names = [name for part in every for name in part.pages]
    if not only:
        every_sheet = [Maker(pages, name, words, set(names)).sheet() for name in names]
        documents[NAME] = whole(book, every_sheet, every)
    for name in names:
        if not name.startswith("chapters/"):
            continue
        if not only or key(name).partition("_")[0] in only:
            documents[f"chapters/{key(name)}"] = alone(
                book, Maker(pages, name, words, {name}).sheet()
            )
    with tempfile.TemporaryDirectory() as scratch:
        characters = "".join(sorted(set("".join(documents.values()))))
        rules, lacking = fonts.write(characters, pages, Path(scratch, "fonts"))
        if lacking:
            sys.exit(f"no font of the paper has a sign for {lacking}")
        for name, document in documents.items():
            suffix = "" if paper == "a4" else f"-{paper}"
            target = out / f"{name}{suffix}.pdf"
            target.parent.mkdir(parents=True, exist_ok=True)
            began = time.monotonic()
            document = document.replace("/* fonts */", rules)
            sheets = write(browser, document, Path(scratch, "document.html"), MARGINS, target)
            size, seconds = target.stat().st_size / 1e6, time.monotonic() - began
            print(f"{sheets:4} pages {size:6.1f} MB {seconds:4.0f} s  {target}", flush=True)
            made.append(target)
    return made
