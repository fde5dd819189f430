"""What is around each page: the bar above, the contents at both sides, the menus, the foot."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.site.conftest import STILL

pytestmark = pytest.mark.gate

SIZES = [(320, 640), (390, 760), (768, 900), (1024, 800), (1400, 900), (1920, 1000)]
# A button shows its name while it has the focus, over what is beside it.
NO_NAMES = ".tooltip { display: none !important; }"
# What opens a menu, and what it opens.
MENUS = {
    ".primary-toggle": "#pst-primary-sidebar-modal",
    ".secondary-toggle": "#pst-secondary-sidebar-modal",
    ".search-button__button": "#pst-search-dialog",
}
FRAME = """.bd-header-article, .bd-sidebar-primary, .bd-sidebar-secondary, .prev-next-footer,
  .bd-footer-content"""
# Each part of the frame (of an open menu alone, where there is one) that is not within its region,
# or that a reader cannot point at near each edge: it is cut off, covered, or outside the window.
HIDDEN_PARTS = """(frame) => {
  const canPoint = (part, { left, right, top, bottom }) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return [[x, y], [left + 2, y], [right - 2, y], [x, top + 2], [x, bottom - 2]]
      .every((point) => part.contains(document.elementFromPoint(...point)));
  };
  const isWithin = (region, { left, right, top, bottom }) => {
    const around = region.getBoundingClientRect();
    return left >= around.left - 1 && right <= around.right + 1
      && top >= around.top - 1 && bottom <= around.bottom + 1;
  };
  const menu = document.querySelector("dialog[open]");
  const hidden = [];
  for (const region of menu ? [menu] : document.querySelectorAll(frame)) {
    for (const part of region.querySelectorAll("a, button, input, p, kbd")) {
      if (!part.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      part.scrollIntoView({ block: "nearest" });
      const boxes = Array.from(part.getClientRects());
      if (!boxes.every((box) => isWithin(region, box) && canPoint(part, box))) {
        hidden.push(`${region.className || region.id}: ${part.outerHTML.slice(0, 90)}`);
      }
    }
  }
  return hidden;
}"""


@pytest.mark.parametrize(
    "name",
    ["book/index.html", "chapters/03_self_attention.html", "search.html?q=lse", "genindex.html"],
)
def test_nothing_of_the_frame_is_cut_off_or_covered(open_page, site, edition, name):
    page = open_page(f"{site}/{edition}{name}")
    page.add_style_tag(content=STILL + NO_NAMES)
    hidden = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        hidden[width] = page.evaluate(HIDDEN_PARTS, FRAME)
        for button, menu in MENUS.items():
            page.evaluate("scrollTo(0, 0)")
            toggle = page.locator(f".bd-header-article {button}")
            if not toggle.count() or not toggle.is_visible():
                continue
            toggle.click()
            if not page.locator(menu).is_visible():  # it hides the contents that have room
                toggle.click()
                continue
            hidden[width, menu] = page.evaluate(HIDDEN_PARTS, FRAME)
            page.keyboard.press("Escape")
            page.locator(menu).wait_for(state="hidden")
    assert {size: parts for size, parts in hidden.items() if parts} == {}


# What of the bar is under the button that leads to the top; null if the button is not there.
UNDER_TO_TOP = """() => {
  const button = document.querySelector("#pst-back-to-top");
  if (!button?.checkVisibility()) return null;
  const box = button.getBoundingClientRect();
  const bar = document.querySelector(".bd-header-article").getBoundingClientRect();
  const parts = document.querySelectorAll(".bd-header-article :is(a, button)");
  const over = [...parts].filter((part) => {
    const { left, right } = part.getBoundingClientRect();
    return left < box.right && right > box.left;
  }).map((part) => part.className);
  const isInside = box.left >= bar.left && box.top >= bar.top && box.bottom <= bar.bottom;
  return isInside ? over : ["what is around the bar"];
}"""

# To a place, until the page has heard of it.
SCROLL = """(place) => new Promise((heard) => {
  addEventListener("scroll", () => requestAnimationFrame(heard), { once: true });
  scrollTo(0, place);
})"""


def test_the_button_that_leads_to_the_top_covers_nothing(open_page, site, edition):
    page = open_page(f"{site}/{edition}chapters/06_masking.html")
    page.add_style_tag(content=STILL)
    seen = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for place in (3000, 2500):  # it is there once a reader turns back
            page.evaluate(SCROLL, place)
        page.wait_for_function(
            "document.querySelector('#pst-back-to-top').style.display === 'block'"
        )
        seen[width] = page.evaluate(UNDER_TO_TOP)
        page.evaluate(SCROLL, 0)
    # Where there is room for the contents beside the page, the theme leaves it out.
    assert seen == {320: [], 390: [], 768: [], 1024: [], 1400: None, 1920: None}


# Each element that has had the focus, and whether an outline shows it: around itself, what it draws
# before or after itself, or the label of a field that is not drawn.
LISTEN = """() => {
  window.stops = new Map();
  const isOutlined = (element) => [null, "::before", "::after"].some((part) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element, part);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
  });
  addEventListener("focusin", ({ target }) => {
    const { width } = target.getBoundingClientRect();
    const isDrawn = width > 2 && target.checkVisibility({ opacityProperty: true });
    const shown = isDrawn ? [target] : [target.nextElementSibling, ...(target.labels ?? [])];
    window.isAround = stops.has(target);
    if (!window.isAround) stops.set(target, shown.some((one) => one && isOutlined(one)));
  });
}"""
UNSEEN = """() => Array.from(stops).filter(([, isSeen]) => !isSeen)
  .map(([stop]) => stop.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(
    "name", ["book/index.html", "chapters/03_self_attention.html", "search.html?q=lse"]
)
def test_the_focus_is_seen_in_forced_colours(open_page, site, name):
    page = open_page(f"{site}/{name}", forced_colors="active")
    page.add_style_tag(content=STILL)
    page.evaluate(LISTEN)
    while not page.evaluate("window.isAround"):
        for _ in range(20):
            page.keyboard.press("Tab")
    assert page.evaluate("stops.size") > 30
    assert page.evaluate(UNSEEN) == []


def test_the_current_page_is_marked_in_forced_colours(open_page, site):
    """By a bar at its left: asked of the picture, since a style need not be drawn."""
    page = open_page(f"{site}/chapters/03_self_attention.html", forced_colors="active")
    current, other = (
        Image.open(io.BytesIO(page.locator(f"nav.bd-links a[href='{place}']").screenshot()))
        .convert("RGB")
        .crop((0, 0, 3, 20))
        .getcolors()
        for place in ("#", "04_by_hand.html")
    )
    assert len(other) == 1
    assert {colour for _, colour in current} != {colour for _, colour in other}


def test_code_that_goes_on_says_so_in_forced_colours(open_page, site):
    page = open_page(f"{site}/chapters/03_self_attention.html", forced_colors="active")
    expect(page.locator("article pre").first).to_have_css(
        "background-image", re.compile("gradient")
    )


MARKED = "[...document.querySelectorAll('#pst-page-toc-nav .active')].map((link) => link.hash)"


def test_a_section_of_many_screens_is_marked_in_the_contents(open_page, site):
    page = open_page(f"{site}/chapters/13_learning.html", viewport={"width": 1280, "height": 800})
    section = page.locator("section#what-comes-back-to-two-words")
    section.evaluate("(it) => scrollTo(0, it.getBoundingClientRect().top + scrollY + 400)")
    page.wait_for_function(f"{MARKED}.includes('#what-comes-back-to-two-words')")


# The theme keeps the place of the list from one page to the next, which is far from it in the list.
FAR, NEAR = "book/references.html", "chapters/02_three_stages.html"
CURRENT = "nav.bd-links .current > a"


def test_the_list_of_pages_shows_the_one_that_is_open(open_page, site, edition):
    page = open_page(f"{site}/{edition}{NEAR}", viewport={"width": 1280, "height": 600})
    for name in (FAR, NEAR):
        page.goto(f"{site}/{edition}{name}")
        expect(page.locator(CURRENT)).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto(f"{site}/{edition}{FAR}")
    page.locator(".bd-header-article .primary-toggle").click()
    expect(page.locator(CURRENT)).to_be_in_viewport(ratio=1)


def test_the_contents_go_along_with_the_reader(open_page, site):
    page = open_page(f"{site}/chapters/14_mistakes.html", viewport={"width": 1280, "height": 600})
    for name in ("no-warm-up", "no-mask"):
        link = page.locator(f"#pst-page-toc-nav a[href='#{name}']")
        section = page.locator(f"section#{name}")
        section.evaluate("(it) => scrollTo(0, it.getBoundingClientRect().top + scrollY)")
        expect(link).to_have_class(re.compile("active"))
        expect(link).to_be_in_viewport(ratio=1)


def test_controls_are_shaped_again_with_the_page(open_page, site):
    """Where only the book's own font has Chinese characters, they would keep their boxes."""
    page = open_page(f"{site}/zh/book/index.html")
    features = "(it) => getComputedStyle(it).fontFeatureSettings"
    page.wait_for_function(f"({features})(document.body) === '\"kern\"'")
    button = page.locator("button:has-text('搜索')").first
    assert button.evaluate(features) == '"kern"'
