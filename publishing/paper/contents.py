"""The pages of the book in their order, as `_toc.yml` has them, and where they and the PDFs lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from publishing import ROOT
from publishing.paper.words import WORDS
from publishing.translation.checking import is_complete

NAME = "attention-number-by-number"


@dataclass(frozen=True)
class Part:
    """A part of the book: its name, and its pages, "chapters/06_masking"."""

    caption: str
    pages: tuple[str, ...]


def parts(site: Path) -> tuple[str, list[Part]]:
    """The book's title, and its parts: the landing page, without a name, and those after it.

    Title and names come from the landing page, which has them in its own language.
    """
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    page = (site / f"{toc['root']}.html").read_text(encoding="utf-8")
    landing = BeautifulSoup(page, "html.parser")
    title = landing.h1.find(string=True, recursive=False).strip()
    captions = [caption.get_text().strip() for caption in landing.select("nav.bd-links p.caption")]
    pages = [tuple(chapter["file"] for chapter in part["chapters"]) for part in toc["parts"]]
    captioned = [Part(caption, names) for caption, names in zip(captions, pages, strict=True)]
    return title, [Part("", (toc["root"],)), *captioned]


def site_of(site: Path, language: str) -> Path:
    """Where a language's pages stand: English at the root, any other in a folder of its name."""
    return site if language == "en" else site / language


def folder_of(out: Path, language: str, edition: str) -> Path:
    """Where the PDFs of a language and an edition stand."""
    folder = out if edition == "public" else out / edition
    return site_of(folder, language)


def languages(site: Path) -> list[str]:
    """The languages that a site has whole: no Chinese one while some of it is in English."""
    there = [
        language
        for language in WORDS
        if (site_of(site, language) / "book" / "index.html").is_file()
    ]
    return [language for language in there if language == "en" or is_complete()]
