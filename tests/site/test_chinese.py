"""The Chinese site: page by page the English one, with its addresses, numbers and pictures."""

from __future__ import annotations

import re
from functools import cache

import pytest
from bs4 import BeautifulSoup

from tests.conftest import HTML
from tests.in_both import without_words
from translation import pages
from translation.checking import is_complete

ZH = HTML / "zh"
PAGES = [one for one in pages.docnames() if one != pages.README]
# They lead to the notebooks of the language.
OF_NOTEBOOKS = ".chapter-links a, a[href*='colab.research'], a[href*='exercises/notebooks']"


@cache
def article(page: str) -> BeautifulSoup:
    return BeautifulSoup((HTML / page).read_text(encoding="utf-8"), "html.parser")


def both(name: str) -> tuple[BeautifulSoup, BeautifulSoup]:
    return article(f"{name}.html"), article(f"zh/{name}.html")


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_the_english_ones(name):
    english, chinese = (
        [one["id"] for one in page.article.find_all(id=True)] for page in both(name)
    )
    assert chinese == english


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_the_same_places(name):
    found = []
    for page in both(name):
        own = {id(one) for one in page.select(OF_NOTEBOOKS)}
        links = [one for one in page.article.find_all("a", href=True) if id(one) not in own]
        found.append(sorted(one["href"] for one in links))
    assert found[1] == found[0]


@pytest.mark.parametrize("name", PAGES)
def test_code_outputs_and_formulas_are_the_same(name):
    for what in ("div.highlight pre", "math"):
        english, chinese = (sorted(map(str, page.article.select(what))) for page in both(name))
        assert chinese == english, what
    for what in ("attention-explorer", "attention-model", "attention-diagnosis", ".worksheet"):
        english, chinese = (
            [without_words(str(one)) for one in page.article.select(what)] for page in both(name)
        )
        assert chinese == english, what


@pytest.mark.parametrize("name", [*PAGES, "genindex", "search"])
def test_the_switch_leads_to_the_same_page(name):
    chinese = article(f"zh/{name}.html")
    (link,) = chinese.select("a.language-switch")
    assert link["lang"] == link["hreflang"] == "en"
    assert (ZH / name).parent.joinpath(link["href"]).resolve() == HTML / f"{name}.html"
    found = {one["hreflang"]: one["href"] for one in chinese.select("link[hreflang]")}
    assert set(found) == {"en", "zh-CN"}
    assert (ZH / name).parent.joinpath(found["zh-CN"]).resolve() == ZH / f"{name}.html"
    assert chinese.html["lang"] == "zh-CN"


@pytest.mark.parametrize("name", [*PAGES, "genindex", "search"])
def test_english_pages_lead_to_the_chinese_ones_when_these_are_complete(name):
    links = article(f"{name}.html").select("a.language-switch")
    assert len(links) == is_complete()
    for link in links:
        assert link["lang"] == link["hreflang"] == "zh-CN"
        assert (HTML / name).parent.joinpath(link["href"]).resolve() == ZH / f"{name}.html"


def test_the_switch_keeps_the_place_in_the_page(open_page, site):
    page = open_page(f"{site}/zh/book/warmup.html#vectors")
    page.locator("a.language-switch").click()
    page.wait_for_url(re.compile(r"/book/warmup\.html#vectors$"))
    assert "/zh/" not in page.url


def test_a_notebook_for_download_is_the_pages_own():
    for name in PAGES:
        path = ZH / "_sources" / f"{name}.ipynb"
        if name.startswith("chapters/"):
            link = article(f"zh/{name}.html").select_one(".chapter-links a[download]")
            assert (ZH / name).parent.joinpath(link["href"]).resolve() == path
            assert path.read_bytes() != (HTML / "_sources" / f"{name}.ipynb").read_bytes()


def test_chinese_words_are_found(open_page, site):
    page = open_page(f"{site}/zh/search.html?q=注意力")
    page.wait_for_selector("#search-results li a")
    found = {link.get_attribute("href") for link in page.locator("#search-results li a").all()}
    assert any("chapters/03_self_attention" in href for href in found)
