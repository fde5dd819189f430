"""Pages whose reader has set letters twice as large in the browser, on a screen of usual width."""

import pytest
from playwright.sync_api import expect

from machine.browser import ARGUMENTS, present
from tests.patience import PATIENCE, TO_START

pytestmark = pytest.mark.gate

LARGE = "--blink-settings=defaultFontSize=32"
KINDS = ":is(attention-explorer, attention-training, language-model)"
PAGES = ["book/index.html", "book/language_model.html", "chapters/03_self_attention.html",
         "chapters/13_learning.html", "zh/chapters/03_self_attention.html"]  # fmt: skip


@pytest.fixture(scope="module")
def large(playwright):
    browser = playwright.chromium.launch(
        executable_path=present(), args=[*ARGUMENTS, LARGE], timeout=TO_START * 1000
    )
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    browser.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_its_width_and_its_text_most_of_it(large, site, name):
    large.goto(f"{site}/{name}")
    article = large.locator(".bd-article")
    assert article.evaluate("(e) => getComputedStyle(e).fontSize") == f"{32 * 1.06:g}px"
    assert large.evaluate("document.documentElement.scrollWidth") <= 1280
    assert article.bounding_box()["width"] > 640
    large.locator(f"{KINDS}:not(details:not([open]) *)").first.evaluate("e => e.scrollIntoView()")
    explorer = large.locator(".ax-root").first
    expect(explorer).to_have_css("font-size", "30px")


def test_the_list_of_sections_opens_by_its_button(large, site):
    large.goto(f"{site}/chapters/03_self_attention.html")
    sections = large.get_by_role("link", name="Three questions first")
    expect(sections).to_be_hidden()
    large.locator(".bd-header-article .secondary-toggle").click()
    expect(sections).to_be_in_viewport(ratio=1)
    large.keyboard.press("Escape")
    expect(sections).to_be_hidden()
