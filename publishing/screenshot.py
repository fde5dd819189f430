"""Take a picture of a page of the built site, as the one in README.

python -m publishing.screenshot book/index.html book/_static/readme.png --height 760
"""

from __future__ import annotations

import argparse

from playwright.sync_api import sync_playwright

from machine.browser import ARGUMENTS, present
from publishing import ROOT

HTML = ROOT / "_build" / "html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", help="a page under _build/html, with its #anchor if any")
    parser.add_argument("picture", help="the PNG to write")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--whole", action="store_true", help="the page from top to bottom")
    options = parser.parse_args()

    path, _, anchor = options.page.partition("#")
    address = (HTML / path).as_uri() + (f"#{anchor}" if anchor else "")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=present(), args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": options.width, "height": options.height},
            color_scheme="dark" if options.dark else "light",
        )
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=options.picture, full_page=options.whole)
        browser.close()


if __name__ == "__main__":
    main()
