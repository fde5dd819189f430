"""The small maps of all heads: their colours, what is drawn of a long one, and picking by hand."""

import json
import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, padding, trace
from attn_core.arithmetic import Workings
from attn_core.digits import fixed
from attn_core.views import explore
from attn_core.views.multiples import grid_shape
from tests.explorer.test_map import light
from tests.explorer.test_numbers import payload

DRAW = """async ([payload, state, keys]) => {
  const data = new inside.Data(payload);
  const heads = new inside.Heads(data);
  document.body.append(heads.element);
  const attentionOf = (head) => new inside.Attention(data, { ...state, head });
  const picked = [];
  heads.onpick = (head) => {
    picked.push(head);
    state.head = head;
    heads.draw(attentionOf, state);
  };
  heads.draw(attentionOf, state);
  while (heads.maps.length < data.H) await new Promise(requestAnimationFrame);
  const maps = heads.pictures.map((canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    return { width, height, data: Array.from(data) };
  });
  heads.buttons[state.head].focus();
  for (const key of keys) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  }
  const focused = heads.buttons.indexOf(document.activeElement);
  const stops = heads.buttons.filter((button) => button.tabIndex === 0).length;
  const checked = heads.buttons.map((button) => button.getAttribute("aria-selected"));
  heads.buttons[1].click();
  const names = heads.buttons.map((button) => button.getAttribute("aria-label"));
  const caption = heads.caption.textContent;
  const { across, end } = heads;
  heads.element.remove();
  const shades = Array.from({ length: 401 }, (_, n) => inside.heat((n - 200) / 200, inside.HEAT));
  return { maps, picked, focused, stops, checked, names, caption, across, end, shades };
}"""


def state(**how):
    settings = {"batch": 0, "head": 0, "scale": 0.5, "mask": "given"}
    return settings | {"stage": "weights", "how": "max", "select": None} | how


def many_heads(heads, length=7, keep=None, more=0):
    made = torch.Generator().manual_seed(heads)
    sizes = length, length + more, length + more
    q, k, v = (torch.randn(1, heads, size, 4, generator=made) for size in sizes)
    return trace(q, k, v, keep=keep, scale=0.5)


def test_each_head_may_have_its_own_colours(inside):
    record = many_heads(5, keep=causal())
    cells = record.stage("scores")[0].double()
    sheet = inside.evaluate(DRAW, [payload(record), state(stage="scores", own=True), []])
    for head, drawn in enumerate(sheet["maps"]):
        n = int(cells[head].abs().argmax())
        sign = 1 if cells[head].flatten()[n] > 0 else -1
        assert drawn["data"][4 * n : 4 * n + 3] == light(sheet["shades"][200 + 200 * sign])
    assert sheet["caption"].startswith("All 5 heads, each in its own colours")


def test_the_reader_asks_for_own_colours(bare):
    view = explore(many_heads(4), name="heads", show=["heads"])
    page = bare.open(view)
    own = page.get_by_role("button", name="each in its own colours")
    expect(own).to_have_attribute("aria-pressed", "false")
    small = page.locator(".ax-small canvas").first
    page.wait_for_function("() => document.querySelector('.ax-small canvas').width > 1")
    before = small.evaluate("(canvas) => canvas.toDataURL()")
    own.click()
    expect(own).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".ax-heads .ax-hint")).to_contain_text("each in its own colours")
    assert small.evaluate("(canvas) => canvas.toDataURL()") != before
    expect(page).to_have_url(re.compile("own=1"))
    page.reload()
    expect(own).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("stage", ["scores", "masked", "weights"])
def test_every_pixel_is_a_cell_in_the_colours_of_all_heads(inside, stage):
    record = many_heads(5, keep=causal())
    sheet = inside.evaluate(DRAW, [payload(record), state(stage=stage), []])
    cells = record.stage(stage)[0].double()
    end = cells[cells.isfinite()].abs().max().item()
    assert sheet["end"] == pytest.approx(end)
    assert len(sheet["maps"]) == 5
    for head, drawn in enumerate(sheet["maps"]):
        assert (drawn["width"], drawn["height"]) == (7, 7)
        for n, x in enumerate(cells[head].flatten().tolist()):
            pixel = drawn["data"][4 * n : 4 * n + 4]
            if x == -float("inf"):
                assert pixel[3] == 0
                continue
            near = {round(x / end * 200 + d) for d in (-0.01, 0.01)}
            assert pixel[:3] in [light(sheet["shades"][200 + n]) for n in near]


def test_a_long_map_shows_some_of_its_queries_and_says_so(inside):
    record = many_heads(2, length=150)
    sheet = inside.evaluate(DRAW, [payload(record), state(), []])
    assert [(drawn["height"], drawn["width"]) for drawn in sheet["maps"]] == [(50, 64)] * 2
    assert "one in 3 is drawn" in sheet["caption"]


def test_an_overview_serves_the_small_maps(inside):
    record = many_heads(3, length=520)
    data = payload(record)
    sheet = inside.evaluate(DRAW, [data, state(), []])
    size = tuple(data["overview"]["max"]["shape"][2:])
    assert {(drawn["height"], drawn["width"]) for drawn in sheet["maps"]} == {size}
    assert "drawn" not in sheet["caption"]
    changed = inside.evaluate(DRAW, [data, state(scale=1.0), []])
    assert {(drawn["height"], drawn["width"]) for drawn in changed["maps"]} == {(58, 64)}


def test_a_head_is_picked_by_keyboard_and_by_click(inside):
    record = many_heads(14)
    keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowUp"]
    sheet = inside.evaluate(DRAW, [payload(record), state(), keys])
    across = grid_shape(14)[1]
    assert sheet["across"] == across
    assert sheet["picked"] == [1, 1 + across, across, 13, 0, 1]
    assert sheet["focused"] == 0
    assert sheet["checked"] == ["true"] + ["false"] * 13
    assert sheet["stops"] == 1
    assert sheet["names"][:2] == ["0: head 0", "1: head 1"]


def test_the_sheet_has_the_rows_of_the_printed_picture(inside):
    counts = list(range(1, 100))
    widths = inside.evaluate("(counts) => counts.map((n) => inside.acrossOf(n))", counts)
    assert widths == [grid_shape(count)[1] for count in counts]


def test_names_of_heads(inside):
    names = ["layer 0, head 0", "</script>"]
    data = json.loads(json.dumps(explore(many_heads(2), head_names=names).payload))
    sheet = inside.evaluate(DRAW, [data, state(), []])
    assert sheet["names"] == [f"{h}: {name}" for h, name in enumerate(names)]
    with pytest.raises(Exception, match="it must name 2 heads"):
        inside.evaluate("(payload) => new inside.Data(payload)", data | {"heads": ["one"]})


LAYERS = [f"layer {layer}, head {head}" for layer in range(2) for head in range(3)]
SHEET = """all => all.map((e) => [e.textContent, e.getAttribute("aria-label")])"""


@pytest.mark.parametrize(
    ("lang", "word", "chinese"), [("en", "layer", ""), ("zh", "layer", "层"), ("zh", "run", "次")]
)
def test_heads_of_layers_stand_under_their_layer(bare, lang, word, chinese):
    said = [name.replace("layer", word) for name in LAYERS]
    view = explore(many_heads(6), head_names=said, name="sheet", show=("heads",))
    view.payload["lang"] = lang
    page = bare.open(view)
    if chinese:
        said = [re.sub(r"\w+ (\d), head (\d)", rf"第 \1 {chinese}，头 \2", name) for name in said]
    children = page.locator(".ax-layer > *").evaluate_all(SHEET)
    layers = [name.split("，" if lang == "zh" else ",")[0] for name in said]
    wanted = [[str(n % 3), name] for n, name in enumerate(said)]
    assert children == [[layers[0], None], *wanted[:3], [layers[3], None], *wanted[3:]]
    tops = {round(small.bounding_box()["y"]) for small in page.locator(".ax-small").all()[3:]}
    assert len(tops) == 1
    cell = page.get_by_role("grid", name="heads" if lang == "en" else "所有的头").get_by_role
    cell("gridcell", name=said[1]).click()
    for key, head in (("ArrowDown", 4), ("End", 5), ("Home", 3), ("Control+Home", 0)):
        page.keyboard.press(key)
        expect(cell("gridcell", name=said[head])).to_be_focused()
        expect(cell("gridcell", name=said[head])).to_have_attribute("aria-selected", "true")
    expect(page.locator(".ax-sheet [role=row]")).to_have_count(2)
    assert page.locator(".ax-sheet [tabindex='0']").count() == 1
    select = page.locator('[data-control="head"] select option')
    assert select.all_text_contents() == said


@pytest.mark.parametrize("odd", ["layer 1", "layer 0, head 3", "<b>"])
def test_heads_without_equal_layers_are_numbered(inside, odd):
    names = [*LAYERS[:5], odd]
    data = json.loads(json.dumps(explore(many_heads(6), head_names=names).payload))
    sheet = inside.evaluate(DRAW, [data, state(), []])
    assert sheet["names"] == [f"{h}: {name}" for h, name in enumerate(names)]


MEASURE = """([payload, state]) => {
  const data = new inside.Data(payload);
  const measures = Array.from({ length: data.H }, (_, head) => {
    const steps = inside.measured(new inside.Attention(data, { ...state, head }));
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  });
  return [inside.measuresOf(data), measures];
}"""


def after_a_copy(keys, at):
    """The key after the last earlier copy of a key's token; None where there is none."""
    copies = [j for j in range(at) if keys[j] == keys[at]]
    return copies[-1] + 1 if copies and copies[-1] + 1 < at else None


def measures_of(weights, keys=()):
    """Of one head: means over the rows that see a key, and that have the key in question."""
    L, S = weights.shape
    sees = weights.sum(1) > 0
    rows, at = weights[sees], torch.arange(L)[sees] + S - L
    before = rows[at > 0].gather(1, at[at > 0, None] - 1)
    copied = [(n, after_a_copy(keys, i)) for n, i in enumerate(at.tolist()) if keys]
    copied = [rows[n, j].item() for n, j in copied if j is not None]
    induction = {"induction": sum(copied) / len(copied)} if copied else {}
    return {
        "entropy": -rows.xlogy(rows).sum(1).mean().item(),
        "previous": before.mean().item(),
        "first": rows[:, 0].mean().item(),
        "own": rows.gather(1, at[:, None]).mean().item(),
        **induction,
        "largest": rows.amax(1).mean().item(),
    }


@pytest.mark.parametrize("keep", [None, causal(), causal() & padding(starts=[2]), padding([5])])
@pytest.mark.parametrize("more", [0, 20], ids=["square", "longer keys"])
@pytest.mark.parametrize("copies", [False, True], ids=["all different", "with copies"])
def test_what_heads_are_sorted_by(inside, keep, more, copies):
    record = many_heads(3, 20, keep, more)
    names = [str(n * n % 11 if copies else n) for n in range(20 + more)]
    view = explore(record, tokens=names[more:], key_tokens=names)
    offered, found = inside.evaluate(MEASURE, [json.loads(json.dumps(view.payload)), state()])
    wanted = [measures_of(weights.double(), names) for weights in record.stage("weights")[0]]
    assert offered == [*wanted[0]]
    assert ("induction" in offered) == copies
    assert [{name: each[name] for name in offered} for each in found] == [
        pytest.approx(each, abs=1e-6) for each in wanted
    ]


@pytest.mark.parametrize(("word", "unsorted"), [("layer", "layer"), ("run", "as given")])
def test_heads_are_sorted_and_say_by_what(bare, word, unsorted):
    record = many_heads(6, keep=causal())
    names = [name.replace("layer", word) for name in LAYERS]
    view = explore(record, head_names=names, name="sheet", show=("heads",), head=4)
    page = bare.open(view, "<p>below</p>", fragment="#x-sheet?sort=entropy")
    measures = [measures_of(weights.double()) for weights in record.stage("weights")[0]]

    def labels(sort):
        order = sorted(range(6), key=lambda h: -measures[h][sort])
        return [f"{word[0].upper()}{h // 3} H{h % 3}{measures[h][sort]:.2f}" for h in order], order

    texts, order = labels("entropy")
    expect(page.locator(".ax-sheet > *")).to_have_text(texts)
    expect(page.locator(".ax-heads")).to_contain_text("0 where each query looks at one key")
    name = f"{word} 1, head 1, entropy {measures[4]['entropy']:.2f}"
    page.get_by_role("listbox", name="heads").get_by_role("option", name=name).focus()
    place = order.index(4)
    page.keyboard.press("ArrowRight" if place < 5 else "ArrowLeft")
    chosen = order[place + 1 if place < 5 else place - 1]
    expect(page).to_have_url(re.compile(f"head={chosen}&sort=entropy"))
    page.get_by_role("combobox", name="sort by").select_option("previous token")
    expect(page.locator(".ax-sheet > *")).to_have_text(labels("previous")[0])
    page.get_by_role("combobox", name="sort by").select_option(unsorted)
    texts = [f"{word} 0", "0", "1", "2", f"{word} 1", "0", "1", "2"]
    expect(page.locator(".ax-layer > *")).to_have_text(texts)


def test_heads_of_queries_without_keys_of_their_own_are_not_sorted_by_these(bare):
    view = explore(many_heads(2, more=3), name="across", show=("heads",))
    page = bare.open(view, fragment="#x-across?sort=own")
    said = "sort must be one of layer, entropy, first, largest, got own"
    expect(page.locator(".ax-notice").first).to_contain_text(said)
    options = page.get_by_role("combobox", name="sort by").locator("option")
    expect(options).to_have_text(["as given", "entropy", "first token", "largest weight"])


@pytest.mark.trained_model
def test_the_real_model_s_heads_take_less_than_300_kilobytes():
    from attn_core import pretrained
    from attn_core.views.payload import inline_json

    model = pretrained.minilm()
    text = "The animal did not cross the street because it was too tired."
    traces = model.traces(text)
    q, k, v = (torch.cat([getattr(record, name) for record in traces], 1) for name in "qkv")
    view = explore(trace(q, k, v), tokens=model.tokens(text), name="real", store="float16")
    assert view.payload["q"]["shape"][1] == 72
    assert len(inline_json(view.payload)) < 300_000


def test_picking_a_small_map_shows_that_head_large(bare):
    record = many_heads(8, keep=causal())
    page = bare.open(explore(record, name="sheet", show=("heads",)))
    small = page.get_by_role("listbox", name="heads").get_by_role("option")
    expect(small).to_have_count(8)
    small.nth(5).click()
    expect(page).to_have_url(re.compile(r"#x-sheet\?head=5$"))
    page.keyboard.press("ArrowRight")
    expect(small.nth(6)).to_be_focused()
    expect(small.nth(6)).to_have_attribute("aria-selected", "true")
    number = fixed(Workings(record, 0, 6, 4).weights[2])
    cell = page.locator('.ax-cell[data-row="4"][data-col="2"]')
    expect(cell).to_have_text(number)
    expect(page).to_have_url(re.compile("head=6"))
    page.reload()
    expect(small.nth(6)).to_have_attribute("aria-selected", "true")


def twelve_layers():
    x = torch.linspace(-4, 4, 144 * 6 * 4).sin().view(1, 144, 6, 4)
    names = [f"layer {n}, head {h}" for n in range(12) for h in range(12)]
    return explore(trace(x, x, x), head_names=names, show=("heads",), name="many")


PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_large_map_comes_into_sight(bare, size):
    """With its name, and its small map in sight, or else a way back to it."""
    page = bare.open(twelve_layers(), viewport=size)
    page.evaluate("() => { document.body.style.paddingBottom = '60rem'; }")
    small = page.get_by_role("gridcell", name="layer 8, head 2")
    small.click()
    expect(small).to_have_attribute("aria-selected", "true")
    name = page.get_by_role("heading", name="layer 8, head 2")
    expect(name).to_be_in_viewport(ratio=1)
    shown = [".ax-map", *([] if size is PHONE else [".ax-small[aria-selected=true]"])]
    for css in shown:
        top, bottom = page.locator(css).evaluate(
            "(e) => [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom]"
        )
        assert -1 <= top <= bottom <= size["height"] + 1, css
    top = "document.querySelector('.ax-map').getBoundingClientRect().top"
    page.evaluate(f"() => scrollBy(0, {top} + 40)")
    expect(name).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="back to all heads").click()
    expect(small).to_be_focused()
    expect(small).to_be_in_viewport(ratio=1)
    page.emulate_media(media="print")
    for css in (".ax-sheet", ".ax-scroll"):
        whole = page.locator(css).evaluate("(e) => [e.clientHeight, e.scrollHeight]")
        assert whole[0] == whole[1], "paper shows all of it"
        assert page.locator(css).evaluate("(e) => getComputedStyle(e).overflowY") == "visible"


def test_on_a_phone_the_small_maps_have_no_scroll_of_their_own(bare):
    page = bare.open(twelve_layers(), viewport={"width": 360, "height": 740}, has_touch=True)
    high = page.locator(".ax-sheet").evaluate("(e) => [e.clientHeight, e.scrollHeight]")
    assert high[0] == high[1] > 740


@pytest.mark.parametrize("width", [320, 700, 1280])
def test_small_maps_are_large_enough_to_be_pressed(bare, width):
    page = bare.open(twelve_layers(), viewport={"width": width, "height": 740})
    boxes = page.locator(".ax-small").evaluate_all(
        "all => all.map((e) => [e.getBoundingClientRect().width, e.getBoundingClientRect().height])"
    )
    assert min(map(min, boxes)) >= 24


def test_below_an_explorer_with_further_controls_but_one_head(bare):
    """Their script is there when it starts, that of the small maps only once they are asked for."""
    view = explore(many_heads(1), name="one", show=("dropout",))
    page = bare.open(view, "<p>far</p>" * 300, explore(many_heads(4), name="four"), over="file")
    expect(page.get_by_role("textbox", name="seed")).to_be_visible()
    expect(page.locator(".ax-grid")).to_have_count(1)
    page.locator("attention-explorer").last.scroll_into_view_if_needed()
    expect(page.locator(".ax-grid")).to_have_count(2)
    assert not any("explorer-heads.js" in url for url in bare.asked)
    page.get_by_role("button", name="all controls").last.click()
    expect(page.get_by_role("listbox", name="heads").get_by_role("option")).to_have_count(4)


@pytest.mark.gate
def test_of_many_long_heads_only_maps_in_view_are_drawn(bare):
    made = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, 1, 72, 513, 128, generator=made)
    names = [f"layer {n // 6}, head {n % 6}" for n in range(72)]
    record = trace(q, k, q[..., :1], keep=causal())
    view = explore(record, head_names=names, store="float16", show=["heads"], name="many")
    assert "overview" not in view.payload
    page = bare.open(
        view.markup(is_alone=True), script="classic", viewport={"width": 900, "height": 500}
    )
    canvases = page.locator(".ax-small canvas")
    is_drawn = "canvas => canvas.width > 1"
    expect(canvases.first).to_have_attribute("width", "64")
    assert not canvases.nth(71).evaluate(is_drawn)
    page.locator(".ax-small").nth(71).scroll_into_view_if_needed()
    expect(canvases.nth(71)).to_have_attribute("width", "64")
    drawn = [canvas.evaluate(is_drawn) for canvas in canvases.all()]
    assert not all(drawn)
    page.locator(".ax-small").nth(71).click()
    page.locator("canvas.ax-canvas").focus()
    page.keyboard.press("Enter")
    weight = record.stage("weights")[0, 71, 0, 0].item()
    expect(page.locator(".ax-sentence")).to_have_text(f"Query 0 gives {fixed(weight)} to key 0.")
