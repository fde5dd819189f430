"""Print the book: one PDF of all, and one a chapter.

    python -m publishing.paper --site _build/html
    python -m publishing.paper --site _build/html --paper letter --only 06

They stand in _build/pdf, those of another language or edition in a folder of its name there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from publishing import ROOT
from publishing.paper.contents import folder_of, languages
from publishing.paper.document import SIZES
from publishing.paper.making import make
from publishing.paper.printing import printer
from publishing.paper.words import WORDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, required=True, help="the built site")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "pdf")
    parser.add_argument("--paper", choices=SIZES, default="a4")
    parser.add_argument("--edition", default="public")
    parser.add_argument("--language", choices=WORDS, help="all that the site has, if not given")
    parser.add_argument("--only", nargs="*", default=[], help="numbers of chapters, or book")
    asked = parser.parse_args()
    asked.site = asked.site.absolute()
    available = languages(asked.site)
    wanted = [asked.language] if asked.language else available
    if not wanted or not set(wanted) <= set(available):
        language = asked.language or "any language"
        sys.exit(f"{asked.site} has no pages in {language}: run `make book`")
    with sync_playwright() as playwright:
        browser = printer(playwright)
        for language in wanted:
            out = folder_of(asked.out, language, asked.edition)
            make(browser, asked.site, language, asked.edition, asked.paper, out, asked.only)
        browser.close()


if __name__ == "__main__":
    main()
