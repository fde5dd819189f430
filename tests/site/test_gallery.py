"""The gallery of mistakes on the built page: each is switched on, and seen beside the right one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from attn_core.checks import STAGES
from attn_core.mistakes import MISTAKES
from attn_core.mistakes.training import TRAINING
from publishing.translation.language import in_chinese
from tests.site.conftest import ENGLISH_FIRST

pytestmark = pytest.mark.gate

GALLERY = "chapters/14_mistakes.html"
# It has more words than the right one, so they can't stand side by side.
OF_ANOTHER_SIZE = {"heads-along-tokens"}
# What no table of one pass shows.
OF_A_LOOP = {mistake.name for mistake in TRAINING}


SAID = {
    "": {
        "captions": ("right", "with the mistake"),
        "example": "Try an example",
        "verdict": "with the upper triangle kept",
        "stages": dict(zip(STAGES, STAGES, strict=True)),
    },
    "zh/": {
        "captions": ("正确", "有错误"),
        "example": "试一个例子",
        "verdict": "错在“保留上三角”",
        "stages": dict(
            zip(STAGES, ("得分", "缩放后", "掩码后", "权重", "丢弃后", "输出"), strict=True)
        ),
    },
}


@pytest.fixture
def gallery(open_page, site, edition):
    return open_page(f"{site}/{edition}{GALLERY}")


def told(mistake, edition: str) -> str:
    english = f"{mistake.does} {mistake.symptom}"
    return in_chinese(english, "chapters/14_mistakes") if edition else mistake.does


@ENGLISH_FIRST
def test_every_mistake_is_switched_on_and_seen(gallery, edition):
    seen = set()
    for explorer in gallery.locator("attention-explorer").all():
        explorer.scroll_into_view_if_needed()
        expect(explorer.locator(".ax-root")).to_be_visible()
        select = explorer.locator('[data-control="mistake"] select')
        if not select.count():
            continue
        for name in select.locator("option").evaluate_all("all => all.map((one) => one.value)")[1:]:
            mistake = MISTAKES[name]
            select.select_option(name)
            expect(explorer.locator(".ax-said")).to_contain_text(told(mistake, edition))
            first = explorer.locator(".ax-strip .ax-differs")
            expect(first).to_have_count(1)
            if mistake.is_formula:
                expect(first).to_have_text(SAID[edition]["stages"][mistake.where])
            first.click()
            for caption in SAID[edition]["captions"]:
                expect(explorer.get_by_text(caption, exact=True)).to_be_visible()
            marked = explorer.locator(".ax-grid td.ax-differs")
            assert marked.count() >= 2, name
            assert marked.count() % 2 == 0, "a cell that differs is marked in both"
            seen.add(name)
        select.select_option("")
        expect(explorer.locator(".ax-caption").first).to_be_hidden()
    assert seen == MISTAKES.keys() - OF_ANOTHER_SIZE - OF_A_LOOP


def test_heads_that_became_tokens_do_not_see_each_other(gallery):
    explorer = gallery.locator('attention-explorer[name="along-tokens"]')
    explorer.scroll_into_view_if_needed()
    cells = explorer.locator(".ax-grid tbody td")
    expect(cells).to_have_count(36)
    zero = [cell == "0.0000" for cell in cells.all_text_contents()]
    assert zero == [i // 3 != j // 3 or j > i for i in range(6) for j in range(6)]


def test_a_link_switches_a_mistake_on(open_page, site):
    page = open_page(f"{site}/{GALLERY}#x-scale?mistake=no-scale")
    explorer = page.locator('attention-explorer[name="scale"]')
    expect(explorer.locator('[data-control="mistake"] select')).to_have_value("no-scale")
    expect(explorer).to_be_in_viewport()


def test_the_box_answers_on_the_page_and_on_no_other(gallery, open_page, site, edition):
    box = gallery.locator("attention-diagnosis")
    box.get_by_role("button", name=SAID[edition]["example"]).click()
    expect(box.locator(".ax-mistake")).to_contain_text(SAID[edition]["verdict"])
    other = open_page(f"{site}/{edition}chapters/03_self_attention.html")
    scripts = other.locator("script[src]").evaluate_all("all => all.map((one) => one.src)")
    assert not any("diagnosis.js" in script for script in scripts)
