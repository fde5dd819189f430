"""What an explorer shows of how its numbers come about: bars, a tooltip, small pictures."""

import pytest
import torch
from playwright.sync_api import expect

from attn_core import Dropout, causal, toy, trace
from attn_core.checks import STAGES
from attn_core.digits import fixed
from attn_core.views import explore, show
from tests.explorer.cases import projected_record, words
from tests.explorer.test_page import cell, choose

WIDE = {"width": 1200, "height": 900}
SIZES = [{"width": 390, "height": 800}, {"width": 760, "height": 800}, WIDE]


def flow(record=None, **how):
    """An explorer of a record, or of six words."""
    tokens = None if record else toy.journey().tokens
    return explore(record or words(), **{"tokens": tokens, "name": "flow"} | how)


def noise(*shape):
    made = torch.Generator().manual_seed(shape[-1])
    return trace(*(torch.randn(shape, generator=made) for _ in range(3)))


# Of each bar its height, up or down from the line that is zero in its well.
RISES = """(css) => Array.from(document.querySelectorAll(css), (bar) => {
  const [box, well] = [bar.getBoundingClientRect(), bar.parentElement.getBoundingClientRect()];
  const zero = parseFloat(getComputedStyle(bar.parentElement).getPropertyValue("--ax-zero")) / 100;
  const line = well.top + zero * well.height;
  return Math.abs(box.bottom - line) < Math.abs(box.top - line) ? box.height : -box.height;
})"""
MIDDLES = """(css) => Array.from(document.querySelectorAll(css), (e) => {
  const { left, right } = e.getBoundingClientRect();
  return (left + right) / 2;
})"""


def shares_of(numbers):
    return torch.tensor(numbers, dtype=torch.float64) / max(abs(x) for x in numbers)


@pytest.mark.parametrize("stage", ["scores", "scaled", "masked", "output"])
def test_a_number_is_seen_as_products_that_add_up(bare, stage):
    view = flow(stage=stage, select=(4, 2))
    page = bare.open(view, viewport={"width": 1800, "height": 900})
    q, v = view.record.q[0, 0].double(), view.record.v[0, 0].double()
    a, b = (
        (view.record.stage("weights")[4].double(), v[:, 2]) if stage == "output" else (q[4], q[2])
    )
    products = (a * b).tolist()
    upto = {"output": ["output"], "scores": ["scores"]}.get(stage, ["scores", stage])
    ends = [view.record.stage(name)[4, 2].item() for name in upto]
    rises = page.evaluate(RISES, ".ax-products .ax-rise")
    assert shares_of(rises).tolist() == pytest.approx(shares_of(products + ends).tolist(), abs=0.03)
    assert page.locator(".ax-end").all_text_contents()[-1].endswith(stage)
    # Each product stands below its two numbers.
    rows = page.evaluate(MIDDLES, ".ax-vectors tr:first-child td")
    wells = page.evaluate(MIDDLES, ".ax-products td:not(.ax-end) .ax-well")
    assert wells == pytest.approx(rows, abs=1)
    assert page.locator(".ax-products").get_attribute("aria-hidden") == "true"
    assert page.locator(".ax-bars").is_hidden()
    expect(page.locator(".ax-products + *")).to_have_count(0)


def test_a_negative_product_goes_down(bare):
    view = flow(noise(5, 4), stage="scores", select=(1, 2))
    page = bare.open(view, viewport=WIDE)
    products = (view.record.q[0, 0, 1] * view.record.k[0, 0, 2]).tolist()
    assert min(products) < 0 < max(products)
    rises = page.evaluate(RISES, ".ax-products td:not(.ax-end) .ax-rise")
    assert [x > 0 for x in rises] == [x > 0 for x in products]


def test_what_the_mask_hides_has_no_bar(bare):
    page = bare.open(flow(words(keep=causal()), stage="masked", select=(1, 4)))
    ends = page.locator(".ax-end")
    assert [end.locator(".ax-rise").count() for end in ends.all()] == [1, 0]
    assert page.locator(".ax-end .ax-masked").count() == 1
    assert ends.last.text_content() == "-infmasked"


@pytest.mark.parametrize(
    ("width", "said"), [(12, "All 12"), (40, "All 40"), (200, "The first 64 of 200")]
)
def test_long_vectors_are_bars_alone_and_fit_a_phone(bare, width, said):
    view = flow(noise(5, width), stage="scaled", select=(1, 2))
    page = bare.open(view, viewport={"width": 320, "height": 800})
    expect(page.locator(".ax-products:visible")).to_have_count(0)
    bars = page.locator(".ax-bars")
    expect(bars).to_contain_text(f"{said} numbers as bars")
    assert bars.get_attribute("aria-hidden") == "true"
    assert bars.locator(".ax-wells").count() == 3
    assert bars.locator(".ax-wells").first.locator(".ax-rise").count() == min(width, 64)
    assert bars.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    lines = [page.evaluate(MIDDLES, f".ax-wells:nth-of-type({n}) .ax-well") for n in (2, 5, 8)]
    for line in lines[1:]:
        assert line == pytest.approx(lines[0], abs=0.5)


@pytest.mark.parametrize("stage", ["scaled", "weights", "output"])
def test_the_arithmetic_of_long_vectors_stands_beside_them(bare, stage):
    page = bare.open(flow(noise(5, 32), stage=stage, select=(1, 2)), viewport=WIDE)
    inside, tree = (page.locator(css).bounding_box() for css in (".ax-inside", ".ax-tree"))
    assert tree["width"] > 0.3 * inside["width"]
    assert tree["x"] + tree["width"] <= inside["x"] + inside["width"] + 1


def test_three_numbers_have_room_on_a_phone(bare):
    page = bare.open(flow(stage="scaled", select=(1, 2)), viewport=SIZES[0])
    expect(page.locator(".ax-products")).to_be_visible()
    expect(page.locator(".ax-bars")).to_be_hidden()
    page.set_viewport_size({"width": 240, "height": 800})
    expect(page.locator(".ax-products")).to_be_hidden()
    expect(page.locator(".ax-bars")).to_be_visible()


def parts(page):
    boxes = [part.bounding_box()["width"] for part in page.locator(".ax-share").all()]
    return [box / sum(boxes) for box in boxes]


def test_a_weight_is_its_part_of_one(bare):
    view = flow(select=(1, 2))
    page = bare.open(view)
    assert parts(page) == pytest.approx(view.record.stage("weights")[1].tolist(), abs=0.01)
    assert page.locator(".ax-share.ax-here").all_text_contents() == ["starts"]
    said = "The row of journey adds up to 1; the marked part goes to starts."
    expect(page.locator(".ax-bars")).to_contain_text(said)


@pytest.mark.parametrize("dropout", [None, Dropout(0.5, 3)])
def test_a_sink_has_its_part_of_one(bare, dropout):
    record = words(sinks=torch.tensor([0.5]), dropout=dropout)
    page = bare.open(flow(record, stage="dropped" if dropout else "weights", select=(1, 2)))
    weights = record.stage("weights")[1].tolist()
    assert parts(page) == pytest.approx([*weights, 1 - sum(weights)], abs=0.01)
    assert page.locator(".ax-share").last.text_content() == "sink"
    expect(page.locator(".ax-bars")).to_contain_text("and the sink add up to 1")


def test_a_name_stands_whole_in_its_part_or_not_at_all(bare):
    made = torch.Generator().manual_seed(5)
    record = trace(*(3 * torch.randn(8, 4, generator=made) for _ in range(3)))
    tokens = [f"{'very ' * (n % 3)}long {n}" for n in range(8)]
    page = bare.open(flow(record, tokens=tokens, select=(1, 2)), viewport=SIZES[0])
    names = page.locator(".ax-share").evaluate_all(
        """all => all.map((part) => {
          const words = document.createRange();
          words.selectNodeContents(part);
          const [name, box] = [words.getBoundingClientRect(), part.getBoundingClientRect()];
          return [name.width <= box.width, name.top < box.bottom];
        })"""
    )
    assert {fits for fits, _ in names} == {True, False}
    assert [fits for fits, _ in names] == [is_seen for _, is_seen in names]


def test_what_dropout_takes_is_hatched_in_the_row(bare):
    view = flow(words(dropout=Dropout(0.5, 3)), stage="dropped", select=(5, 0))
    page = bare.open(view)
    assert parts(page) == pytest.approx(view.record.stage("weights")[5].tolist(), abs=0.01)
    gone = [x == 0 for x in view.record.stage("dropped")[5].tolist()]
    hatched = page.locator(".ax-share").evaluate_all(
        "all => all.map((e) => e.matches('.ax-masked'))"
    )
    assert hatched == gone


def test_a_long_row_is_three_parts(bare):
    record = noise(40, 3)
    page = bare.open(flow(record, select=(3, 7)))
    row = record.stage("weights")[3]
    wanted = [row[:7].sum().item(), row[7].item(), row[8:].sum().item()]
    assert parts(page) == pytest.approx(wanted, abs=0.01)


def test_a_dead_row_has_no_parts(bare):
    record = words(keep=torch.zeros(6, 6, dtype=torch.bool))
    page = bare.open(flow(record, select=(1, 1)))
    expect(page.locator(".ax-sentence")).to_contain_text("keeps nothing")
    assert page.locator(".ax-share").count() == 0


def test_without_vectors_there_are_no_bars(bare):
    page = bare.open(flow(select=(1, 1), hide=["vectors"]))
    expect(page.locator(".ax-bars")).to_be_hidden()


def test_a_place_of_a_map_is_told_beside_it(bare):
    record = noise(40, 3)
    page = bare.open(flow(record, select=(20, 20)), viewport=WIDE)
    canvas = page.locator("canvas.ax-canvas")
    canvas.hover(position={"x": 200, "y": 200})
    tip = page.locator(".ax-tip")
    query, key = map(int, tip.locator("bdi").all_text_contents())
    assert tip.locator("b").text_content() == fixed(record.stage("weights")[query, key].item())
    mouse, box = canvas.bounding_box(), tip.bounding_box()
    assert 0 <= mouse["y"] + 200 - (box["y"] + box["height"]) < 60
    expect(page.locator(".ax-sentence")).to_contain_text("Query 20 gives")
    page.get_by_role("heading", level=1).hover()
    expect(tip).to_be_hidden()
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert tip.locator("bdi").all_text_contents() == ["20", "21"]


def test_a_number_of_the_other_matrix_and_of_the_table_is_told_beside_itself(bare):
    page = bare.open(flow(), fragment="#x-flow?compare=1&table=1&scale=1", viewport=WIDE)
    tip = page.locator(".ax-tip")
    for css in (".ax-pair .ax-one:nth-child(2) td", ".ax-twin td"):
        number = page.locator(css).nth(9)
        number.hover()
        expect(tip).to_contain_text("Originally: ")
        box, about = tip.bounding_box(), number.bounding_box()
        assert about["y"] - 12 < box["y"] + box["height"] < about["y"]


def test_a_printed_number_is_told_beside_it(bare):
    page = bare.open(show(words(), "scores", tokens=toy.journey().tokens))
    number = page.locator('[data-row="2"][data-col="1"]')
    number.hover()
    expect(page.locator(".ax-tip")).to_have_text("starts · journey\u20021.4754")
    expect(page.locator(".ax-vectors")).to_be_hidden()
    number.click()
    expect(page.locator(".ax-tip")).to_be_hidden()
    expect(page.locator(".ax-vectors")).to_be_visible()


IS_IN_SIGHT = """(e) => {
  const { top, bottom } = e.getBoundingClientRect();
  return top >= -1 && bottom <= innerHeight + 1;
}"""


def is_in_sight(element):
    return element.evaluate(IS_IN_SIGHT)


def on_page(element):
    """How far below the beginning of the page, however far that is scrolled."""
    return element.evaluate("(e) => e.getBoundingClientRect().top + scrollY")


@pytest.mark.gate
@pytest.mark.parametrize("size", SIZES, ids=["phone", "book", "wide"])
@pytest.mark.parametrize("select", [None, (2, 1)], ids=["idle", "selected"])
def test_nothing_below_moves_whatever_is_chosen(bare, size, select):
    x = toy.journey().x
    record = trace(x, x, x[:, :2], keep=causal(), dropout=Dropout(0.3, 1))
    page = bare.open(flow(record, select=select), viewport=size)
    after, matrix = page.locator("#after"), page.locator(".ax-scroll")
    before = on_page(after), matrix.bounding_box()["height"]
    for stage in STAGES:
        choose(page, stage)
        for place in ((0, 0), (5, 1)):
            cell(page, *place).click()
            now = on_page(after), matrix.bounding_box()["height"]
            assert now == pytest.approx(before, abs=0.5), (stage, place)
    page.keyboard.press("Escape")
    assert on_page(after) == pytest.approx(before[0], abs=0.5)


@pytest.mark.parametrize("size", SIZES[:2], ids=["phone", "book"])
def test_the_panel_comes_into_sight_and_what_was_pressed_stays(bare, size):
    page = bare.open(flow(), viewport=size)
    page.evaluate("() => { document.body.style.padding = '20rem 0 60rem'; }")
    pressed, panel = cell(page, 4, 1), page.locator(".ax-panel")
    pressed.evaluate("(e) => scrollBy(0, e.getBoundingClientRect().bottom - innerHeight + 4)")
    assert not is_in_sight(panel)
    pressed.click()
    page.wait_for_function(f"() => ({IS_IN_SIGHT})(document.querySelector('.ax-panel'))")
    assert is_in_sight(pressed)
    before = page.evaluate("scrollY")
    cell(page, 3, 1).click()
    assert page.evaluate("scrollY") == before, "nothing moves where it is in sight"


def test_the_panel_stays_where_it_is_beside_fewer_columns(bare):
    x = toy.journey().x
    page = bare.open(flow(trace(x, x, x[:, :2]), select=(1, 1)), viewport=WIDE)
    before = page.locator(".ax-panel").bounding_box()
    choose(page, "output")
    assert page.locator(".ax-panel").bounding_box() == before


def other_head(page):
    page.get_by_label("head", exact=True).locator("visible=true").last.select_option("1")


@pytest.mark.parametrize(
    ("record", "act"),
    [
        (projected_record(1), other_head),
        (noise(40, 8), lambda page: choose(page, "output")),
    ],
    ids=["another head", "another stage of a map"],
)
def test_nothing_below_moves_for(bare, record, act):
    page = bare.open(flow(record, select=(1, 1)), viewport=SIZES[1])
    before = page.locator("#after").bounding_box()
    act(page)
    assert page.locator("#after").bounding_box() == before


def test_a_link_to_a_number_arrives_at_the_number(bare):
    size = {"width": 320, "height": 300}
    wide = torch.arange(96.0).reshape(2, 48) / 96
    page = bare.open(
        explore(trace(wide, wide, wide), name="wide"),
        viewport=size,
        fragment="#x-wide?stage=output&select=1,40",
    )
    expect(page.locator(".ax-sentence")).to_be_in_viewport()
    box, cell = page.locator(".ax-scroll"), page.locator("[aria-selected='true']")
    around, own = box.bounding_box(), cell.bounding_box()
    assert around["x"] < own["x"]
    assert own["x"] + own["width"] <= around["x"] + around["width"]


def test_what_has_no_room_in_the_panel_is_scrolled_to(bare):
    page = bare.open(flow(stage="output", select=(1, 1)), viewport=SIZES[0])
    inside = page.locator(".ax-inside")
    assert inside.evaluate("e => e.scrollHeight - e.clientHeight") > 0
    page.locator(".ax-tree summary").last.focus()
    shown, last = inside.bounding_box(), page.locator(".ax-tree summary").last.bounding_box()
    assert last["y"] + last["height"] <= shown["y"] + shown["height"] + 1
    page.emulate_media(media="print")
    assert inside.evaluate("e => e.scrollHeight - e.clientHeight") == 0


EVERY_CELL_IS_IN = """(picture) => [...document.querySelectorAll(".ax-cell")].every(
  (cell) => picture.includes(getComputedStyle(cell).backgroundColor))"""


def pictures(page):
    """The names of the pictures that are seen, with their backgrounds."""
    return page.eval_on_selector_all(
        ".ax-mini:not([hidden])",
        """all => all.filter((e) => e.offsetParent).map((e) =>
          [e.parentElement.textContent, getComputedStyle(e).backgroundImage])""",
    )


def test_each_stage_is_a_small_picture_in_the_colours_of_its_cells(bare):
    page = bare.open(flow(projected_record(1), select=(1, 1)), viewport=WIDE)
    backgrounds = dict(pictures(page))
    assert list(backgrounds) == ["x", *STAGES]
    for stage in ("scores", "masked", "output"):
        choose(page, stage)
        page.wait_for_function(EVERY_CELL_IS_IN, arg=backgrounds[stage])
    assert "rgba(0, 0, 0, 0)" in backgrounds["masked"]


def test_the_chosen_row_is_marked_in_all_pictures(bare):
    page = bare.open(flow(), viewport=WIDE)
    strip = page.locator(".ax-strip")
    row = "e => getComputedStyle(e).getPropertyValue('--ax-row')"
    assert "ax-marked" not in strip.get_attribute("class")
    cell(page, 4, 1).click()
    assert strip.evaluate(row) == "4"
    cell(page, 2, 1).hover()
    assert strip.evaluate(row) == "2"
    page.get_by_role("heading", level=1).hover()
    assert strip.evaluate(row) == "4"


def test_stages_that_are_not_offered_have_no_picture(bare):
    page = bare.open(flow(stages=["scores", "weights"]))
    assert [name for name, _ in pictures(page)] == ["scores", "weights"]
    page = bare.open(flow(hide=["strip"]))
    assert pictures(page) == []


@pytest.mark.parametrize("touch", [True, False])
def test_the_strip_fits_a_phone(bare, touch):
    page = bare.open(flow(projected_record(1)), viewport=SIZES[0], has_touch=touch)
    for stage in page.locator(".ax-stage").all():
        box = stage.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] + box["width"] <= 390
    page.locator(".ax-stage").first.click()
    expect(page.locator(".ax-stage input:checked")).to_have_value("scores")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# Of each stage that is shown the top of its row, and whether an arrow leads to it or on from it.
ARROWS = """() => [...document.querySelectorAll(".ax-stage")].filter((e) => e.offsetParent).map(
  (e) => [Math.round(e.getBoundingClientRect().top), ...["::before", "::after"].map(
    (part) => getComputedStyle(e, part).content.includes("→"))])"""


@pytest.mark.parametrize("x", [True, False])
def test_an_arrow_leads_to_each_stage_and_none_ends_a_row(bare, x):
    record = projected_record(1) if x else None
    page = bare.open(flow(record), viewport=SIZES[0])
    tops, leads, ends = zip(*page.evaluate(ARROWS), strict=True)
    assert len(set(tops)) > 1
    assert list(leads) == [x] + [True] * (len(leads) - 1)
    assert not any(ends)


def test_a_map_that_is_too_long_has_words_alone(bare):
    for length, names in ((1025, []), (100, list(STAGES))):
        page = bare.open(flow(noise(length, 1)), viewport=WIDE)
        expect(page.locator("canvas.ax-canvas")).to_be_visible()
        assert [name for name, _ in pictures(page)] == names
