"""Every page is visited once: what it asks for, what goes wrong, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from benchmarks import visits as bench
from benchmarks.visits import CHAPTER, LANDING, weight
from tests.conftest import HTML
from tests.site.listening import Listener
from tests.site.test_drawings import DRAWN, WRONG
from tests.site.test_fonts import CHINESE, FORMULAS, HAN, LOADED, MARK, MATH, WORDS, fonts_of
from tests.site.test_styles import missing

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("visits")]

# Bytes: somewhat more than the heaviest page of each kind had when this was written.
MOST, MOST_WITH_A_MODEL = 270_000, 350_000
# The one font of all Chinese pages, which only a machine without a Chinese font asks for, and once.
FONT, MOST_OF_THE_FONT = "zh/_static/noto-serif-sc.woff2", 700_000
WITH_A_MODEL = "chapters/10_whole_model.html"  # at once; others wait for who comes near

PHONE = {"width": 390, "height": 844}
# Or a window of 1280 pixels whose reader enlarges the page four times.
SMALL_PHONE = {"width": 320, "height": 800}
# The page itself stays; code, a printout or a table that scrolls says so by a shade.
WIDE = """() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ...[...document.querySelectorAll("article pre:not(.ax-print), .pst-scrollable-table-container")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .filter((box) => getComputedStyle(box).backgroundImage === "none")
    .map(({ textContent }) => textContent.slice(0, 40)),
]"""


@dataclass
class Visit:
    asked: list[str]  # the paths that it asks for until the network rests
    faults: list[tuple]
    missing: dict[str, list[str]]  # rules of the theme's sheets that it uses and has not
    in_formulas: dict[str, bool]  # fonts, and whether they are the site's
    in_words: dict[str, bool]
    drawings: list[str]  # words of drawings that a phone cuts, or shows too small or over others
    wide: list[str]  # what needs sideways scrolling on a small phone, with all folds open


def visit(browser, site: str, name: str) -> Visit:
    context = browser.new_context()
    listener = Listener(context, lambda url: url.startswith(site))
    listener.current = name
    page = context.new_page()
    asked = bench.visit(page, f"{site}/{name}")
    rules = missing(page)
    page.evaluate(MARK, CHINESE)
    page.wait_for_function(LOADED)
    fonts = fonts_of(page, FORMULAS), fonts_of(page, WORDS)
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size(PHONE)
    drawings = page.evaluate(WRONG)
    page.set_viewport_size(SMALL_PHONE)
    made = Visit(asked, listener.faults(), rules, *fonts, drawings, page.evaluate(WIDE))
    context.close()
    return made


@pytest.fixture(scope="module")
def visits(browser, site, all_pages):
    return {name: visit(browser, site, name) for name in ["index.html", *all_pages]}


def test_no_other_host_and_no_error(visits):
    """Over http; from a folder, test_the_site_opens_from_its_zip opens pages."""
    assert [fault for visit in visits.values() for fault in visit.faults] == []


def test_every_page_is_light(visits):
    heavy = {}
    for page, visit in visits.items():
        bytes_of = {name: weight(HTML / name) for name in visit.asked if name != FONT}
        is_with_a_model = page.removeprefix("zh/") == WITH_A_MODEL
        if sum(bytes_of.values()) > (MOST_WITH_A_MODEL if is_with_a_model else MOST):
            heavy[page] = sorted(bytes_of.items(), key=lambda file: -file[1])[:5]
    assert heavy == {}
    assert {LANDING, CHAPTER, f"zh/{CHAPTER}"} <= set(visits)
    assert weight(HTML / FONT) < MOST_OF_THE_FONT


def test_a_page_asks_for_its_style_and_its_script_and_no_other(visits):
    wanted = {"_static/site.css", "_static/explorer.js", "_static/stix-two-math.woff2"}
    assert wanted | {CHAPTER} <= set(visits[CHAPTER].asked)
    assert "_static/sphinx-design.min.css" in visits[LANDING].asked
    for name in ("sphinx-design.min.css", "worksheet.css", "design-tabs.js"):
        assert f"_static/{name}" not in visits[CHAPTER].asked
    for name in ("explorer.js", "answer.js", "copybutton.js"):
        assert f"_static/{name}" in visits[CHAPTER].asked
        assert f"_static/{name}" not in visits["book/map.html"].asked
    assert "_static/worksheet.css" in visits["book/worksheet_by_hand.html"].asked


def test_every_page_has_the_rules_that_it_uses(visits):
    assert {name: visit.missing for name, visit in visits.items() if visit.missing} == {}


def test_every_formula_and_every_chinese_word_is_drawn_with_the_books_fonts(visits):
    def is_wrong(name, visit):
        of_words = {HAN: True} if name.startswith("zh/") else {}
        # Latin letters beside Chinese words come from the machine.
        ours = [font for font, is_ours in visit.in_words.items() if is_ours]
        right_words = ours == [HAN] if visit.in_words else True
        return visit.in_formulas not in ({}, MATH, MATH | of_words) or not right_words

    assert {name: visit for name, visit in visits.items() if is_wrong(name, visit)} == {}
    pages = [name for name in visits if name != "index.html"]
    formulas = [name for name in pages if "<math" in (HTML / name).read_text("utf-8")]
    assert [name for name in pages if visits[name].in_formulas] == formulas != []
    # Of the slides only the first is seen.
    assert all(visits[name].in_words for name in pages if "slides" not in name)


def test_on_a_phone_every_word_of_a_drawing_is_whole_and_alone(visits):
    assert {name: visit.drawings for name, visit in visits.items() if visit.drawings} == {}
    assert set(DRAWN) <= set(visits)


def test_a_small_phone_needs_no_sideways_scrolling(visits):
    assert {name: visit.wide for name, visit in visits.items() if visit.wide} == {}
