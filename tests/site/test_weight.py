"""What a first visit loads: few bytes, and nothing that waits for a reader who comes near."""

from __future__ import annotations

import re

import pytest

from benchmarks.visits import CHAPTER, LANDING, asked_for, weight
from tests.conftest import HTML

# Bytes: somewhat more than the heaviest page of each kind had when this was written.
MOST, MOST_WITH_A_MODEL = 270_000, 350_000
# The one font of all Chinese pages, which only a machine without a Chinese font asks for, and once.
FONT, MOST_OF_THE_FONT = "zh/_static/noto-serif-sc.woff2", 700_000
WITH_A_MODEL = LANDING, "chapters/10_whole_model.html"  # at once; others wait for who comes near
LARGE = "chapters/11_cost.html", "chapters/10_whole_model.html"


@pytest.fixture(scope="module")
def visits(browser, site, all_pages):
    """The files that a first visit of each page asks for."""
    return {page: asked_for(browser, f"{site}/{page}") for page in all_pages}


@pytest.mark.slow
@pytest.mark.xdist_group("visits")
def test_every_page_is_light(visits):
    heavy = {}
    for page, files in visits.items():
        bytes_of = {name: weight(HTML / name) for name in files if name != FONT}
        is_with_a_model = page.removeprefix("zh/") in WITH_A_MODEL
        if sum(bytes_of.values()) > (MOST_WITH_A_MODEL if is_with_a_model else MOST):
            heavy[page] = sorted(bytes_of.items(), key=lambda file: -file[1])[:5]
    assert heavy == {}
    assert {LANDING, CHAPTER, f"zh/{CHAPTER}"} <= set(visits)
    assert weight(HTML / FONT) < MOST_OF_THE_FONT


@pytest.mark.slow
@pytest.mark.xdist_group("visits")
def test_a_visit_asks_for_the_page_its_style_and_its_script(visits):
    """The record that the weights are made of is whole."""
    wanted = {"_static/site.css", "_static/explorer.js", "_static/stix-two-math.woff2"}
    assert wanted | {CHAPTER} <= set(visits[CHAPTER])


@pytest.mark.slow
@pytest.mark.xdist_group("visits")
def test_a_page_asks_for_no_style_or_script_that_it_has_no_use_for(visits):
    assert "_static/sphinx-design.min.css" in visits[LANDING]
    for name in ("sphinx-design.min.css", "worksheet.css", "design-tabs.js"):
        assert f"_static/{name}" not in visits[CHAPTER]
    for name in ("explorer.js", "answer.js", "copybutton.js"):
        assert f"_static/{name}" in visits[CHAPTER]
        assert f"_static/{name}" not in visits["book/map.html"]
    assert "_static/worksheet.css" in visits["book/worksheet_by_hand.html"]


@pytest.mark.parametrize("page", LARGE)
def test_large_data_wait_for_a_reader_who_comes_near(browser, open_page, site, page):
    """They stand in no page, and are read when their place is scrolled to."""
    text = (HTML / page).read_text(encoding="utf-8")
    named = re.findall(r'<attention-explorer name="[\w-]+" payload="([\w-]+)"', text)
    assert named
    asked_at_once = asked_for(browser, f"{site}/{page}")
    assert not any(f"/payloads/{name}.js" in url for name in named for url in asked_at_once)
    opened = open_page(f"{site}/{page}")
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    for name in named:
        place = opened.locator(f'attention-explorer[payload="{name}"]')
        place.evaluate("element => element.scrollIntoView()")
        place.locator(".ax-root").wait_for()
        assert any(f"/payloads/{name}.js" in url for url in asked)


def test_the_site_has_no_source_map():
    static = HTML / "_static"
    assert list(static.rglob("*.map")) == []
    for path in [*static.rglob("*.js"), *static.rglob("*.css")]:
        assert "sourceMappingURL" not in path.read_text(encoding="utf-8"), path.name
