"""Print a document with Chromium, with the number of each page that it names."""

from __future__ import annotations

import html
import io
import re
import sys
from pathlib import Path

from pikepdf import Dictionary, Name, ObjectStreamMode, Pdf
from playwright.sync_api import Browser, Playwright

from tools.browser import ARGUMENTS, present

NUMBER = re.compile(r'(data-page-of="([^"]+)">)[^<]*')
LINK = re.compile(r'href="#([^"]+)"')
PLACE = re.compile(r'\bid="([^"]+)"')
PRINTS = 5  # numbers that grow by a digit may move a place once more
POINTS = 72 / 25.4  # a millimetre


def printer(playwright: Playwright) -> Browser:
    """Chromium; without hinting, which would put every letter on a whole pixel of a screen."""
    arguments = [*ARGUMENTS, "--font-render-hinting=none"]
    return playwright.chromium.launch(executable_path=present(), args=arguments)


def lost(document: str) -> list[str]:
    """The places that links lead to, and that are not there."""
    there = set(PLACE.findall(document))
    return sorted(set(LINK.findall(document)) - there)


def numbered(document: str, pages: dict[str, int]) -> str:
    return NUMBER.sub(
        lambda at: at[1] + str(pages[html.unescape(at[2])]) if pages else at[0], document
    )


def pages_of(pdf: Pdf) -> dict[str, int]:
    """On which page each place lies that something leads to, from 1."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
    return {
        name.removeprefix("/"): numbers[place[0].objgen] for name, place in pdf.Root.Dests.items()
    }


def write(
    browser: Browser, document: str, scratch: Path, margins: tuple[float, float], target: Path
) -> int:
    """Write the PDF of a document, and say how many pages it has.

    scratch: a file for what is printed. margins: the left and the upper one, in millimetres.
    """
    if places := lost(document):
        sys.exit(f"links lead to places that are not in the document: {', '.join(places)}")
    page = browser.new_page()
    page.set_default_timeout(0)
    pages: dict[str, int] = {}
    for _ in range(PRINTS):
        scratch.write_text(numbered(document, pages), encoding="utf-8")
        page.goto(scratch.as_uri(), wait_until="load")
        page.evaluate("document.fonts.ready.then(() => document.fonts.size)")
        made = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
        with Pdf.open(io.BytesIO(made)) as pdf:
            before, pages = pages, pages_of(pdf)
            if pages == before:
                finish(pdf, margins)
                pdf.save(
                    target, object_stream_mode=ObjectStreamMode.generate, deterministic_id=True
                )
                page.close()
                return len(pdf.pages)
    sys.exit(f"the page numbers of {target.name} do not come to rest")


def finish(pdf: Pdf, margins: tuple[float, float]) -> None:
    """What Chromium leaves undone: places are without the margins, and the outline is all open."""
    left, top = (margin * POINTS for margin in margins)
    for place in pdf.Root.Dests.values():
        place[2] = round(float(place[2]) + left, 2)
        place[3] = round(float(place[3]) - top, 2)
    fold(pdf.Root.Outlines)
    pdf.Root.PageMode = Name.UseOutlines
    for date in (Name.CreationDate, Name.ModDate):  # the same book gives the same file
        if date in pdf.docinfo:
            del pdf.docinfo[date]


def fold(entry: Dictionary, depth: int = 0) -> None:
    """Show the first level of an outline, fold what is below it, and say no title twice."""
    if Name.Title in entry:
        title = str(entry.Title)
        half = len(title) // 2
        if title[:half] == title[half:]:  # so it is written where a heading has moved to a new page
            entry.Title = title[:half]
    child, children = entry.get(Name.First), 0
    while child is not None:
        fold(child, depth + 1)
        children += 1
        child = child.get(Name.Next)
    if children:
        entry.Count = -children if depth else children
