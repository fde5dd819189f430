"""A short way by the Tab key: to the first figure, from figure to figure, past the copy buttons."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.gate

STOPS = """() => [...document.querySelectorAll("button.copybtn")].map((button) => [
  button.closest("section").id, button.tabIndex])"""
FIGURE = "document.activeElement.closest('attention-explorer')?.getAttribute('name')"


SAID = {
    "": {"skip": "Skip to the first figure", "next": "Next figure"},
    "zh/": {"skip": "跳到第一幅图", "next": "下一幅图"},
}


@pytest.fixture
def chapter(open_page, site, edition):
    page = open_page(f"{site}/{edition}chapters/03_self_attention.html")
    page.wait_for_function(
        "document.querySelectorAll('button.copybtn[aria-description]').length > 5"
    )
    return page


def test_the_first_figure_is_a_few_tabs_away(chapter, edition):
    names = chapter.eval_on_selector_all(
        "attention-explorer", "all => all.map((e) => e.getAttribute('name'))"
    )
    for _ in range(2):
        chapter.keyboard.press("Tab")
    expect(chapter.get_by_role("link", name=SAID[edition]["skip"])).to_be_focused()
    chapter.keyboard.press("Enter")
    chapter.wait_for_function(f"{FIGURE} === '{names[0]}'")
    expect(chapter.locator("attention-explorer .ax-root").first).to_be_in_viewport()
    # And from there to the next, wherever that stands.
    expect(chapter.get_by_role("button", name=SAID[edition]["next"]).first).to_be_focused()
    chapter.keyboard.press("Enter")
    chapter.wait_for_function(f"{FIGURE} === '{names[1]}'")
    chapter.keyboard.press("Tab")
    assert chapter.evaluate("document.activeElement.closest('.ax-root') !== null")


OUTLINE = """() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return `${outlineStyle} ${outlineWidth}`; }"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_frame_of_a_page_shows_where_the_keyboard_is(open_page, site, theme):
    page = open_page(f"{site}/book/index.html", color_scheme=theme)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    # In the colours of the frame, not in those of a warning; the theme's own fade in.
    ground = page.locator(".search-button-field").evaluate(
        """async (field) => {
          await Promise.all(document.getAnimations().map((one) => one.finished));
          return getComputedStyle(field).backgroundColor;
        }"""
    )
    expect(page.locator(".skip-link").first).to_have_css("background-color", ground)
    for name in ("Search", "Toggle primary sidebar", "Color mode"):
        page.get_by_role("button", name=name).first.focus()
        assert page.evaluate(OUTLINE) == "solid 3px", name


def test_the_way_to_the_language_model_ends_at_what_can_be_pressed(open_page, site):
    page = open_page(f"{site}/book/language_model.html")
    load = page.locator(".lm-load")
    expect(load).to_be_visible()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(load).to_be_focused()


def test_the_copy_buttons_of_a_section_are_one_stop(chapter):
    stops = chapter.evaluate(STOPS)
    sections = Counter(section for section, _ in stops)
    assert len(stops) > 20
    assert sorted(section for section, index in stops if index == 0) == sorted(sections)
    # The arrow keys lead to the others, and Tab comes back to where they led.
    section = next(name for name, count in sections.items() if count > 1)
    buttons = chapter.locator("button.copybtn").all()
    first, second, *_ = (buttons[n] for n, (name, _) in enumerate(stops) if name == section)
    first.focus()
    chapter.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    chapter.keyboard.press("Tab")
    chapter.keyboard.press("Shift+Tab")
    expect(second).to_be_focused()
    chapter.keyboard.press("ArrowUp")
    expect(first).to_be_focused()
