"""The theme's style sheets without the rules that no page uses: what a page uses is there."""

from __future__ import annotations

import re
from pathlib import Path

import myst_nb
import pydata_sphinx_theme
import pytest
import sphinx_book_theme
import sphinx_design
from playwright.sync_api import expect

from publishing import ROOT

pytestmark = pytest.mark.gate

THEMES = "theme/pydata_sphinx_theme/static/styles", "theme/sphinx_book_theme/static/styles"
# As the packages have them: the part of a name by which a page asks for them, and where they lie.
WHOLE = {
    "pydata-sphinx-theme.css": Path(pydata_sphinx_theme.__file__).parent / THEMES[0],
    "sphinx-book-theme.css": Path(sphinx_book_theme.__file__).parent / THEMES[1],
    "sphinx-design.min.css": Path(sphinx_design.__file__).parent / "static",
    "mystnb.css": Path(myst_nb.__file__).parent / "static",
}

# The rules of a sheet that an element of the page matches now, whatever the pointer does.
MISSING = r"""(whole) => {
  const parts = (text) => text.split(/,(?![^(]*\))/).map((part) => part.trim());
  const bare = (selector) => selector
    .replace(/::?(before|after|backdrop|placeholder|marker|-[\w-]+)(\([^)]*\))?/g, "")
    .replace(/:(hover|focus|focus-\w+|active|visited|link|checked|disabled|target)\b/g, "")
    .replace(/(^|[\s>+~])(?=$|[\s>+~])/g, "$1*");
  const rules = (list, about, found) => {
    for (const rule of list) {
      const inside = rule.cssRules?.length && rule.conditionText !== undefined;
      if (inside) rules(rule.cssRules, `${about}@${rule.conditionText} `, found);
      else if (rule.selectorText) for (const part of parts(rule.selectorText)) {
        found.set(`${about}${part} {${rule.style.cssText}}`, bare(part));
      }
    }
    return found;
  };
  // Most rules name a class that the page has not: no element need be asked.
  const classes = new Set();
  for (const { classList } of document.querySelectorAll("[class]")) {
    for (const name of classList) classes.add(name);
  }
  const classesOf = (selector) =>
    selector.replace(/:\w+\([^()]*\)/g, "").match(/\.[\w-]+/g) ?? [];
  const isPossible = (selector) =>
    classesOf(selector).every((name) => classes.has(name.slice(1)));
  const matches = (selector) => {
    try {
      return isPossible(selector) && document.querySelector(selector) !== null;
    } catch { return false; }
  };
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(whole);
  const there = new Map();
  for (const { href, cssRules } of document.styleSheets) if (href) rules(cssRules, "", there);
  return [...rules(sheet.cssRules, "", new Map())]
    .filter(([rule, selector]) => !there.has(rule) && matches(selector))
    .map(([rule]) => rule);
}"""


def whole(name: str) -> str:
    return (WHOLE[name] / name).read_text(encoding="utf-8")


def sheets(page) -> list[str]:
    """Those of the theme that a page asks for."""
    asked = " ".join(page.evaluate("[...document.styleSheets].map((sheet) => `${sheet.href}`)"))
    return [name for name in WHOLE if name.removesuffix(".css") in asked]


def missing(page) -> dict[str, list[str]]:
    by_sheet = {name: page.evaluate(MISSING, whole(name)) for name in sheets(page)}
    return {name: rules for name, rules in by_sheet.items() if rules}


def copy(page):
    code = page.locator("div.highlight:visible").first
    code.hover()
    code.locator("button.copybtn").click()


SEARCH = (lambda page: page.keyboard.press("Control+k"), "#pst-search-dialog[open]")
UNFOLD = "document.querySelectorAll('details').forEach((fold) => (fold.open = true))"


def click(css):
    return lambda page: page.locator(css).click()


WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 800}
# What a reader does, and what is there then.
ACTS = {
    "hover": (WIDE, lambda page: page.locator(".theme-switch-button").hover(), ".tooltip.show"),
    "copy": (WIDE, copy, "html"),
    "search": (WIDE, *SEARCH),
    "turn": (WIDE, click(".theme-switch-button"), "html"),
    "hide the sidebar": (WIDE, click(".primary-toggle"), ".pst-sidebar-hidden"),
    "unfold": (WIDE, lambda page: page.evaluate(UNFOLD), "details[open]"),
    "scroll": (WIDE, lambda page: page.evaluate("scrollTo(0, 3000)"), "body.scrolled"),
    "open the sidebar": (NARROW, click(".primary-toggle"), "#pst-primary-sidebar-modal[open]"),
    "open the contents": (NARROW, click(".secondary-toggle"), "#pst-secondary-sidebar-modal[open]"),
    "search on a phone": (NARROW, *SEARCH),
}


@pytest.mark.parametrize("what", ACTS)
def test_a_page_has_the_rules_for_what_its_reader_does(open_page, site, what):
    size, act, there = ACTS[what]
    page = open_page(f"{site}/chapters/03_self_attention.html", viewport=size)
    act(page)
    page.locator(there).first.wait_for(state="attached")
    assert missing(page) == {}


def test_what_the_search_finds_has_its_rules(open_page, site, edition):
    page = open_page(f"{site}/{edition}search.html?q=softmax")
    results = page.locator("#search-results ul li")
    results.first.wait_for()
    assert missing(page) == {}
    # They come one after the other.
    expect(page.get_by_text("搜索完成" if edition else "Search finished")).to_be_visible()
    # Of the API: found by name, without a text.
    names = results.filter(has_text=re.compile(r"[(（]Python "))
    texts = page.locator("#search-results ul li p.context")
    expect(texts).to_have_count(results.count() - names.count())
    results.locator("a").first.click()
    page.locator("span.highlighted").first.wait_for(state="attached")
    assert missing(page) == {}


def test_a_rule_that_is_left_out_is_missed(open_page, site):
    """The tests above can fail: here an element comes that no page has."""
    page = open_page(f"{site}/book/about.html")
    page.evaluate("document.querySelector('article').innerHTML += '<div class=\"accordion\">'")
    rules = missing(page)["pydata-sphinx-theme.css"]
    assert rules
    assert all("accordion" in rule for rule in rules)


def test_no_line_is_asked_to_be_pretty():
    """WebKit dies of `text-wrap: pretty` on some texts: bugs.webkit.org 302553, 306377."""
    sheets = [*(ROOT / "book").rglob("*.css"), *(ROOT / "attn_core").rglob("*.css")]
    assert len(sheets) > 5
    assert [sheet.name for sheet in sheets if "pretty" in sheet.read_text(encoding="utf-8")] == []
