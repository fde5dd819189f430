"""Explorers whose data are too large for a page read them from a file beside it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from publishing.site.data_beside import MOST
from tests.conftest import HTML

pytestmark = pytest.mark.gate

PAGE = "chapters/11_cost.html"
LARGE = "attention-explorer[name=twelve-habits]"


def test_two_thousand_words_with_twelve_heads_from_a_folder(open_page):
    """Over http, test_weight.py opens them."""
    page = open_page((HTML / PAGE).as_uri())
    page.locator(LARGE).scroll_into_view_if_needed()
    root = page.locator(f"{LARGE} .ax-root")
    expect(root).to_be_visible()
    expect(root.locator("canvas.ax-canvas")).to_be_visible()
    expect(root.locator(".ax-sentence")).to_contain_text("gives")


def test_large_data_are_under_five_megabytes_and_in_no_page():
    named = re.findall(r'payload="([\w-]+)"', (HTML / PAGE).read_text(encoding="utf-8"))
    assert "twelve-habits" in named
    files = {path.stem: path for path in (HTML / "_static" / "payloads").glob("*.js")}
    assert set(named) <= set(files)
    for name in named:
        assert MOST < files[name].stat().st_size < 5_000_000
    assert (HTML / PAGE).stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("page", "needed"),
    [
        ("book/index.html", ["explorer", "explorer-prompts", "bootstrap"]),
        (
            "chapters/10_whole_model.html",
            [
                "explorer",
                "explorer-beside",
                "10_whole_model-machine",
                "explorer-model",
                "bootstrap",
            ],
        ),
    ],
)
def test_a_model_at_the_top_of_a_page_is_asked_for_once_and_before_the_theme_runs(
    open_page, page, needed
):
    opened = open_page((HTML / page).as_uri())
    expect(opened.locator(".ax-prompts, .am-root").first).to_be_visible()
    scripts = opened.evaluate("() => [...document.scripts].map((each) => each.src)")
    names = [re.sub(r"^.*/|\.js.*$", "", source) for source in scripts]
    assert [name for name in names if name in needed] == needed
    assert "explorer-model" not in (HTML / PAGE).read_text(encoding="utf-8")
