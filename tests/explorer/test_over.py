"""Lines of several heads over one another, each in its colour."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import trace
from attn_core.views import explore
from tests.attn_core.reference import drawn
from tests.explorer.conftest import faults

WORDS = list("abcde")
LAYERS = tuple(torch.softmax(3 * drawn(n, 1, 10, 5, 5), -1).float() for n in range(2))
WEIGHTS = torch.cat(LAYERS, 1)[0].double()


@pytest.fixture
def page(bare):
    view = explore(LAYERS, tokens=WORDS, name="over")
    return bare.open(view, fragment="#x-over?lines=1&head=12", script="classic")


def chip(page, head):
    return page.locator(f'.ax-over button[data-head="{head}"]')


def lines(page, look=""):
    return page.locator(f".ax-between g:not([style*=none]) line{look}")


def count(head, least):
    return int((WEIGHTS[head] >= least).sum())


def test_the_heads_of_a_layer_are_laid_over_one_another(page):
    assert page.locator(".ax-over button").all_inner_texts() == [*map(str, range(10)), "all"]
    expect(lines(page)).to_have_count(count(12, 0.01))
    chip(page, 13).click()
    expect(page).to_have_url(re.compile(r"over=12,13$"))
    for head, look in ((12, ".ax-over-2:not(.ax-dashed)"), (13, ".ax-over-3:not(.ax-dashed)")):
        expect(lines(page, look)).to_have_count(count(head, 0.02))
    chip(page, 18).click()
    expect(lines(page, ".ax-over-0.ax-dashed")).to_have_count(count(18, 0.02))
    colours = {
        lines(page, look).first.evaluate("line => getComputedStyle(line).stroke")
        for look in (".ax-over-2", ".ax-over-3", ".ax-over-0")
    }
    assert len(colours) == 3
    assert faults(page, ".ax-root") == []


def test_a_token_has_the_lines_of_all_and_the_mean_of_their_weights(page):
    chip(page, 13).click()
    page.locator(".ax-lines-token.ax-q").nth(3).hover()
    mean = (WEIGHTS[12] + WEIGHTS[13])[3] / 2
    shown = page.locator(".ax-lines-token.ax-k span").all_inner_texts()
    assert shown == [f"{x:.2f}" for x in mean.tolist()]
    expect(lines(page)).to_have_count(10)
    said = page.locator(".ax-lines p").last
    expect(said).to_contain_text("The numbers are the mean of 2 heads.")


def test_a_double_click_shows_one_alone_and_a_click_takes_one_away(page):
    page.locator(".ax-over [data-all]").click()
    expect(page.locator(".ax-over [aria-pressed=true]")).to_have_count(11)
    chip(page, 12).click()
    expect(page.locator("select[aria-label=head]")).to_have_value("10")
    expect(lines(page, ".ax-over-2:not(.ax-dashed)")).to_have_count(0)
    chip(page, 14).dblclick()
    expect(page.locator("select[aria-label=head]")).to_have_value("14")
    expect(lines(page)).to_have_count(count(14, 0.01))
    chip(page, 15).click()
    chip(page, 16).focus()
    page.keyboard.press("Shift+Enter")
    expect(page.locator("select[aria-label=head]")).to_have_value("16")
    expect(lines(page)).to_have_count(count(16, 0.01))
    chip(page, 16).click()
    expect(chip(page, 16)).to_have_attribute("aria-pressed", "true")


def test_another_layer_has_its_own(page):
    chip(page, 13).click()
    page.get_by_role("gridcell", name="layer 0, head 4").click()
    assert chip(page, 4).get_attribute("aria-pressed") == "true"
    expect(page.locator(".ax-over [aria-pressed=true]")).to_have_count(1)
    expect(lines(page)).to_have_count(count(4, 0.01))


def test_a_link_opens_them_and_refuses_others(bare):
    view = explore(LAYERS, tokens=WORDS, name="over")
    page = bare.open(view, fragment="#x-over?lines=1&over=0,7,99", script="classic")
    expect(page.locator(".ax-notice")).to_contain_text("over must be a whole number below 20")
    expect(page.locator(".ax-over [aria-pressed=true]")).to_have_count(2)


def test_one_head_or_a_difference_has_no_such_choice(bare):
    x, y = (drawn(n, 5, 4).float() for n in (1, 2))
    one = explore(trace(x, x, x), name="one", show=["lines"])
    page = bare.open(one, fragment="#x-one?lines=1", script="classic")
    expect(page.locator(".ax-between line").first).to_be_attached()
    expect(page.locator(".ax-over")).to_be_hidden()
    x, y = (drawn(n, 2, 5, 4).float()[None] for n in (1, 2))
    two = explore(trace(x, x, x), other=trace(y, y, y), name="two", show=["lines"])
    page = bare.open(two, fragment="#x-two?lines=1&run=difference", script="classic")
    expect(page.locator(".ax-between line").first).to_be_attached()
    expect(page.locator(".ax-over")).to_be_hidden()
