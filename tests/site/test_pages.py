"""The built pages in a browser: over http and from a folder, on a phone, and with scripts off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup, SoupStrainer

from tests.conftest import HTML, ROOT
from tests.site.conftest import ENGLISH_FIRST, explorers_in

# Of each chapter that a search found: its address, and the text below its link.
FOUND = """() => {
  const links = document.querySelectorAll("#search-results a[href^='chapters/'][href$='.html']");
  const texts = Array.from(links, (link) => link.parentElement.querySelector("p.context"));
  return links.length > 9 && texts.every((text) => text)
    && texts.map((text, place) => [links[place].pathname, text.textContent]);
}"""


def test_the_landing_page_opens_with_a_model(open_page, site, edition):
    page = open_page(f"{site}/{edition}index.html")
    page.wait_for_url(f"**/{edition}book/index.html")
    page.wait_for_selector("attention-explorer .ax-prompts")
    box = page.locator(".ax-prompts").bounding_box()
    assert box["y"] < 800
    assert box["height"] > 100


def test_scripts_off_leaves_numbers(open_page, site, kinds):
    """Each explorer is a table, or a printed tensor, with numbers in it that the reader sees."""
    page, seen = open_page("about:blank", java_script_enabled=False), 0
    for name in kinds:
        page.goto(f"{site}/{name}", wait_until="load")
        for explorer in page.locator("attention-explorer").all():
            numbers = explorer.locator("table, pre").first
            folded = explorer.evaluate("e => e.closest('details:not([open])') !== null")
            assert folded or numbers.is_visible(), f"{name}: an explorer that shows nothing"
            assert any(c.isdigit() for c in numbers.text_content()), f"{name}: no number"
            seen += 1
        for model in page.locator("attention-model").all():
            assert model.get_by_text("→").first.is_visible(), f"{name}: no translation"
    assert seen == explorers_in(kinds) > 0


@pytest.mark.gate
@ENGLISH_FIRST
def test_every_chapter_has_explorers(open_page, site, all_pages, edition):
    chapters = [name for name in all_pages if name.startswith(f"{edition}chapters/")]
    assert {Path(name).stem for name in chapters} == {
        path.stem for path in (ROOT / "chapters").glob("*.ipynb")
    }
    page, without = open_page("about:blank"), []
    for name in chapters:
        page.goto(f"{site}/{name}", wait_until="load")
        explorers = page.locator("attention-explorer")
        if not explorers.count():
            without.append(name)
            continue
        explorers.first.evaluate("element => element.scrollIntoView()")  # some wait for a reader
        explorers.first.locator(".ax-root").wait_for()
    assert without == []


def test_the_landing_page_leads_to_the_book_on_paper(open_page, site):
    """To the page of releases, which is there before any is, and where nobody ran `make pdf`."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    link = open_page(f"{site}/book/index.html").locator(".chapter-links a")
    assert link.get_attribute("href") == settings["repository"]["url"] + "/releases/latest"


@pytest.mark.parametrize("chapter", ["03_self_attention", "04_by_hand"])
def test_a_chapter_says_how_to_run_it(open_page, site, chapter):
    page = open_page(f"{site}/chapters/{chapter}.html")
    links = page.locator(".chapter-links a")
    colab = links.nth(0).get_attribute("href")
    assert colab.startswith("https://colab.research.google.com/github/")
    assert colab.endswith(f"/chapters/{chapter}.ipynb")
    with page.expect_download() as download:
        links.nth(1).click()
    stored = (HTML.parents[1] / "chapters" / f"{chapter}.ipynb").read_bytes()
    assert download.value.path().read_bytes() == stored


def test_the_line_about_time_breaks_only_between_its_parts(open_page, site, edition):
    page = open_page(f"{site}/{edition}chapters/06_masking.html")
    line = page.locator("article p", has=page.locator("strong"), has_text="●●○").first
    text = line.text_content()
    assert "\u00a0●●○" in text
    assert text.count("\u00a0· ") == text.count("·") == 2


def test_a_page_has_one_viewport(all_pages):
    counts = {name: (HTML / name).read_text("utf-8").count('name="viewport"') for name in all_pages}
    assert {name: count for name, count in counts.items() if count != 1} == {}


def test_every_icon_is_drawn_in_the_page(open_page, site, all_pages):
    for name in all_pages:
        assert "fa-solid fa-" not in (HTML / name).read_text(encoding="utf-8"), name
    seen = set()
    for width, scripts in ((1280, True), (1280, False), (390, True)):
        options = {"viewport": {"width": width, "height": 800}, "java_script_enabled": scripts}
        page = open_page(f"{site}/book/about.html", **options)
        icons = [icon for icon in page.locator("svg.theme-icon").all() if icon.is_visible()]
        for icon in icons:
            box = icon.bounding_box()
            assert 10 <= box["width"] <= 30
            assert 10 <= box["height"] <= 30
            drawn = icon.locator("path").bounding_box()
            assert min(drawn["width"], drawn["height"]) > 5
            seen |= set(icon.get_attribute("class").split())
    shown = {"fa-bars", "fa-list", "fa-magnifying-glass", "fa-circle-half-stroke", "fa-angle-left"}
    assert shown <= seen


def test_formulas_are_drawn_and_coloured(open_page, site):
    """Queries carry their colour inside a formula, and the font for formulas is loaded."""
    page = open_page(f"{site}/book/notation.html")
    page.wait_for_function("document.fonts.check('16px \"Book Math\"')")
    query = page.locator("math mi.query").first
    assert query.evaluate("e => getComputedStyle(e).color") == "rgb(0, 114, 178)"


def test_a_bracket_stays_with_its_formula(all_pages):
    before = re.compile(r"(<[^<>]*>)[^<>]*[(（]<math")
    tags = [tag for name in all_pages for tag in before.findall((HTML / name).read_text("utf-8"))]
    assert len(tags) > 3
    assert set(tags) == {'<span class="closed">'}


@pytest.mark.parametrize("width", [390, 1280])
def test_a_picture_has_its_shape_before_and_after_it_is_loaded(open_page, site, width):
    """It loads when a reader comes near: what stands below must not move then."""
    page = open_page(
        f"{site}/chapters/01_bottleneck.html", viewport={"width": width, "height": 800}
    )
    boxes = """all => all.map((image) => [image.clientWidth, image.clientHeight])"""
    shapes = """all => Promise.all(all.map(async (image) => {
        image.loading = "eager";
        await image.decode();
        return image.naturalWidth / image.naturalHeight;
    }))"""
    pictures = page.locator(".cell_output img:not(.ax-still)")
    before = pictures.evaluate_all(boxes)
    ratios = pictures.evaluate_all(shapes)
    assert len(ratios) >= 3
    assert pictures.evaluate_all(boxes) == before
    assert [wide / high for wide, high in before] == pytest.approx(ratios, rel=0.02)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("edition", ["", "zh/"], ids=["en", "zh"])
def test_no_line_begins_with_the_sign_that_closes_a_formula(open_page, site, edition, width):
    """Asked is where the sign is, and not how it is held there: below its formula is a new line."""
    page = open_page(
        f"{site}/{edition}chapters/01_bottleneck.html", viewport={"width": width, "height": 900}
    )
    below = """all => all.filter(formula => {
        const text = formula.nextSibling;
        if (!/^[.,;:!?)，。；：！？）、]/.test(text?.data ?? "")) return false;
        if (!formula.checkVisibility()) return false;
        const sign = document.createRange();
        sign.setStart(text, 0);
        sign.setEnd(text, 1);
        return sign.getBoundingClientRect().top >= formula.getBoundingClientRect().bottom;
    }).map(formula => formula.parentElement.textContent)"""
    assert page.locator("article .closed").count() > 10
    assert page.locator("article math").evaluate_all(below) == []


@pytest.mark.gate
def test_a_search_shows_a_sentence_with_the_word(open_page, site, edition):
    page = open_page(f"{site}/{edition}search.html?q=softmax")
    for address, excerpt in page.wait_for_function(FOUND).json_value():
        html = (HTML / address.lstrip("/")).read_text(encoding="utf-8")
        article = BeautifulSoup(html, "lxml", parse_only=SoupStrainer("article"))
        paragraphs = article.select(":is(p, li, summary, pre)")
        texts = (" ".join(paragraph.get_text().split()) for paragraph in paragraphs)
        assert "softmax" in excerpt.lower()
        assert any(excerpt.strip("… ") in text for text in texts), (address, excerpt)
