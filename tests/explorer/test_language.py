"""A language model on a page: the small one of generate/language_vectors.py, in a real browser."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attn_core.views import script
from machine import node
from tests.conftest import _Quiet
from tests.engines import served

SHEETS = ("explorer.css", "machine.css", "language.css")
TEXT = "the cat sat"
WIDE, NARROW = {"width": 1000, "height": 900}, {"width": 390, "height": 844}
LOADED = re.compile(r"^All 0 MB are here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A site: the page's scripts and sheets, the small model, and a page in each language."""
    folder = tmp_path_factory.mktemp("language")
    for name, text in script.files().items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in SHEETS:
        text = (script.BUILT.parent / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    small = "attn_core/views/page/test/small_model.js"
    assert node.run("node", small, str(folder / "language")).returncode == 0
    links = "".join(f'<link rel="stylesheet" href="{name}">' for name in SHEETS)
    for name, lang, files in (
        ("en", "en", "language/"), ("zh", "zh-CN", "language/"), ("none", "en", "nowhere/"),
    ):  # fmt: skip
        view = {"text": TEXT, "layer": 1, "head": 2}
        sizes = {"layers": 2, "heads": 4}
        payload = {"lang": lang, "folder": files, "sizes": sizes, "view": view}
        (folder / f"{name}.html").write_text(
            f'<!doctype html><html lang="{lang}" data-theme="light"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>A page</title>{links}<script defer src="explorer.js"></script></head>'
            '<body><main><h1>A page</h1><language-model name="small"><p>without</p>'
            f'<script type="application/json">{json.dumps(payload)}</script></language-model>'
            "</main></body></html>",
            encoding="utf-8",
        )
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with served(folder, _Quiet) as address:
        yield address


@pytest.fixture
def visit(browser, address):
    """visit(page, fragment, …) opens it in a browser that has nothing kept."""
    contexts, heard = [], []

    def visit(name="en", fragment="", *, within=None, before="", **how):
        how = {"viewport": WIDE, "reduced_motion": "reduce", **how}
        context = within or browser.new_context(**how)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.add_init_script(before)
        page.goto(f"{address}/{name}.html{fragment}")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert heard == []


def load(page):
    """Presses the button, and waits until the text is read."""
    page.locator(".lm-load").click()
    return read(page)


def read(page):
    expect(page.locator(".lm-choice")).to_have_count(10)
    expect(page.locator(".lm-stale")).to_have_count(0)
    return page


def first(page):
    return page.locator(".lm-choice").first.text_content()


def written(page):
    """Waits until a text is shown and read, and gives its tokens."""
    read(page)
    return page.locator(".lm-token").all_text_contents()


def test_it_is_loaded_by_one_press_and_says_its_size_before(visit):
    page = visit()
    expect(page.locator(".lm-load")).to_have_text("Load the model (0 MB)")
    expect(page.locator(".lm-choice")).to_have_count(0)
    page.locator(".lm-load").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lm-said[role]")).to_be_focused()
    read(page)
    expect(page.locator(".lm-said[role]")).to_have_text(LOADED)
    assert written(page) == ["th", "e", "␣c", "at", "␣s", "at"]
    expect(page.locator(".lm-sheet button")).to_have_count(8)
    expect(page.locator(".am-explorer [data-row]")).to_have_count(36)


def test_words_are_written_chosen_and_taken_back(visit):
    page = load(visit())
    before = first(page)
    page.locator(".lm-write").click()
    expect(page.locator(".lm-token")).to_have_count(7)
    page.locator(".lm-choice").nth(2).click()
    expect(page.locator(".lm-token")).to_have_count(8)
    expect(page.locator(".lm-chosen")).to_have_count(2)
    for _ in range(2):
        page.locator("button", has_text="take it back").click()
    expect(page.locator(".lm-token")).to_have_count(6)
    expect(page.locator(".lm-choice").first).to_have_text(before)
    page.locator(".lm-input").fill("the hat")
    expect(page.locator(".lm-token")).to_have_text(["th", "e", "␣", "h", "at"])
    read(page)


ASKED = """
const post = Worker.prototype.postMessage;
window.asked = [];
Worker.prototype.postMessage = function (message, ...how) {
  const [before] = asked.slice(-1);
  if (message.what === "read") before.isReadAtOnce = window.isThisTurn;
  window.isThisTurn = true;
  queueMicrotask(() => { window.isThisTurn = false; });
  asked.push({ what: message.what });
  return post.call(this, message, ...how);
};
"""


def test_the_worker_reads_a_text_without_waiting_for_the_page_to_take_its_tokens(visit):
    page = visit(before=ASKED)
    load(page)
    page.locator(".lm-write").click()
    expect(page.locator(".lm-token")).to_have_count(7)
    cuts = page.evaluate("asked.filter(({ what }) => what === 'cut')")
    assert cuts == [{"what": "cut", "isReadAtOnce": True}] * 2


def test_a_number_opens_down_to_a_stored_weight_and_a_link_to_it(visit):
    page = load(visit())
    page.locator(".lm-sheet button").nth(5).click()
    expect(page.locator(".ax-opened-name")).to_have_text("layer 1, head 1")
    page.locator("[data-row='4'][data-col='2']").click()
    line = page.locator(".lm-arithmetic .am-line")
    expect(line).to_contain_text("layers.1.attention.weights[1, 4, 2] = exp(")
    way = ("masked", "scaled", "scores", "rotated_query", "w_query")
    for name in way:
        page.locator(".lm-arithmetic .am-opens").first.click()
        expect(line).to_contain_text(f"layers.1.attention.{name}[")
        if name == "rotated_query":
            said = page.locator(".lm-arithmetic .am-look").first
            expect(said).to_contain_text("eight standard deviations")
    stored = page.locator(".lm-arithmetic .ax-leaf").first
    expect(stored).to_contain_text("w_query.weight[16, 0] = ")
    bits = "(stored in 4 bits: scale · number + minimum, those of its block of 32)"
    expect(stored).to_contain_text(bits)
    other = load(visit(fragment="#" + page.url.partition("#")[2]))
    expect(other.locator(".lm-arithmetic .am-line")).to_have_text(line.text_content())
    other.locator(".am-crumb").first.click()
    expect(other.locator(".lm-arithmetic .am-line")).to_contain_text("weights[1, 4, 2] = exp(")


def test_a_chance_opens_and_so_does_one_behind_an_earlier_layer(visit):
    page = load(visit())
    page.locator(".lm-why").first.click()
    line = page.locator(".lm-arithmetic .am-line")
    expect(line).to_contain_text(re.compile(r"^chances\[5, \d+\] = exp\("))
    page.locator(".lm-fold summary").click()
    expect(page.locator(".lm-lens li")).to_have_count(2)
    page.locator(".lm-lens-word").first.click()
    expect(line).to_contain_text(re.compile(r"^lens\.0\.chances\[5, \d+\] = exp\("))


def test_what_is_switched_off_is_said_beside_what_was(visit):
    page = load(visit())
    before = first(page)
    page.locator(".am-switch", has_text="all attention of layer 1").click()
    expect(page.locator(".lm-was")).to_have_count(10)
    expect(page.locator(".lm-head > .am-look")).to_contain_text("is switched off")
    expect(page.locator(".am-explorer")).to_be_hidden()
    page.locator(".am-offs button").click()
    expect(page.locator(".lm-was")).to_have_count(0)
    expect(page.locator(".lm-choice").first).to_have_text(before)
    page.locator(".am-switch", has_text="positions").click()
    expect(page.locator(".lm-was")).to_have_count(10)
    assert page.url.endswith("off=rotary")


def test_a_lost_file_is_said_in_place_and_the_rest_stays(visit):
    page = visit()
    page.route("**/layer-01.bin", lambda route: route.abort())
    page.locator(".lm-load").click()
    said = page.locator(".lm-said[role]")
    expect(said).to_contain_text("layer-01.bin could not be loaded (no answer)")
    expect(page.locator(".lm-token")).to_have_count(6)
    page.unroute("**/layer-01.bin")
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    expect(page.locator(".lm-load")).to_have_text("Try again")
    load(page)
    expect(said).to_have_text(LOADED)
    assert [name for name in asked if name.endswith(".bin")] == ["layer-01.bin"]


def test_a_second_visit_asks_for_no_file_of_the_model(visit):
    page = load(visit())
    expect(page.locator(".lm-said[role]")).to_have_text(LOADED)
    again = visit(within=page.context)
    asked = []
    again.on("request", lambda request: asked.append(request.url))
    load(again)
    expect(again.locator(".lm-said[role]")).to_contain_text("from your browser's own store")
    assert [url for url in asked if url.endswith(".bin")] == []


def asked_before_a_press(page, name):
    """Whether the page asks for a file once its button is there, and before it is pressed."""
    names = "performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1))"
    expect(page.locator(".lm-load")).to_be_visible()
    return any(text.startswith(name) for text in page.evaluate(names))


def test_a_second_visit_opens_the_model_before_it_is_asked_for(visit):
    page = visit()
    assert not asked_before_a_press(page, "explorer-language-worker.js")
    load(page)
    again = visit(within=page.context)
    with again.expect_response("**/vocabulary.json"):
        again.reload()
    load(again)


def test_what_could_not_be_opened_before_a_press_is_opened_by_it(visit):
    page = load(visit())
    again = page.context.new_page()
    again.route("**/vocabulary.json", lambda route: route.abort())
    with again.expect_event("requestfailed"):
        again.goto(page.url)
    again.unroute("**/vocabulary.json")
    load(again)
    expect(again.locator(".lm-said[role]")).to_contain_text("from your browser's own store")


def test_without_the_model_and_without_a_server_a_sentence_says_what_is_missing(
    visit, browser, folder
):
    page = visit("none")
    expect(page.locator(".lm-said[role]")).to_contain_text("was built without the model")
    expect(page.locator(".lm-load")).to_be_hidden()
    page.goto((folder / "en.html").as_uri())
    expect(page.locator(".lm-said[role]")).to_contain_text("Serve the book with “make serve”")


def test_bad_texts_are_said_and_nothing_is_lost(visit):
    page = load(visit())
    page.locator(".lm-input").fill("q" * 200)
    notice = page.locator(".lm-top .ax-notice")
    expect(notice).to_have_text("a text may have up to 128 tokens; this one has 200.")
    page.locator(".lm-input").fill("")
    expect(notice).to_have_text("a text must have a token.")
    page.locator(".lm-input").fill("the 😀 cat")
    expect(page.locator(".lm-token")).to_have_text(["th", "e", "␣", "␣c", "at"])
    read(page)
    other = load(visit(fragment="#x-small?text=cat&off=9.9&layer=1&head=3&trail=x"))
    expect(other.locator(".lm-top .ax-notice")).to_contain_text("Not taken: off must name a head")
    assert written(other) == ["c", "at"]


def test_a_long_text_is_a_map_and_a_short_one_a_table_again(visit):
    page = load(visit())
    page.locator(".lm-input").fill("the cat sat " * 6)
    expect(page.locator(".lm-token")).to_have_count(42)
    read(page)
    box = page.locator(".am-explorer canvas").first
    expect(box).to_be_visible()
    expect(page.locator(".am-explorer [data-row]")).to_have_count(0)
    page.locator(".lm-input").fill("the cat sat")
    expect(page.locator(".am-explorer [data-row]")).to_have_count(36)
    read(page)
    page.locator("[data-row='4'][data-col='2']").click()
    line = page.locator(".lm-arithmetic .am-line")
    expect(line).to_contain_text("layers.1.attention.weights[2, 4, 2] = exp(")


def test_by_keyboard_from_the_text_to_a_number(visit):
    page = load(visit())
    stop = page.locator(".lm-sheet [tabindex='0']")
    expect(stop).to_have_count(1)
    cell = page.get_by_role("grid", name="heads").get_by_role("gridcell", selected=True)
    expect(cell).to_have_accessible_name("layer 1, head 2")
    cell.focus()
    way = (("End", 1, 3), ("Home", 1, 0), ("ArrowRight", 1, 1), ("Control+Home", 0, 0),
           ("Control+End", 1, 3), ("ArrowLeft", 1, 2), ("ArrowUp", 0, 2))  # fmt: skip
    for key, layer, head in way:
        page.keyboard.press(key)
        expect(cell).to_have_accessible_name(f"layer {layer}, head {head}")
        expect(cell).to_be_focused()
    expect(stop).to_have_count(1)
    expect(page.get_by_role("heading", name="layer 0, head 2")).to_be_visible()
    page.locator(".am-explorer [data-row][tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    line = page.locator(".lm-arithmetic .am-line")
    expect(line).to_contain_text("layers.0.attention.weights[2, 1, 0] = ")
    page.locator(".lm-arithmetic .am-opens").first.focus()
    page.keyboard.press("Enter")
    expect(line).to_contain_text("layers.0.attention.masked[2, 1, 0] = ")
    expect(line).to_be_focused()


def test_on_a_phone_a_number_opens_where_it_is_seen(visit):
    page = load(visit(viewport=NARROW, has_touch=True))
    page.locator(".lm-sheet button").nth(1).tap()
    expect(page.locator(".ax-opened-name")).to_have_text("layer 0, head 1")
    cell = page.locator("[data-row='4'][data-col='1']")
    cell.tap()
    line = page.locator(".lm-arithmetic .am-line")
    expect(line).to_contain_text("layers.0.attention.weights[1, 4, 1]")
    expect(line).to_be_in_viewport()
    expect(cell).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_sorted_heads_are_a_list(visit):
    page = load(visit())
    page.get_by_label("sort by").select_option("entropy")
    first = page.get_by_role("listbox", name="heads").get_by_role("option").first
    expect(first).to_have_accessible_name(re.compile(r"^layer \d, head \d, entropy "))
    expect(page.locator(".lm-sheet [role=row]")).to_have_count(0)
    hint = page.locator(".ax-heads > .ax-hint")
    expect(hint).to_have_text("All 8 heads, the largest number first. Press one to see it large.")
    page.get_by_label("sort by").select_option("layer")
    expect(page.get_by_role("grid", name="heads").get_by_role("row")).to_have_count(2)


# The colour of the canvas in the middle of each cell of each small map, by the name of its head.
PICTURES = """() => {
  const sheet = document.querySelector(".lm-sheet");
  const canvas = sheet.querySelector("canvas");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const tokens = document.querySelectorAll(".lm-token").length;
  const colour = (x, y) => {
    const pixel = [(x - left) * canvas.width / width, (y - top) * canvas.height / height];
    return canvas.getContext("2d").getImageData(...pixel.map(Math.floor), 1, 1).data.join();
  };
  const maps = [...sheet.querySelectorAll(".ax-small")].map((button) => {
    const box = button.querySelector("[role=img]").getBoundingClientRect();
    const middle = (n) => (n % tokens + 0.5) * box.width / tokens;
    const cells = Array.from({ length: tokens ** 2 }, (_, n) =>
      colour(box.left + middle(n), box.top + middle(Math.floor(n / tokens))));
    return [button.title, cells];
  });
  return Object.fromEntries(maps);
}"""
PAINTED = f"Object.values(({PICTURES})()).flat().every((colour) => colour.endsWith('255'))"


@pytest.mark.parametrize("ratio", [1, 2.5])
def test_the_small_maps_are_where_their_places_are(visit, ratio):
    page = load(visit(device_scale_factor=ratio))
    page.wait_for_function(PAINTED)
    pictures = page.evaluate(PICTURES)
    assert len({tuple(cells) for cells in pictures.values()}) == 8
    for cells in pictures.values():
        # The first token sees itself alone: weight 1, then 0.
        assert cells[:2] == ["59,31,107,255", "255,255,255,255"]
    same = "([name, now]) => `${now}` === `${was[name]}`"
    as_before = f"was => Object.entries(({PICTURES})()).every({same})"
    names = page.locator(".lm-sheet .ax-small")
    for name in ("entropy", "first", "layer"):
        order = names.evaluate_all("all => all.map(({ title }) => title)")
        page.get_by_label("sort by").select_option(name)
        now = "document.querySelectorAll('.lm-sheet .ax-small')"
        page.wait_for_function(
            f"was => `${{[...{now}].map((each) => each.title)}}` !== `${{was}}`", arg=order
        )
        page.wait_for_function(as_before, arg=pictures)
    page.set_viewport_size(NARROW)
    page.wait_for_function(as_before, arg=pictures)


def test_on_paper_each_small_map_has_its_own_canvas(visit):
    page = load(visit())
    page.wait_for_function(PAINTED)
    one, own = page.locator(".lm-pictures"), page.locator(".lm-place canvas")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(one).to_be_hidden()
    expect(own).to_have_count(8)
    corners = "(all) => all.map((c) => c.getContext('2d').getImageData(1, 1, 1, 1).data.join())"
    assert own.evaluate_all(corners) == ["59,31,107,255"] * 8
    boxes = [
        [each.bounding_box() for each in page.locator(f".lm-place{of}").all()]
        for of in ("", " canvas")
    ]
    assert boxes[0] == boxes[1]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(own).to_have_count(0)
    expect(one).to_be_visible()


def test_without_maps_their_canvas_takes_no_place(visit):
    page = load(visit())
    page.get_by_label("sort by").select_option("entropy")
    expect(page.get_by_role("listbox", name="heads")).to_be_visible()
    page.locator(".lm-input").fill("cat " * 200)
    expect(page.get_by_role("grid", name="heads")).to_be_visible()
    expect(page.locator(".lm-pictures")).to_be_hidden()
    page.locator(".lm-input").fill("the cat")
    expect(page.locator(".lm-pictures")).to_be_visible()


def test_one_canvas_has_all_small_maps(visit):
    page = load(visit())
    expect(page.locator(".lm-sheet [role=img]")).to_have_count(8)
    expect(page.locator(".lm-sheet canvas")).to_have_count(1)


def test_its_parts_have_headings(visit):
    page = load(visit())
    page.locator("[data-row='4'][data-col='2']").click()
    headings = page.get_by_role("heading", level=2)
    expect(headings).to_have_text(
        ["What may come next, and its chance. Press a word to write it.", "heads",
         "layer 1, head 2", "the arithmetic of the number"]
    )  # fmt: skip


def test_one_token_is_said_in_the_singular(visit):
    page = load(visit())
    page.locator(".lm-input").fill("c")
    expect(page.locator(".lm-count")).to_have_text("1 token; ␣ is a space")
    read(page)


@pytest.mark.parametrize("width", [320, 700, 1000])
def test_nine_heads_in_a_row_are_large_enough_to_be_pressed(visit, width):
    page = load(visit(viewport={"width": width, "height": 800}))
    page.locator(".lm-sheet").evaluate("e => e.style.setProperty('--ax-across', 9)")
    # A wide scroll bar, as some systems have it.
    page.add_style_tag(
        content=".lm-sheet { overflow-y: scroll !important; scrollbar-width: auto !important }"
    )
    boxes = [each.bounding_box() for each in page.locator(".lm-sheet button").all()]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 24


def test_a_link_to_a_number_arrives_at_the_number(visit):
    page = visit(viewport=NARROW, fragment="#x-small?layer=1&head=1&select=4,4")
    assert page.evaluate("scrollY") == 0, "there is no number yet"
    load(page)
    expect(page.locator(".lm-arithmetic .am-line")).to_be_in_viewport()
    expect(page.locator(".ax-cell[aria-selected='true']")).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.gate)])
def test_no_barrier_is_found(visit, theme):
    page = load(visit(color_scheme=theme))
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.locator("[data-row='4'][data-col='2']").click()
    expect(page.locator(".lm-arithmetic .am-opens").first).to_be_visible()
    page.locator(".am-switch", has_text="head 2 of layer 1").click()
    expect(page.locator(".lm-was")).to_have_count(10)
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:120]) for each in found] == []


def test_in_chinese_it_says_all_of_it_in_chinese(visit):
    page = load(visit("zh"))
    page.locator("[data-row='4'][data-col='2']").click()
    for _ in range(4):
        page.locator(".lm-arithmetic .am-opens").first.click()
    expect(page.locator(".lm-arithmetic .am-look").first).to_contain_text("标准差")
    said = page.locator(".lm-root").inner_text()
    english = re.findall(r"\b(?:the|of|and|may|what|model|layer|head)\b", said)
    assert english == []
