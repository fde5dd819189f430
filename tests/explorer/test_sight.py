"""What a press changes comes into sight, and what was pressed stays there."""

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, trace
from attn_core.views import explore, show

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
# Where a box is seen: [top, bottom] on the screen, which ends at `height`.
SPAN = "(e) => { const { top, bottom } = e.getBoundingClientRect(); return [top, bottom]; }"
TO_THE_END = "(e) => scrollBy(0, e.getBoundingClientRect().bottom - innerHeight + 4)"
AT_REST = """() => new Promise((done) => {
  let [before, quiet] = [scrollY, 0];
  const look = () => {
    quiet = scrollY === before ? quiet + 1 : 0;
    before = scrollY;
    quiet > 10 ? done() : requestAnimationFrame(look);
  };
  look();
})"""


def numbers(*shape):
    return torch.linspace(-1, 1, torch.Size(shape).numel()).mul(7).sin().view(shape)


def square(length, heads=1, **how):
    q, k, v = (numbers(1, heads, length, 4) * n for n in (1, 2, 3))
    return explore(trace(q, k, v, keep=causal()), name="square", **how)


def opened(bare, view, size=PHONE, **how):
    """A page that goes on below what is shown."""
    page = bare.open(view, viewport=size, **how)
    page.evaluate("() => { document.body.style.paddingBottom = '60rem'; }")
    return page


def is_seen(page, element, least=None):
    """Whether all of it is on the screen, or so many pixels from its top."""
    page.evaluate(AT_REST)
    top, bottom = element.evaluate(SPAN)
    return top >= 0 and min(bottom, top + (least or bottom)) <= page.viewport_size["height"]


def press_at_the_end(page, element):
    """Presses what stands at the lower edge of the screen."""
    element.evaluate(TO_THE_END)
    box = element.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("length", [6, 12])
def test_the_arithmetic_of_a_number_that_is_pressed(bare, size, length):
    page = opened(bare, square(length), size)
    cell = page.locator(".ax-cell[data-col='0']").last
    press_at_the_end(page, cell)
    expect(page.locator(".ax-tree summary").first).to_be_visible()
    assert is_seen(page, page.locator(".ax-panel"))
    assert is_seen(page, cell)


def test_a_number_far_above_its_arithmetic_stays(bare):
    """As long as the sentence about it has room, too."""
    page = opened(bare, square(20), {"width": 390, "height": 800})
    cell, panel = page.locator(".ax-cell").first, page.locator(".ax-panel")
    cell.click()
    assert is_seen(page, cell)
    assert is_seen(page, panel, 60)
    assert not is_seen(page, panel)
    page.set_viewport_size({"width": 390, "height": 600})
    page.evaluate("() => { document.querySelector('.ax-scroll').style.maxHeight = 'none'; }")
    cell.click()
    assert is_seen(page, panel), "with less room the number leaves"
    assert not is_seen(page, cell)


def test_on_a_map_and_of_a_printed_tensor(bare):
    page = opened(bare, square(40))
    expect(page.locator(".ax-canvas")).to_be_visible()
    press_at_the_end(page, page.locator(".ax-canvas"))
    expect(page.locator(".ax-close")).to_be_visible()
    assert is_seen(page, page.locator(".ax-panel"))
    q, k, v = (numbers(5, 4) * n for n in (1, 2, 3))
    page = opened(bare, show(trace(q, k, v), "scores"))
    number = page.locator(".ax-tensor [data-col='0']").last
    press_at_the_end(page, number)
    expect(page.locator(".ax-close")).to_be_visible()
    assert is_seen(page, number)
    assert is_seen(page, page.locator(".ax-panel"), 120)


def test_nothing_moves_where_it_is_in_sight(bare, explorer):
    page = opened(bare, explorer, DESK)
    page.locator(".ax-cell").last.click()
    expect(page.locator(".ax-tree summary").first).to_be_visible()
    page.evaluate(AT_REST)
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize(("motion", "how"), [("reduce", "instant"), ("no-preference", "smooth")])
def test_less_motion(bare, motion, how):
    page = opened(bare, square(12), reduced_motion=motion)
    page.evaluate("() => { Element.prototype.scrollBy = (how) => { window.asked = how; }; }")
    press_at_the_end(page, page.locator(".ax-cell[data-col='0']").last)
    page.wait_for_function("() => window.asked")
    assert page.evaluate("asked.behavior") == how


def test_in_a_box_that_is_scrolled_itself(bare):
    """As the cells of a notebook are."""
    page = bare.open(f"<div id='box'>{square(12).html}<p></p></div>", viewport=DESK)
    box, cell = page.locator("#box"), page.locator(".ax-cell").last
    box.evaluate("""(e) => {
      Object.assign(e.style, { height: "500px", overflow: "auto" });
      e.lastElementChild.style.height = "60rem";
      scrollTo(0, 0);
    }""")
    cell.evaluate("(e) => e.closest('#box').scrollBy(0, e.getBoundingClientRect().bottom - 500)")
    cell.click()
    page.wait_for_function("""() => {
      const [box, panel] = ["#box", ".ax-panel"].map((each) => document.querySelector(each));
      return panel.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom;
    }""")
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_large_map_of_a_small_one(bare, size):
    names = [f"layer {n}, head {h}" for n in range(8) for h in range(4)]
    view = square(12, heads=32, head_names=names, show=("heads",))
    page = opened(bare, view, size)
    large = page.locator(".ax-map")
    small = page.get_by_role("radio", name="layer 1, head 2")
    small.click()
    assert is_seen(page, large)
    expect(large.locator(".ax-caption b")).to_have_text("layer 1, head 2")
    large.get_by_role("button", name="back to the small maps").click()
    expect(small).to_be_focused()
    assert is_seen(page, small)
    page.keyboard.press("ArrowRight")
    expect(large.locator(".ax-caption b")).to_have_text("layer 1, head 3")
    next_one = page.get_by_role("radio", name="layer 1, head 3")
    expect(next_one).to_be_focused()
    assert is_seen(page, next_one), "arrow keys go on among the small maps"
