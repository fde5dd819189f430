"""Print a document with Chromium, with the number of each page that it names."""

from __future__ import annotations

import html
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pikepdf import (
    Dictionary,
    Name,
    ObjectStreamMode,
    Page,
    Pdf,
    parse_content_stream,
    unparse_content_stream,
)
from playwright.sync_api import Browser, Playwright

from machine.browser import ARGUMENTS, present

NUMBER = re.compile(r'(data-page-of="([^"]+)">)[^<]*')
LINK = re.compile(r'href="#([^"]+)"')
HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
PLACE = re.compile(r'\bid="([^"]+)"')
BLANK = re.compile(r'(<div class="blank-page" data-before="([^"]+)") hidden>')
PRINTS = 6  # numbers that grow by a digit may move a place once more
POINTS = 72 / 25.4  # a millimetre
PIXELS = 96 / 25.4


@dataclass(frozen=True)
class About:
    """What a PDF says of itself; language: "en"; date: 2026-11-21."""

    author: str
    subject: str
    language: str
    date: str


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


def opened(document: str, pages: dict[str, int], shown: frozenset[str]) -> tuple[str, frozenset]:
    """An empty page before each sheet that would begin on a left one, and before which of them.

    pages: where the places were in the last print, which had an empty page before those `shown`.

    >>> blank = '<div class="blank-page" data-before="{}" hidden></div>'
    >>> opened(blank.format("a") + blank.format("b"), {"a": 4, "b": 8}, frozenset())[1]
    frozenset({'a'})
    """
    there, wanted = 0, []
    for _, place in BLANK.findall(document):
        there += place in shown
        if pages and (pages[place] - there + len(wanted)) % 2 == 0:
            wanted.append(place)
    made = BLANK.sub(lambda at: f"{at[1]}>" if at[2] in wanted else at[0], document)
    return made, frozenset(wanted)


def pages_of(pdf: Pdf) -> dict[str, int]:
    """On which page each place lies that something leads to, from 1."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
    return {
        name.removeprefix("/"): numbers[place[0].objgen] for name, place in pdf.Root.Dests.items()
    }


def write(
    browser: Browser,
    document: str,
    openings: tuple[str, ...],
    about: About,
    scratch: Path,
    margins: tuple[float, float],
    target: Path,
) -> int:
    """Write the PDF of a document, and say how many pages it has.

    openings: the places where sheets begin. scratch: a file for what is printed. margins: the left
    and the upper one, in millimetres.
    """
    if places := lost(document):
        sys.exit(f"links lead to places that are not in the document: {', '.join(places)}")
    page = browser.new_page()
    page.set_default_timeout(0)
    pages: dict[str, int] = {}
    shown: frozenset[str] = frozenset()
    for _ in range(PRINTS):
        text, shown = opened(document, pages, shown)
        scratch.write_text(numbered(text, pages), encoding="utf-8")
        page.goto(scratch.as_uri(), wait_until="load")
        page.evaluate("document.fonts.ready.then(() => document.fonts.size)")
        made = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
        with Pdf.open(io.BytesIO(made)) as pdf:
            before, pages = pages, pages_of(pdf)
            if pages == before:
                finish(pdf, margins, headings(document))
                for number in {pages.get(place, 1) for place in openings}:
                    behead(pdf, pdf.pages[number - 1], margins[1] * PIXELS)
                tell(pdf, about)
                pdf.save(
                    target, object_stream_mode=ObjectStreamMode.generate, deterministic_id=True
                )
                page.close()
                return len(pdf.pages)
    sys.exit(f"the page numbers of {target.name} do not come to rest")


def behead(pdf: Pdf, page: Page, top: float) -> None:
    """Take the running head off a page on which a sheet begins.

    CSS can't say which page that is. Chromium writes what stands in the margins, which has no tag,
    before the text. top: of the text, in CSS pixels from above.
    """
    kept, text, is_margin = [], [], True
    for instruction in parse_content_stream(page):
        operator = str(instruction.operator)
        is_margin = is_margin and operator != "BDC"
        if not is_margin or (operator != "BT" and not text):
            kept.append(instruction)
            continue
        text.append(instruction)
        if operator == "ET":
            heights = [each.operands[5] for each in text if str(each.operator) == "Tm"]
            if not all(height < top for height in heights):
                kept += text
            text = []
    page.Contents = pdf.make_stream(unparse_content_stream(kept))


def tell(pdf: Pdf, about: About) -> None:
    """Author, subject, language and date, in both forms that readers of PDFs know."""
    moment = f"{about.date}T00:00:00+00:00"
    with pdf.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as told:
        told["dc:title"] = str(pdf.docinfo[Name.Title])
        told["dc:creator"] = [about.author]
        told["dc:description"] = about.subject
        told["dc:language"] = {about.language}
        told["xmp:CreateDate"] = told["xmp:ModifyDate"] = moment
        told["xmp:CreatorTool"] = str(pdf.docinfo[Name.Creator])
        told["pdf:Producer"] = str(pdf.docinfo[Name.Producer])
    pdf.docinfo[Name.Author] = about.author
    pdf.docinfo[Name.Subject] = about.subject
    for date in (Name.CreationDate, Name.ModDate):  # the same book gives the same file
        pdf.docinfo[date] = f"D:{about.date.replace('-', '')}000000Z"


def headings(document: str) -> list[str]:
    """The headings of a document in their order.

    >>> headings("<h1>One</h1><p>a</p><h2 id='b'>Two <code>x</code> &amp; y</h2>")
    ['One', 'Two x & y']
    """
    titles = (TAG.sub("", inside) for _, inside in HEADING.findall(document))
    return [" ".join(html.unescape(title).split()) for title in titles]


def finish(pdf: Pdf, margins: tuple[float, float], titles: list[str]) -> None:
    """What Chromium leaves undone: places lack the margins, the outline is open and says some
    words of a heading twice where it has moved to a new page."""
    left, top = (margin * POINTS for margin in margins)
    for place in pdf.Root.Dests.values():
        place[2] = round(float(place[2]) + left, 2)
        place[3] = round(float(place[3]) - top, 2)
    entries = list(below(pdf.Root.Outlines))
    if len(entries) != len(titles):
        sys.exit(f"the outline has {len(entries)} entries, the document {len(titles)} headings")
    for entry, title in zip(entries, titles, strict=True):
        entry.Title = title
        if Name.First in entry:
            entry.Count = -sum(1 for _ in below(entry))  # folded
    pdf.Root.Outlines.Count = sum(1 for _ in children(pdf.Root.Outlines))
    pdf.Root.PageMode = Name.UseOutlines


def children(entry: Dictionary) -> Iterator[Dictionary]:
    child = entry.get(Name.First)
    while child is not None:
        yield child
        child = child.get(Name.Next)


def below(entry: Dictionary) -> Iterator[Dictionary]:
    """All entries of an outline below one, in their order."""
    for child in children(entry):
        yield child
        yield from below(child)
