"""axe-core on pages, light and dark. What the theme itself gets wrong is listed, with why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import axe_playwright_python
import pytest

from publishing.translation.language import in_chinese
from tests.conftest import HTML
from tests.site.conftest import STILL

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"

NAME = "label-content-name-mismatch"
FOLD = "Toggle hidden content"
# (rule, a part of the element's HTML): why it stays
OF_THE_THEME = {
    ("region", "navbar-brand logo"): "the theme sets the book's name outside the sidebar's nav",
    (NAME, "search-button-field"): "the theme names the button Search and shows Ctrl+K too",
    (NAME, "theme-switch-button"): "the theme's button for light and dark holds three icons' texts",
    (NAME, FOLD): "myst-nb gives every fold of a cell this name",
    (NAME, in_chinese(FOLD)): "in Chinese too",
}

# The names that voice control needs are a rule that axe leaves off unless asked.
EVERY_RULE = {"rules": {NAME: {"enabled": True}}}
# What can differ in the dark: colours, and pictures that are shown there alone.
OF_COLOURS = ["color-contrast", "link-in-text-block", "image-alt", "svg-img-alt", "role-img-alt"]
RULES = {
    "light": EVERY_RULE,
    "dark": {"runOnly": {"type": "rule", "values": OF_COLOURS}},
}
RUN = """(rules) => axe.run(document, { resultTypes: ["violations"], ...rules })
  .then((result) => result.violations)"""


def excused(rule, html):
    return any(rule == known and sign in html for known, sign in OF_THE_THEME)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.deep)])
def test_axe(open_page, site, kinds, scheme):
    page, wrong = open_page("about:blank", color_scheme=scheme), {}
    for name in kinds:
        page.goto(f"{site}/{name}", wait_until="load")
        page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        page.add_style_tag(content=STILL)
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        page.add_script_tag(path=AXE)
        for violation in page.evaluate(RUN, RULES[scheme]):
            for node in violation["nodes"]:
                if not excused(violation["id"], node["html"]):
                    summary = node.get("failureSummary", "")[:300]
                    why = (violation["id"], node["html"][:160], summary)
                    wrong.setdefault(str(why), []).append(name)
    assert wrong == {}, json.dumps(wrong, indent=1, ensure_ascii=False)


def test_the_book_tells_its_readers_of_these_exceptions():
    page = (HTML.parents[1] / "book" / "about.md").read_text(encoding="utf-8")
    told = page.partition("<!-- exceptions: begin")[2].partition("<!-- exceptions: end")[0]
    assert set(re.findall(r"\(`([a-z-]+)`\)", told)) == {rule for rule, _ in OF_THE_THEME}


def test_axe_finds_what_is_wrong(open_page, site):
    page = open_page(f"{site}/book/about.html")
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend', '<img src=\"\">')"
    )
    page.add_script_tag(path=AXE)
    rules = {violation["id"] for violation in page.evaluate(RUN, EVERY_RULE)}
    assert "image-alt" in rules


def test_axe_finds_what_is_wrong_in_the_dark_alone(open_page, site):
    page = open_page(f"{site}/book/about.html", color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.add_style_tag(content=STILL + "article p { color: #222 !important; }")
    page.add_script_tag(path=AXE)
    rules = {violation["id"] for violation in page.evaluate(RUN, RULES["dark"])}
    assert "color-contrast" in rules
