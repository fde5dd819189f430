"""Drawings on the built pages: nothing cut, nothing over another, letters that a phone shows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.conftest import HTML

pytestmark = pytest.mark.gate

DRAWN = sorted(
    path.relative_to(HTML).as_posix()
    for folder in ("book", "chapters", "zh/book", "zh/chapters")
    for path in (HTML / folder).glob("*.html")
    if 'class="drawing' in path.read_text(encoding="utf-8")
)
# Of each drawing its words: cut, too small, or over others. test_visits.py asks it of a phone.
WRONG = """() => [...document.querySelectorAll("svg.drawing")].flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const inside = svg.getBoundingClientRect();
  const name = svg.getAttribute("aria-label").slice(0, 40);
  const shown = [...svg.querySelectorAll("text")].filter((text) => text.getClientRects().length);
  const boxes = shown.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([words, box], n) => {
    if (box.left < inside.left - 1 || box.right > inside.right + 1 || box.top < inside.top - 1
      || box.bottom > inside.bottom + 3) found.push(`${name}: "${words}" is cut`);
    const letters = parseFloat(shown[n].getAttribute("font-size")) * scale;
    if (letters < 10.95) found.push(`${name}: "${words}" is ${letters.toFixed(1)} px high`);
    for (const [others, other] of boxes.slice(n + 1)) {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      // A line's box is higher than its letters.
      if (across > 1 && down > 0.35 * box.height) found.push(`${name}: "${words}", "${others}"`);
    }
  });
  return found;
})"""


SAID = {
    "": {
        "back": "back",
        "next": "next",
        "place": "{n} of {many}",
        "step": "Step {n} of {many}. {said}",
        "lean": "They oppose.",
    },
    "zh/": {
        "back": "上一步",
        "next": "下一步",
        "place": "{n} / {many}",
        "step": "第 {n} 步，共 {many} 步。{said}",
        "lean": "两者相背。",
    },
}


def with_steps(edition: str) -> str:
    """A page that has a drawing in steps."""
    pages = (name for name in DRAWN if name.startswith("zh/") == bool(edition))
    return next(name for name in pages if "drawing steps" in (HTML / name).read_text("utf-8"))


@pytest.mark.parametrize("name", ["book/warmup.html", "chapters/01_bottleneck.html"])
def test_its_letters_are_as_large_on_a_narrow_phone(open_page, site, edition, name):
    page = open_page(f"{site}/{edition}{name}", viewport={"width": 360, "height": 640})
    assert page.evaluate(WRONG) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_colours_follow_the_page(open_page, site, scheme):
    page = open_page(f"{site}/chapters/03_self_attention.html", color_scheme=scheme)
    ink = page.locator("svg.drawing text.ink").first
    expect(ink).to_have_css(
        "fill", "rgb(27, 27, 34)" if scheme == "light" else "rgb(236, 234, 243)"
    )
    # The reader's own choice goes before the system's.
    other = "dark" if scheme == "light" else "light"
    page.evaluate("(mode) => { document.documentElement.dataset.theme = mode }", other)
    expect(ink).to_have_css(
        "fill", "rgb(236, 234, 243)" if scheme == "light" else "rgb(27, 27, 34)"
    )


def test_a_reader_leads_through_steps_and_paper_has_them_all(open_page, site, edition):
    says = SAID[edition]
    page = open_page(f"{site}/{with_steps(edition)}")
    svg = page.locator("svg.drawing.steps").first
    steps = svg.locator(".step")
    bar = svg.locator("xpath=following-sibling::*[1]")
    many = steps.count()
    expect(bar.get_by_role("status")).to_have_text(says["place"].format(n=1, many=many))
    assert [steps.nth(n).is_visible() for n in range(many)] == [True] + [False] * (many - 1)
    expect(bar.get_by_role("button", name=says["back"])).to_be_disabled()
    bar.get_by_role("button", name=says["next"]).click()
    expect(steps.nth(1)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(steps.nth(0)).to_be_visible()
    for _ in range(many):
        page.keyboard.press("ArrowRight")
    expect(bar.get_by_role("button", name=says["next"])).to_be_focused()
    expect(bar.get_by_role("status")).to_have_text(says["place"].format(n=many, many=many))
    said = steps.nth(many - 1).get_attribute("data-says")
    expect(svg).to_have_attribute("aria-label", says["step"].format(n=many, many=many, said=said))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(steps.nth(n).is_visible() for n in range(many))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not steps.nth(0).is_visible()


def test_who_wants_no_motion_has_all_steps_at_once(open_page, site):
    page = open_page(f"{site}/{with_steps('')}", reduced_motion="reduce")
    steps = page.locator("svg.drawing.steps").first.locator(".step")
    assert all(steps.nth(n).is_visible() for n in range(steps.count()))
    expect(page.locator(".drawing-steps")).to_have_count(0)


def test_arrows_are_moved_by_a_pointer_and_by_keys(open_page, site, edition):
    page = open_page(f"{site}/{edition}book/warmup.html")
    svg = page.locator("svg.drawing.movable")
    tip = svg.get_by_role("slider", name="b")
    expect(tip).to_have_attribute("aria-valuetext", "(1, 2)")
    tip.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    expect(tip).to_have_attribute("aria-valuetext", "(0, −1)")
    expect(svg.locator(".says-products")).to_have_text("= 3 · 0 + 1 · (−1)")
    expect(svg.locator(".says-product")).to_have_text("= −1")
    expect(svg.locator(".says-lean")).to_have_text(SAID[edition]["lean"])
    expect(svg).to_have_attribute("aria-label", re.compile("b = .0, −1.. a · b = .* = −1$"))
    svg.get_by_role("slider", name="a").scroll_into_view_if_needed()
    start = svg.get_by_role("slider", name="a").bounding_box()
    x, y = (start[side] + start[size] / 2 for side, size in (("x", "width"), ("y", "height")))
    step = svg.bounding_box()["width"] / 520 * 36
    page.mouse.move(x, y)
    page.mouse.down()
    # Nearer to this crossing than to any other, then far beyond the grid.
    page.mouse.move(x - 3.3 * step, y - 0.8 * step)
    expect(svg.locator(".says-0")).to_have_text("(0, 2)")
    expect(svg.locator(".arrow path").first).to_have_attribute("d", "M158,122 L158,50")
    page.mouse.move(x + 9 * step, y - 9 * step)
    expect(svg.locator(".says-0")).to_have_text("(4, 3)")
    page.mouse.up()
    page.mouse.move(x, y)
    expect(svg.locator(".says-0")).to_have_text("(4, 3)")


def test_the_code_of_a_picture_is_below_its_caption(open_page, site, edition):
    page = open_page(f"{site}/{edition}chapters/09_transformer.html")
    picture, caption, fold = page.locator("div.cell:has(> .above-input)").first.locator("> *").all()
    expect(picture.locator("svg.drawing")).to_be_visible()
    expect(caption.locator("> em").first).to_be_visible()
    expect(fold).to_have_js_property("open", False)
    expect(fold.locator("summary")).to_have_text("代码" if edition else "Code", use_inner_text=True)
