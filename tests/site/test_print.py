"""The pages on paper: explorers as their stills, folds open, nothing cut, Chinese with a font."""

from __future__ import annotations

import re

import pytest

from tests.site.conftest import ENGLISH_FIRST

pytestmark = pytest.mark.gate

PAPER = {"width": 718, "height": 1000}  # A4 between its margins, in CSS pixels
CHAPTERS = ("02_three_stages", "06_masking", "08_multi_head", "10_whole_model", "11_cost")


@pytest.fixture
def paper(open_page, site):
    """paper(chapter) gives the page as it is printed."""

    def paper(chapter, edition="", **options):
        page = open_page(f"{site}/{edition}chapters/{chapter}.html", viewport=PAPER, **options)
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        return page

    return paper


@ENGLISH_FIRST
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_explorers_are_stills(paper, chapter, edition):
    page = paper(chapter, edition)
    page.pdf()  # for which the browser loads them
    explorers = page.locator(
        ":is(attention-explorer, attention-model, attention-training):has(+ .ax-still)"
    )
    stills = page.locator(".ax-still")
    assert explorers.count() == stills.count() > 0
    for n in range(stills.count()):
        assert not explorers.nth(n).is_visible()
        assert stills.nth(n).is_visible()
        assert stills.nth(n).evaluate("image => image.complete && image.naturalWidth") > 100
        is_chinese = stills.nth(n).get_attribute("alt").endswith("。")
        assert is_chinese == bool(edition)


def test_pictures_are_there_that_no_reader_has_come_near(paper):
    page = paper("07_dropout")
    pictures = page.locator(".cell_output img")
    are_there = "all => all.map((image) => image.complete && image.naturalWidth > 100)"
    assert False in pictures.evaluate_all(are_there)
    page.pdf()
    assert set(pictures.evaluate_all(are_there)) == {True}


def test_on_a_screen_stills_are_hidden(open_page, site):
    page = open_page(f"{site}/chapters/{CHAPTERS[0]}.html")
    assert page.locator("attention-explorer").first.is_visible()
    assert not page.locator(".ax-still").first.is_visible()


WEBKIT = "Object.defineProperty(navigator, 'vendor', { value: 'Apple Computer, Inc.' })"


@pytest.mark.parametrize("how", ["a browser that waits", "WebKit", "scripts off"])
def test_who_only_reads_loads_no_still(browser, site, how):
    """WebKit does not wait for a picture when it prints; without scripts browsers load them all."""
    context = browser.new_context(java_script_enabled=how != "scripts off")
    if how == "WebKit":
        context.add_init_script(WEBKIT)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append("/stills/" in request.url))
    page.goto(f"{site}/chapters/{CHAPTERS[0]}.html", wait_until="load")
    if how == "a browser that waits":
        assert not any(asked)
    elif not any(asked):
        page.wait_for_event("request", lambda request: "/stills/" in request.url)
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_folds_are_open_on_paper_and_closed_again(paper, scripts):
    if scripts:
        page = paper(CHAPTERS[0])
        folds = page.locator(".bd-article details:not(.above-input, .ax-root *)")
        assert (
            folds.count() == page.locator(".bd-article details[open]:not(.ax-root *)").count() > 3
        )
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".bd-article details[open]:not(.ax-root *)").count() == 0
    else:
        page = paper(CHAPTERS[0], java_script_enabled=False)
    page.emulate_media(media="print")
    answer = page.locator(".bd-article details:not(.hide) > p").first
    assert answer.bounding_box()["height"] > 10


def test_a_fold_that_paper_opens_does_not_fade_in(paper):
    """What fades in is printed before it is seen."""
    page = paper("04_by_hand")
    insides = page.locator(".bd-article details.hide[open] > summary ~ *")
    assert insides.count() > 0
    names = insides.evaluate_all("all => all.map((one) => getComputedStyle(one).animationName)")
    assert set(names) == {"none"}


def test_the_worksheet_is_a_sheet_to_fill_in_and_one_to_compare(open_page, site, edition):
    page = open_page(f"{site}/{edition}book/worksheet_by_hand.html")
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert len(pages) == 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_line_is_cut(paper, chapter, edition):
    page = paper(chapter, edition)
    cut = page.evaluate(
        """[...document.querySelectorAll(".bd-article :is(pre, .cell_output, table, .formula)")]
          .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
          .filter((box) => getComputedStyle(box).overflowX !== "visible" || box.matches("pre"))
          .map((box) => box.textContent.trim().slice(0, 60))"""
    )
    assert cut == []


def test_a_dark_page_is_printed_with_the_light_colours(paper):
    page = paper(CHAPTERS[0], color_scheme="dark")
    ink = "getComputedStyle(document.querySelector('.bd-article p')).color"
    assert page.evaluate(ink) == "rgb(28, 27, 34)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_page_shows_chinese_by_a_font_of_its_own(open_page, site):
    """The font of the whole book, 15 times as large, is for what explorers say."""
    page = open_page(f"{site}/chapters/{CHAPTERS[0]}.html")
    page.evaluate("document.querySelector('h1').style.fontFamily = 'Book Han'")
    page.evaluate("document.querySelector('h1').textContent = '注意力'")
    page.wait_for_function("document.fonts.ready.then(() => document.fonts.status === 'loaded')")
    asked = page.evaluate("performance.getEntriesByType('resource').map((file) => file.name)")
    assert any("/_static/han/" in name for name in asked)
    assert not any("noto-serif-sc" in name for name in asked)
