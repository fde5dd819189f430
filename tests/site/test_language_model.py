"""The page with the language model: four texts at once, the model after a press."""

import pytest
from playwright.sync_api import expect

from tests.conftest import HTML

PAGE = "book/language_model.html"
READ = ".lm-next:not(.lm-stale) .lm-choice"


@pytest.fixture
def texts(site, open_page):
    """The page before the model is loaded."""
    page = open_page(f"{site}/{PAGE}", viewport={"width": 1280, "height": 900})
    expect(page.locator(READ)).to_have_count(10)
    return page


def line_of(page):
    return page.locator(".lm-arithmetic .am-line")


def test_a_text_is_open_before_the_model_is_loaded(texts):
    expect(texts.locator(".lm-piece").first).to_have_text("␣Paris")
    texts.locator(".lm-sheet button").nth(16 * 9).click()
    texts.locator("[data-row='5'][data-col='4']").click()
    expect(line_of(texts)).to_contain_text("weights[5, 4] = exp(")
    for name in ("masked", "scaled", "scores"):
        texts.locator(".lm-arithmetic .am-opens").first.click()
        expect(line_of(texts)).to_contain_text(f"{name}[5, 4] = ")
    texts.locator(".lm-example").last.click()
    expect(texts.locator(".lm-piece").first).to_have_text("ley")
    texts.locator(".lm-root select").first.select_option("induction")
    best = texts.locator(".lm-sheet button").first
    expect(best).to_have_attribute("aria-label", "layer 17, head 4, induction 0.77")


def test_it_opens_from_a_folder(open_page):
    page = open_page((HTML / PAGE).as_uri())
    expect(page.locator(".lm-said[role]")).to_contain_text("Serve the book with “make serve”")
    expect(page.locator(".lm-piece").first).to_have_text("␣Paris")


def test_no_word_can_be_written_before_the_model_is_there(texts):
    expect(texts.locator(".lm-next .ax-label")).to_have_text("What may come next, and its chance.")
    expect(texts.locator(".lm-choice").first).to_be_disabled()


@pytest.mark.trained_model
def test_the_model_reads_and_a_head_takes_paris_away(texts):
    texts.locator(".lm-load").click()
    expect(texts.locator(".lm-said[role]")).to_contain_text("All 97 MB are here")
    texts.locator(".lm-input").fill("The capital of France is")
    expect(texts.locator(".lm-token")).to_have_count(5)
    expect(texts.locator(READ).first).to_contain_text("␣Paris")
    expect(texts.locator(".lm-chance").first).to_have_text("77 %")
    texts.locator(".am-switch", has_text="head 4 of layer 23").click()
    expect(texts.locator(".lm-chance").first).to_contain_text("was 77 %")
    expect(texts.locator(".lm-chance").first).to_contain_text("14 %")
    texts.locator("[data-row='4'][data-col='3']").click()
    expect(line_of(texts)).to_contain_text("layers.23.attention.weights[4, 4, 3] = exp(")
    expect(line_of(texts)).to_contain_text("= 0.9033")
