"""Letters as large as the reader has set them: every text of an explorer grows, and it fits."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, trace
from attn_core.views import explore, script, show
from tests.explorer.models import opened

SHEETS = ("explorer", "machine", "language", "training", "diagnosis")
# The size of each text, by its place: with a class, for who reads a failure.
SIZES = """() => [...document.querySelectorAll('.ax-root, .ax-root *')]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
  .map((e) => [`${e.tagName} ${e.className}`, parseFloat(getComputedStyle(e).fontSize)])"""
# Texts that leave their explorer, but for those in a box that scrolls.
OUTSIDE = """() => [...document.querySelectorAll('.ax-root')].flatMap((root) =>
  [...root.querySelectorAll('*')]
    .filter((e) => e.checkVisibility() && !e.closest('.ax-unseen, .ax-scroll, .ax-vectors, svg'))
    .filter((e) => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
    .map((e) => e.className))"""
X = torch.linspace(-2, 2, 6 * 6 * 4).sin().view(1, 6, 6, 4)
NAMES = [f"layer {n // 3}, head {n % 3}" for n in range(6)]
VIEWS = {
    "a number": lambda: explore(trace(X, X, X, keep=causal()), name="one", select=(4, 2)),
    "all controls": lambda: explore(trace(X, X, X), head_names=NAMES, name="all"),
    "heads": lambda: explore(trace(X, X, X), head_names=NAMES, show=("heads", "lines"), name="h"),
    "printed": lambda: show(trace(X, X, X)),
    "model": opened,
}


@pytest.mark.parametrize("sheet", SHEETS)
def test_no_sheet_sets_letters_in_pixels(sheet):
    text = (script.BUILT.parent / f"{sheet}.css").read_text(encoding="utf-8")
    assert re.findall(r"font(?:-size)?: (?:\d+ )?[\d.]+px", text) == []


@pytest.mark.parametrize("name", VIEWS)
def test_every_text_is_twice_as_large_and_fits(bare, name):
    page = bare.open(VIEWS[name](), script="classic")
    expect(page.locator(".ax-root").first).to_be_visible()
    if name == "all controls":
        page.get_by_role("button", name="all controls").click()
        page.get_by_role("button", name="lines", exact=True).click()
    if name in ("all controls", "heads"):
        expect(page.locator(".ax-heads > .ax-hint")).to_contain_text("All 6 heads")
    before = page.evaluate(SIZES)
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    after = page.evaluate(SIZES)
    assert len(before) > 10
    assert [(look, 2 * size) for look, size in before] == [tuple(each) for each in after]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate(OUTSIDE) == []


def test_a_smaller_root_makes_no_letter_smaller(bare):
    """As Bootstrap's ten pixels around a notebook."""
    page = bare.open(VIEWS["a number"]())
    expect(page.locator(".ax-root")).to_be_visible()
    before = page.evaluate(SIZES)
    page.evaluate("() => { document.documentElement.style.fontSize = '10px'; }")
    assert page.evaluate(SIZES) == before


def test_the_tokens_of_a_map_have_room_at_twice_the_size(bare):
    x = torch.linspace(-2, 2, 60 * 4).sin().view(1, 1, 60, 4)
    page = bare.open(explore(trace(x, x, x), name="long"), script="classic")
    canvas = page.locator("canvas.ax-canvas")
    expect(canvas).to_be_visible()
    expect(canvas).to_have_css("font-size", "12px")
    before = canvas.evaluate("(canvas) => canvas.height")
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    expect(canvas).to_have_css("font-size", "24px")
    # Its place is narrower now, so it is measured again.
    page.wait_for_function(f"() => document.querySelector('canvas').height === {before + 62}")
