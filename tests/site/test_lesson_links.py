"""A lesson is a link: those that the book gives open what they say; an explorer stands alone."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote_plus, urlsplit

import pytest
from playwright.sync_api import expect

from tests.conftest import HTML, ROOT

pytestmark = pytest.mark.gate

PAGE = (ROOT / "book" / "lesson_links.md").read_text(encoding="utf-8")
WHOLE = "chapters/10_whole_model.html"
INTO_THE_MACHINE = [
    unescape(link)
    for link in re.findall(
        r'href=\\"(#x-machine[^"]+)\\"', (ROOT / "chapters/10_whole_model.ipynb").read_text("utf-8")
    )
]
LINKS = [link.replace("&amp;", "&") for link in re.findall(r'<a href="\.\./([^"]+)"', PAGE)]


@pytest.mark.parametrize("link", LINKS)
def test_a_given_link_opens_its_state(open_page, site, link):
    page = open_page(f"{site}/{link}")
    name, _, query = urlsplit(link).fragment.partition("?")
    root = page.locator(f'attention-explorer[name="{name[2:]}"] .ax-root')
    expect(root).to_be_visible()
    wanted = dict(part.split("=") for part in query.split("&"))
    expect(root.locator(".ax-stage input:checked")).to_have_value(wanted["stage"])
    expect(root.locator(".ax-notice").first).to_be_empty()
    if "select" in wanted:
        i, j = wanted["select"].split(",")
        expect(root.locator(f'[data-row="{i}"][data-col="{j}"]').first).to_have_attribute(
            "aria-selected", "true"
        )
    if "compare" in wanted:
        assert root.locator(".ax-grid").count() == 2


@pytest.mark.parametrize("link", INTO_THE_MACHINE)
def test_a_chapters_link_opens_its_state_of_the_machine(open_page, site, link):
    page = open_page(f"{site}/{WHOLE}{link}")
    root = page.locator('attention-model[name="machine"] .am-root')
    expect(root).to_be_in_viewport()
    wanted = dict(part.split("=") for part in link.partition("?")[2].split("&"))
    expect(root.locator("> .ax-notice")).to_be_empty()
    if "say" in wanted:
        expect(root.get_by_label("your sentence")).to_have_value(unquote_plus(wanted["say"]))
    if "at" in wanted:
        pressed = root.locator('.am-station[aria-pressed="true"]')
        expect(pressed).to_have_attribute("data-step", wanted["at"])
    if "select" in wanted:
        row, column = wanted["select"].split(",")[-2:]
        chosen = root.locator(f'.am-panel [data-row="{row}"][data-col="{column}"]').first
        expect(chosen).to_have_attribute("aria-selected", "true")
    expect(root.locator(".am-offs li")).to_have_count(1 if "off" in wanted else 0)


def test_there_are_links_into_the_machine():
    assert len(INTO_THE_MACHINE) > 4


@pytest.mark.parametrize("how", ["http", "file"])
def test_an_embedded_explorer_stands_alone(open_page, site, edition, how):
    page = f"{edition}chapters/03_self_attention.html"
    address = f"{site}/{page}" if how == "http" else (HTML / page).as_uri()
    alone = open_page(f"{address}?embed=journey#x-journey?stage=scores&select=1,0")
    root = alone.locator('attention-explorer[name="journey"] .ax-root')
    expect(root).to_be_visible()
    expect(root.locator(".ax-sentence")).to_contain_text(
        "的得分是 0.9544" if edition else "have the score 0.9544"
    )
    assert not alone.locator("h1").first.is_visible()
    assert alone.locator(".ax-root:visible").count() == 1
    back = alone.get_by_role("link", name="自注意力" if edition else "Self-attention")
    assert urlsplit(back.get_attribute("href")).fragment == "x-journey"
