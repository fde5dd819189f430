"""The explorer on a bare page: over http and from a file, by mouse, touch and keyboard."""

import json
import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import Dropout, alibi, causal, toy, trace, window, workings
from attn_core.arithmetic import Workings
from attn_core.checks import STAGES
from attn_core.digits import fixed
from attn_core.views import explore, show
from tests.explorer.cases import projected_record, random_record, words
from tests.explorer.conftest import faults


def numbers(page):
    return page.eval_on_selector_all(
        ".ax-grid tbody tr",
        "rows => rows.map((r) => [...r.cells].slice(1).map((c) => c.textContent))",
    )


def wanted_numbers(record, stage, batch=0, head=0):
    rows = [Workings(record, batch, head, i) for i in range(record.shape[2])]
    if stage == "output":
        width = record.v.shape[-1]
        cells = [
            [workings(record, stage, i, d, batch=batch, head=head).value for d in range(width)]
            for i in range(len(rows))
        ]
    else:
        cells = [getattr(row, stage) for row in rows]
    is_whole = all(float(x).is_integer() for row in cells for x in row if abs(x) != float("inf"))
    return [[fixed(x, 0 if is_whole else 4) for x in row] for row in cells]


def choose(page, stage):
    page.locator(f'.ax-stage input[value="{stage}"]').check()


def cell(page, i, j):
    return page.locator(f'.ax-cell[data-row="{i}"][data-col="{j}"]')


@pytest.mark.parametrize("over", [pytest.param("http", marks=pytest.mark.slow), "file"])
def test_each_stage_shows_attn_cores_numbers(bare, over):
    x = toy.three_tokens().x
    for record in (trace(x, x, x, keep=causal()), projected_record(1), random_record(5)):
        page = bare.open(explore(record, name="numbers"), over=over)
        for stage in STAGES:
            choose(page, stage)
            assert numbers(page) == wanted_numbers(record, stage), stage


def test_blank_tokens_are_seen(bare):
    x = torch.eye(4)
    view = explore(trace(x, x, x), tokens=["the", " the", "\n", "\t"], select=(1, 2))
    page = bare.open(view)
    heads = page.locator(".ax-head, .ax-side").all_text_contents()
    assert heads == ["the", "␣the", "⏎", "⇥"] * 2
    expect(page.locator(".ax-sentence")).to_contain_text("Query ␣the gives 0.2151 to key ⏎")


def test_head_and_batch(bare):
    record = projected_record(2)
    page = bare.open(explore(record, name="heads"))
    page.get_by_label("head", exact=True).locator("visible=true").last.select_option("1")
    page.get_by_label("batch", exact=True).locator("visible=true").last.select_option("1")
    assert numbers(page) == wanted_numbers(record, "weights", 1, 1)


def test_scale_changes_everything_after_it(bare, explorer):
    page = bare.open(explorer)
    box = page.get_by_label("scale as a number")
    for text, scale in (("3", 3.0), ("-0.25", -0.25), ("0", 0.0), ("1e1", 10.0)):
        box.fill(text)
        box.press("Enter")
        for stage in ("scaled", "weights", "output"):
            choose(page, stage)
            assert numbers(page) == wanted_numbers(words(scale=scale), stage)
    page.get_by_role("button", name="1/√D").click()
    assert numbers(page) == wanted_numbers(words(), "output")
    page.get_by_role("button", name="scale 1").click()
    assert numbers(page) == wanted_numbers(words(scale=1.0), "output")
    page.get_by_role("button", name="reset").click()
    assert numbers(page) == wanted_numbers(words(), "weights")
    expect(page.get_by_role("button", name="reset")).to_be_hidden()
    slider = page.get_by_label("scale", exact=True).last
    slider.focus()
    page.keyboard.press("ArrowRight")
    scale = float(slider.input_value())
    assert numbers(page) == wanted_numbers(words(scale=scale), "weights")
    assert scale > 0.5774


def test_a_scale_that_is_no_number_is_said(bare, explorer):
    page = bare.open(explorer)
    before = numbers(page)
    box = page.get_by_label("scale as a number")
    for text in ("two", "", "1e999", "NaN", "1e39", "-1e308"):
        box.fill(text)
        box.press("Enter")
        expect(page.locator(".ax-notice")).to_contain_text("scale must be a number")
        assert numbers(page) == before


def test_mask(bare, explorer, masked):
    page = bare.open(explorer)
    page.get_by_label("mask").last.select_option("causal")
    assert numbers(page) == wanted_numbers(masked.record, "weights")
    choose(page, "masked")
    assert numbers(page) == wanted_numbers(masked.record, "masked")
    hatched = page.locator(".ax-grid .ax-masked")
    assert hatched.count() == 15
    assert "linear-gradient" in hatched.first.evaluate("e => getComputedStyle(e).backgroundImage")
    page = bare.open(masked)
    page.get_by_label("mask").last.select_option("none")
    assert numbers(page) == wanted_numbers(words(), "weights")
    page.get_by_label("mask").last.select_option("window")
    page.get_by_label("keys before").fill("2")
    page.get_by_label("keys before").press("Enter")
    assert numbers(page) == wanted_numbers(words(keep=window(2)), "weights")


def test_the_masks_to_choose_from_have_names(bare, explorer, masked):
    page = bare.open(explorer, masked)
    names = {"journey": ["none (as given)"], "masked": ["as given", "none"]}
    for name, first in names.items():
        options = page.locator(f"[name={name}] select[aria-label=mask] option")
        more = ["causal", "window", "padding", "causal + padding"]
        expect(options).to_have_text([*first, *more])


def test_pointing_lights_the_query_and_the_key(bare, explorer):
    page = bare.open(explorer)
    cell(page, 1, 4).hover()
    assert page.locator(".ax-side.ax-lit").all_text_contents() == ["journey"]
    assert page.locator(".ax-head.ax-lit").all_text_contents() == ["one"]
    expect(page.locator(".ax-tip")).to_have_text("journey · one\u20020.1313")
    choose(page, "output")
    cell(page, 1, 2).hover()
    expect(page.locator(".ax-tip")).to_have_text("journey · column 2\u20020.5523")
    assert page.locator(".ax-head.ax-lit").all_text_contents() == ["2"]
    page.get_by_role("heading", level=1).hover()
    assert page.locator(".ax-lit").count() == 0
    expect(page.locator(".ax-tip")).to_be_hidden()


def test_the_panel_is_about_the_selected_number_alone(bare, explorer):
    """What is only pointed at, or has the focus, is told beside it."""
    page = bare.open(explorer, fragment="#x-journey?select=1,4")
    panel, tip = page.locator(".ax-panel"), page.locator(".ax-tip")
    rows = page.locator(".ax-vectors tr:not([aria-hidden])").all_text_contents()
    assert rows == ["journey q0.550.870.66", "one k0.770.250.1"]
    before = panel.text_content()
    cell(page, 3, 0).hover()
    expect(tip).to_have_text("with · Your\u20020.1535")
    box, about = tip.bounding_box(), cell(page, 3, 0).bounding_box()
    assert about["y"] - 12 < box["y"] + box["height"] < about["y"]
    assert box["x"] < about["x"] + about["width"] / 2 < box["x"] + box["width"]
    assert panel.text_content() == before
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    cell(page, 1, 4).focus()
    expect(tip).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(tip).to_have_text("starts · one\u20020.1331")
    page.keyboard.press("Enter")
    expect(tip).to_be_hidden()
    expect(page.locator(".ax-sentence")).to_have_text("Query starts gives 0.1331 to key one.")
    rows = page.locator(".ax-vectors tr:not([aria-hidden])").all_text_contents()
    assert rows == ["starts q0.570.850.64", "one k0.770.250.1"]


@pytest.mark.parametrize("width", [390, 760])
def test_a_tip_stays_inside(bare, width):
    tokens = ["a" * 40, "b", "c", "d", "e", "f" * 40]
    view = explore(words(), tokens=tokens, name="tip")
    page = bare.open(view, viewport={"width": width, "height": 800})
    root = page.locator(".ax-root").bounding_box()
    for place in ((0, 0), (0, 5), (5, 5)):
        cell(page, *place).hover()
        box = page.locator(".ax-tip").bounding_box()
        assert box["x"] >= root["x"]
        assert box["x"] + box["width"] <= root["x"] + root["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def tree_lines(page):
    """Opens every part of the tree and reads it as Python writes it."""
    while page.locator(".ax-tree details:not([open]) > summary").count():
        page.locator(".ax-tree details:not([open]) > summary").first.click()
    return page.evaluate(
        """() => {
          const lines = [];
          const walk = (node, depth) => {
            for (const part of node.children) {
              if (part.matches(".ax-leaf")) lines.push("  ".repeat(depth) + part.textContent);
              if (part.matches("details")) {
                lines.push("  ".repeat(depth) + part.querySelector("summary").textContent);
                walk(part.querySelector(".ax-parts"), depth + 1);
              }
            }
          };
          walk(document.querySelector(".ax-tree"), 0);
          return lines.join("\\n");
        }"""
    )


def test_a_selected_number_opens_to_its_arithmetic(bare):
    record = projected_record(7)
    page = bare.open(explore(record, name="tree"))
    for stage in STAGES:
        choose(page, stage)
        cell(page, 3, 2).click()
        assert tree_lines(page) == str(workings(record, stage, 3, 2, batch=0, head=0)), stage
        page.keyboard.press("Escape")


def test_arithmetic_follows_the_scale_and_the_mask(bare, explorer):
    page = bare.open(explorer)
    cell(page, 2, 1).click()
    page.get_by_role("button", name="scale 1").click()
    page.get_by_label("mask").last.select_option("causal")
    changed = words(scale=1.0, keep=causal())
    assert tree_lines(page) == str(workings(changed, "weights", 2, 1))


def test_one_sentence_for_a_selection(bare):
    record = words(keep=causal(), dropout=Dropout(0.5, 3))
    page = bare.open(explore(record, tokens=toy.journey().tokens, name="said"))
    sentence = page.locator(".ax-sentence")
    assert sentence.get_attribute("aria-live") == "polite"
    cell(page, 1, 0).click()
    weight = fixed(workings(record, "weights", 1, 0).value)
    expect(sentence).to_have_text(f"Query journey gives {weight} to key Your.")
    choose(page, "masked")
    cell(page, 0, 3).click()
    expect(sentence).to_have_text("The mask keeps query Your from seeing key with.")
    choose(page, "scores")
    expect(sentence).to_have_text(re.compile("Query Your and key with have the score 0.4"))
    choose(page, "dropped")
    dropped = [j for j in range(6) if workings(record, "dropped", 5, j).value == 0]
    cell(page, 5, dropped[0]).click()
    expect(sentence).to_contain_text("Dropout takes away what query step gives")


def test_a_keyboard_walk(bare, explorer):
    page = bare.open(explorer)
    here = "document.activeElement"
    page.locator(".ax-stage input:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".ax-stage input:checked").input_value() == "dropped"
    page.keyboard.press("ArrowLeft")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(f"{here}.dataset.col"):
            break

    def place():
        return page.evaluate(f"[{here}.dataset.row, {here}.dataset.col].map(Number)")

    assert place() == [0, 0]
    for key, wanted in (
        ("ArrowRight", [0, 1]),
        ("ArrowDown", [1, 1]),
        ("End", [1, 5]),
        ("ArrowRight", [1, 5]),
        ("Home", [1, 0]),
        ("ArrowLeft", [1, 0]),
        ("Control+End", [5, 5]),
        ("ArrowDown", [5, 5]),
        ("ArrowUp", [4, 5]),
        ("Control+Home", [0, 0]),
        ("ArrowUp", [0, 0]),
        ("ArrowDown", [1, 0]),
    ):
        page.keyboard.press(key)
        assert place() == wanted, key
    assert page.locator('.ax-grid [tabindex="0"]').count() == 1
    assert page.locator(".ax-side.ax-lit").all_text_contents() == ["journey"]
    page.keyboard.press("Enter")
    expect(cell(page, 1, 0)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".ax-sentence")).to_have_text("Query journey gives 0.1515 to key Your.")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{here}.textContent") == "close"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{here}.tagName") == "SUMMARY"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".ax-tree")).to_contain_text("scaled[1, 0]")
    page.keyboard.press("Escape")
    assert place() == [1, 0]
    assert page.locator(".ax-tree").text_content() == ""
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert place() == [1, 0], "the close button gives the focus back to its cell"
    assert page.locator(".ax-tree").text_content() == ""


def test_keys_do_not_reach_what_is_around(bare, explorer):
    """A notebook takes plain keys as commands of its own: arrows move it, d d deletes a cell."""
    page = bare.open(explorer)
    page.evaluate(
        "window.taken = []; document.addEventListener('keydown', (e) => taken.push(e.key))"
    )
    cell(page, 0, 0).focus()
    for key in ("ArrowDown", "Enter", "Escape", "d", "Home"):
        page.keyboard.press(key)
    assert page.evaluate("taken") == []


@pytest.mark.parametrize("touch", [True, False])
def test_six_tokens_fit_a_phone(bare, explorer, touch):
    page = bare.open(explorer, viewport={"width": 360, "height": 800}, has_touch=touch)
    assert page.locator(".ax-scroll").evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def test_few_tokens_with_wide_values_are_a_table(bare):
    """A short matrix keeps its numbers and its tokens, however wide its values are."""
    made = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(size, 48, generator=made) for size in (4, 3, 3))
    page = bare.open(explore(trace(q, k, v), name="wide"), viewport={"width": 390, "height": 800})
    assert numbers(page) == wanted_numbers(trace(q, k, v), "weights")
    choose(page, "output")
    assert numbers(page) == wanted_numbers(trace(q, k, v), "output")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [320, 390])
def test_the_page_never_moves_sideways(bare, width):
    big = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
    record = trace(big, big, big)
    two = explore(projected_record(1), select=(1, 1))
    size = {"width": width, "height": 800}
    page = bare.open(explore(record, name="wide"), show(record, "scores"), two, viewport=size)
    expect(page.locator(".ax-root")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_there_is_a_coloured_table(bare, explorer, masked):
    page = bare.open(explorer, masked, scripts=False)
    assert page.locator(".ax-root").count() == 0
    cells = page.locator("table").first.locator("td[bgcolor]")
    assert cells.count() == 36
    rows = [
        row.locator("td[bgcolor]").all_text_contents()
        for row in page.locator("table").first.locator("tr").all()
    ]
    assert rows[1:] == wanted_numbers(explorer.record, "weights")
    color = cells.first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert color not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")
    expect(page.get_by_text("journey").first).to_be_visible()


NASTY = [
    "</script><script>window.bad=1</script>",
    "<img src=x onerror=window.bad=1>",
    "\"'&amp;",
    "שלום",
    "👩‍🚀",
    "",
    "{{7*7}}",
    "a" * 200,
]


def test_tokens_are_shown_as_they_are(bare):
    x = torch.randn(8, 2, generator=torch.Generator().manual_seed(3))
    record = trace(x, x, x)
    for over in ("http", "file"):
        page = bare.open(explore(record, tokens=NASTY, name="nasty", select=(0, 1)), over=over)
        labels = [token or "∅" for token in NASTY]
        assert page.locator(".ax-side").all_text_contents() == labels
        assert page.locator(".ax-head").all_text_contents() == labels
        assert NASTY[0] in page.locator(".ax-sentence").text_content()
        assert page.evaluate("window.bad") is None
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_only_what_was_taught_is_shown_until_all_controls(bare, journey):
    record, tokens = journey
    taught = explore(
        record, tokens=tokens, stages=["scores", "weights"], hide=["mask", "scale"], name="taught"
    )
    page = bare.open(taught)
    stages = page.locator(".ax-stage:visible")
    assert stages.all_text_contents() == ["scores", "weights"]
    expect(page.get_by_label("mask").last).to_be_hidden()
    expect(page.get_by_label("scale as a number")).to_be_hidden()
    page.get_by_role("button", name="all controls").click()
    assert stages.all_text_contents() == list(STAGES)
    expect(page.get_by_label("scale as a number")).to_be_visible()
    page.get_by_role("button", name="all controls").click()
    assert stages.all_text_contents() == ["scores", "weights"]


@pytest.mark.parametrize("over", ["http", "file"])
def test_a_link_opens_a_state(bare, masked, over):
    fragment = "#x-masked?stage=masked&scale=2&mask=window:2,1&select=3,2"
    page = bare.open(masked, over=over, fragment=fragment)
    assert page.locator(".ax-stage input:checked").input_value() == "masked"
    assert page.get_by_label("scale as a number").input_value() == "2"
    assert page.get_by_label("keys before").input_value() == "2"
    assert page.get_by_label("keys after").input_value() == "1"
    assert numbers(page) == wanted_numbers(words(scale=2.0, keep=window(2, 1)), "masked")
    page.evaluate("location.hash = '#x-masked?stage=output'")
    expect(page.locator(".ax-stage input:checked")).to_have_value("output")
    assert page.get_by_label("scale as a number").input_value() == "0.5774"


FAR = "<p>" + "<br>" * 1000 + "</p>"


@pytest.mark.parametrize(
    ("act", "started"),
    [
        (lambda page: page.keyboard.press("Tab"), ["journey"]),
        (lambda page: page.evaluate("location.hash = '#x-masked?stage=output'"), ["masked"]),
        (lambda page: page.locator("[name=masked]").scroll_into_view_if_needed(), ["masked"]),
        # Without a still, to be printed.
        (
            lambda page: page.evaluate("dispatchEvent(new Event('beforeprint'))"),
            ["journey", "masked"],
        ),
    ],
    ids=["the Tab key", "a link within the page", "coming near", "printing"],
)
def test_what_starts_an_explorer_that_is_far(bare, explorer, masked, act, started):
    """Before that there is its table."""
    page = bare.open(FAR, explorer, FAR, masked, FAR)
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(page.locator(".ax-root")).to_have_count(0)
    expect(page.locator("attention-explorer > table").last).to_be_visible()
    act(page)
    for name in started:
        expect(page.locator(f"[name={name}] .ax-root")).to_be_attached()
    expect(page.locator(".ax-root")).to_have_count(len(started))


BROKEN = [
    ("stage=attention", "stage must be one of scores, scaled"),
    ("select=99,1", "select must be a row below 6"),
    ("select=1", "select must be"),
    ("select=a,b", "select must be"),
    ("scale=huge", "scale must be a number"),
    ("scale=1e999", "scale must be a number"),
    ("scale=1e308", "scale must be a number that fits float32, got 1e308"),
    ("mask=window:x", "mask must be"),
    ("head=3", "head must be a whole number below 1"),
    ("head=0.5", "head must be"),
    ("at=1,2,5", "there is no setting called at"),
    ("colour=red", "there is no setting called colour"),
    ("constructor=1", "there is no setting called constructor"),
    ("stage=%E0%A4%A", "stage must be one of"),
    ("stage=<img src=x onerror=window.bad=1>", "stage must be one of"),
    ("edits=x.0.9.9:1", "there is no number x[0, 9, 9]"),
    ("edits=x.0.0.0:abc", "x[0, 0] must be a number, got abc"),
    ("edits=nonsense", "edits must be one of x, tokens, got nonsense"),
    ("edits=q.0.0.0.0:1", "edits must be one of x, tokens, got q"),
    ("edits=tokens.0:", "a token must not be empty"),
    ("drawn=9.9", "drawn must be cells such as 1.2, got 9.9"),
    ("drawn=<b>", "drawn must be cells"),
    ("dropout=2,1", "dropout must be a p from 0"),
    ("dropout=0.5", "dropout must be"),
    ("mistake=no-scale", "mistake must be one of"),
    ("mask=padding:1,2", "mask must be given"),
]


def test_a_broken_part_of_a_link_is_said_and_the_rest_is_shown(bare, explorer):
    page = bare.open(explorer)
    for fragment, said in BROKEN:
        stage, rest = ("weights", "") if "stage=" in fragment else ("scores", "&stage=scores")
        bare.show(page, f"#x-journey?{fragment}{rest}")
        expect(page.locator(".ax-notice").first).to_contain_text(said)
        assert numbers(page) == wanted_numbers(explorer.record, stage), fragment
        assert page.evaluate("window.bad") is None
    # Fragments that say nothing of the explorer are left alone.
    wanted = wanted_numbers(explorer.record, "weights")
    for fragment in ("#after", "#x-other?stage=scores", "#x-", "#%", "#x-journey", "#?"):
        bare.show(page, fragment)
        assert numbers(page) == wanted, fragment
        expect(page.locator(".ax-notice")).to_be_hidden()
        assert page.evaluate("location.hash") == fragment.rstrip("?") or fragment == "#?"


def test_a_selection_is_refused_by_the_width_of_its_stage(bare):
    x = toy.journey().x
    page = bare.open(explore(trace(x, x, x[:, :2]), name="narrow"))
    for stage, place, columns in (("output", "0,5", 2), ("weights", "0,6", 6)):
        bare.show(page, f"#x-narrow?stage={stage}&select={place}")
        said = f"select must be a row below 6 and a column below {columns}, got {place}"
        expect(page.locator(".ax-notice")).to_contain_text(said)


def broken(explorer, change):
    payload = json.loads(json.dumps(explorer.payload))
    text = change(payload) or json.dumps(payload)
    old = re.search(r'(?<=<script type="application/json">).*?(?=</script>)', explorer.html)[0]
    return explorer.html.replace(old, text)


MALFORMED = [
    lambda p: "{oops",
    lambda p: p.clear(),
    lambda p: p.update(version=2),
    lambda p: p["q"].update(data="AAAA"),
    lambda p: p["q"].update(data="***"),
    lambda p: p["q"].update(shape=[1, 1, 0, 3], data=""),
    lambda p: p["k"].update(dtype="int8"),
    lambda p: p["k"].update(shape=[1, 1, 3, 6]),
    lambda p: p.update(v=None),
    lambda p: p.update(keep={"kind": "magic"}),
    lambda p: p["tokens"].update(keys=["one"]),
    lambda p: p.update(scale=None),
]


def test_a_malformed_payload_is_said_and_the_table_stays(bare, explorer):
    page = bare.open(*(broken(explorer, change) for change in MALFORMED))
    for one in page.locator("attention-explorer").all():
        one.scroll_into_view_if_needed()
        expect(one.locator(".ax-notice")).to_contain_text("This explorer cannot start")
        expect(one.locator("table")).to_be_visible()
    assert page.locator(".ax-notice").count() == len(MALFORMED)
    expect(page.locator(".ax-notice").first).to_contain_text("its data cannot be read")
    assert page.locator(".ax-root").count() == 0


def test_a_script_that_runs_before_the_page_is_read_waits_for_its_data(bare, explorer):
    """The element is there before what stands in it."""
    path = bare.write(explorer.html, script="classic")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<script defer", "<script"), encoding="utf-8")
    page = bare.new_page()
    page.goto(path.as_uri())
    assert numbers(page) == wanted_numbers(explorer.record, "weights")


PAPER, DARK = "rgb(255, 255, 255)", "rgb(27, 27, 34)"


def test_light_and_dark_follow_the_page(bare, explorer):
    page = bare.open(explorer, theme="light", color_scheme="dark")
    expect(page.locator(".ax-root")).to_have_css("background-color", PAPER)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(page.locator(".ax-root")).to_have_css("background-color", DARK)
    unsaid = bare.open(explorer, theme="", color_scheme="dark")
    expect(unsaid.locator(".ax-root")).to_have_css("background-color", DARK)


LASTS = """all => all.flatMap((e) => {
  const look = getComputedStyle(e);
  const longest = Math.max(...look.transitionDuration.split(",").map(parseFloat));
  const moves = longest > 0 || look.animationName !== "none" || look.scrollBehavior === "smooth";
  return moves ? [[look.transitionProperty, longest, e.matches(".ax-grid td")]] : [];
})"""


def test_only_the_colours_of_cells_fade(bare, explorer):
    """Within 250 ms; and for those who want less motion nothing does."""
    page = bare.open(explorer)
    cell(page, 1, 0).click()
    everything = "attention-explorer, attention-explorer *"
    moves = page.eval_on_selector_all(everything, LASTS)
    assert len(moves) == 36
    assert {what for what, _, _ in moves} == {"background-color"}
    assert all(is_cell and seconds <= 0.25 for _, seconds, is_cell in moves)
    page.emulate_media(reduced_motion="reduce")
    assert page.eval_on_selector_all(everything, LASTS) == []


def test_print_shows_the_state_without_controls(bare, explorer):
    page = bare.open(explorer, theme="dark")
    cell(page, 1, 0).click()
    page.emulate_media(media="print")
    expect(page.locator(".ax-controls")).to_be_hidden()
    expect(page.locator(".ax-tree")).to_be_visible()
    expect(page.locator(".ax-root")).to_have_css("background-color", PAPER)


def test_a_long_token_stays_inside(bare):
    """In the matrix, in the sentence, in the arithmetic and in what is said of it."""
    tokens = ["a" * 5000, "猫" * 5000, "ش" * 5000, "d e" * 2000, "e", "f"]
    size = {"width": 390, "height": 800}
    for name in range(4):
        view = explore(words(), tokens=tokens, name="long", select=(name, name))
        page = bare.open(view, fragment="#x-long?all=1&table=1", viewport=size)
        page.locator(".ax-inputs > summary").click()
        wide = page.eval_on_selector_all(
            ".ax-root, .ax-panel, .ax-sentence, .ax-side, .ax-token",
            "all => all.filter((e) => e.getBoundingClientRect().width > 390).length",
        )
        assert wide == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


SEEN = """(css) => Array.from(document.querySelectorAll(css), (e) => {
  const { left, right } = e.getBoundingClientRect();
  return (left + right) / 2;
})"""


def test_on_a_page_from_right_to_left_nothing_is_turned_round(bare, explorer):
    """Its sentences, formulas and matrices are English: they run as they do elsewhere."""
    there = bare.open(explorer, fragment="#x-journey?select=2,1")
    page = bare.open(explorer, fragment="#x-journey?select=2,1", html='lang="ar" dir="rtl"')
    assert there.evaluate("getComputedStyle(document.body).direction") == "ltr"
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    for css in (".ax-sentence", ".ax-formula", ".ax-tree", ".ax-grid"):
        assert page.locator(css).evaluate("e => getComputedStyle(e).direction") == "ltr", css
    # Each cell, token and stage stands where it stands elsewhere, the page's other edge apart.
    css = ".ax-cell, .ax-side, .ax-head, .ax-stage span, .ax-sentence bdi, .ax-legend"
    here, wanted = page.evaluate(SEEN, css), there.evaluate(SEEN, css)
    assert [x - here[0] for x in here] == pytest.approx([x - wanted[0] for x in wanted], abs=1)


def test_the_states_of_all_explorers_stand_in_the_address(bare, masked, explorer):
    page = bare.open(masked, explorer)
    first, second = page.locator("attention-explorer").all()
    first.locator('input[value="scores"]').check()
    first.locator('[data-row="2"][data-col="1"]').click()
    expect(page).to_have_url(re.compile(r"#x-masked\?stage=scores&select=2,1$"))
    second.locator('input[value="scaled"]').check()
    both = r"#x-journey\?stage=scaled;x-masked\?stage=scores&select=2,1$"
    expect(page).to_have_url(re.compile(both))
    page.reload()
    for element, stage in ((first, "scores"), (second, "scaled")):
        expect(element.locator(".ax-stage input:checked")).to_have_value(stage)
    expect(first.locator('[aria-selected="true"]')).to_have_attribute("data-row", "2")
    first.get_by_role("button", name="reset").click()
    expect(page).to_have_url(re.compile(r"#x-journey\?stage=scaled$"))
    second.get_by_role("button", name="reset").click()
    expect(page).to_have_url(re.compile("page.html$"))


def test_controls_and_legend_are_read_as_they_are_meant(bare, masked):
    """No arrow in the name of a stage; the legend is one sentence."""
    page = bare.open(masked)
    read = page.locator("attention-explorer").aria_snapshot()
    stages = re.findall(r'radio "(.*?)"', read)
    assert stages == list(STAGES)
    assert 'img "Colours from 0.0000 to 1.0000"' in read
    choose(page, "masked")
    read = page.locator("attention-explorer").aria_snapshot()
    low, high = re.search(
        r'img "Colours from (.*) to (.*); masked cells are hatched"', read
    ).groups()
    scores = masked.record.stage("scaled").tril()
    assert [float(low), float(high)] == pytest.approx([0, scores.max().item()], abs=1e-4)


FORCED = """(css) => Array.from(document.querySelectorAll(css), (e) => {
  const { backgroundColor, backgroundImage, boxShadow, color } = getComputedStyle(e);
  return { backgroundColor, backgroundImage, boxShadow, color };
})"""

SYSTEM = """() => {
  const one = document.body.appendChild(document.createElement("i"));
  one.style = "forced-color-adjust: none; background: Highlight; color: HighlightText";
  const { backgroundColor, color } = getComputedStyle(one);
  one.remove();
  return [backgroundColor, color];
}"""


def test_forced_colours_keep_what_a_colour_means(bare, masked):
    page = bare.open(masked, reduced_motion="reduce")
    choose(page, "masked")
    plain = page.evaluate(FORCED, ".ax-grid td")
    page.emulate_media(forced_colors="active")
    forced = page.evaluate(FORCED, ".ax-grid td")
    kept = [n for n, _ in enumerate(plain) if n % 6 <= n // 6]
    # The heat of what is kept stays, and the hatching of what is masked.
    assert [forced[n]["backgroundColor"] for n in kept] == [
        plain[n]["backgroundColor"] for n in kept
    ]
    assert len({forced[n]["backgroundColor"] for n in kept}) > 5
    for n, style in enumerate(forced):
        assert ("gradient" in style["backgroundImage"]) == (n not in kept)
    # So do the legend, the crosshair, the chosen cell and the stage in use.
    assert "gradient" in page.evaluate(FORCED, ".ax-bar")[0]["backgroundImage"]
    assert "gradient" in page.evaluate(FORCED, ".ax-swatch")[0]["backgroundImage"]
    cell(page, 3, 2).click()
    page.get_by_role("heading", level=1).hover()
    (chosen,) = page.evaluate(FORCED, '.ax-grid [aria-selected="true"]')
    (other,) = page.evaluate(FORCED, '.ax-grid [data-row="3"][data-col="1"]')
    assert chosen["boxShadow"] not in ("none", other["boxShadow"])
    cell(page, 3, 2).hover()
    page.get_by_role("button", name="all controls").click()
    cell(page, 3, 2).hover()
    system = page.evaluate(SYSTEM)
    for css in (".ax-grid th.ax-lit", ".ax-stage input:checked + span", '[aria-pressed="true"]'):
        for style in page.evaluate(FORCED, css):
            assert [style["backgroundColor"], style["color"]] == system, css
    assert page.locator(".ax-grid th.ax-lit").count() == 2
    assert page.evaluate(FORCED, ".ax-grid th:not(.ax-lit)")[1]["backgroundColor"] != system[0]


def test_a_finger_finds_every_target(bare, masked):
    """44 px on a phone, cells and heads included."""
    views = masked, explore(projected_record(1), name="heads"), show(masked.record, "weights")
    size = {"width": 390, "height": 800}
    phone = {"has_touch": True, "is_mobile": True, "viewport": size}
    page = bare.open(*views, fragment="#x-masked?all=1;x-heads?all=1", **phone)
    expect(page.locator(".ax-small")).to_have_count(2)
    cell(page, 2, 1).first.tap()
    expect(cell(page, 2, 1).first).to_have_attribute("aria-selected", "true")
    page.locator(".ax-inputs > summary").first.click()
    small = page.eval_on_selector_all(
        ".ax-grid .ax-cell, .ax-root button, .ax-root select, .ax-stage, .ax-root summary,"
        " .ax-root input:not([type=radio]), .ax-inputs [data-edit], .ax-print .ax-cell",
        """all => all.filter((e) => e.offsetParent && !e.closest("[hidden]")).map((e) => {
          const { width, height } = e.getBoundingClientRect();
          return [e.outerHTML.slice(0, 80), width, height];
        }).filter(([, width, height]) => height < 43.9 || width < 24)""",
    )
    assert small == []
    heads = page.eval_on_selector_all(
        ".ax-small", "all => all.map((e) => e.getBoundingClientRect().width)"
    )
    assert min(heads) >= 44


def test_explorers_start_by_their_link_and_are_walked_to(bare, explorer, masked):
    link = '<a href="#">a link</a>'
    page = bare.open(explorer, FAR, masked, FAR, fragment="#x-masked?stage=scores")
    expect(page.locator("[name=masked] .ax-stage input:checked")).to_have_value("scores")
    expect(page.locator(".ax-root")).to_have_count(2)
    page = bare.open(explorer, link + FAR, masked, FAR)
    page.get_by_role("link", name="a link").first.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="First figure")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[name=masked] .ax-root') !== null")


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(bare, masked, theme):
    views = masked, show(masked.record, "weights", name="printed"), explore(projected_record(1))
    page = bare.open(*views, theme=theme)
    page.locator(".ax-grid .ax-cell").nth(7).click()
    page.locator(".ax-print .ax-cell").nth(7).click()
    page.locator(".ax-grid .ax-cell").last.hover()
    assert faults(page) == []


def test_a_printed_tensor_is_alive(bare, journey):
    record, tokens = journey
    printed = show(record, "weights", tokens=tokens)
    page = bare.open(printed)
    assert page.locator(".ax-print").text_content() == str(record.stage("weights"))
    spans = page.locator(".ax-print .ax-cell")
    assert spans.count() == 36
    cell(page, 1, 3).hover()
    mates = page.locator(".ax-mate")
    assert mates.all_text_contents() == [f"{x:.4f}" for x in record.stage("weights")[1].tolist()]
    cell(page, 1, 3).click()
    assert tree_lines(page) == str(workings(record, "weights", 1, 3))
    expect(page.locator(".ax-sentence")).to_have_text("Query journey gives 0.1421 to key with.")
    page.keyboard.press("Escape")
    cell(page, 1, 3).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert tree_lines(page) == str(workings(record, "weights", 2, 4))


def test_a_printed_number_that_is_chosen_is_pressed_and_gets_the_focus_back(bare, journey):
    page = bare.open(show(journey[0], "weights"))
    pressed = page.locator('.ax-print [aria-pressed="true"]')
    cell(page, 1, 3).click()
    expect(pressed).to_have_count(1)
    expect(pressed).to_have_attribute("data-row", "1")
    expect(pressed).to_have_attribute("data-col", "3")
    assert page.locator('.ax-print [tabindex="0"]').count() == 1
    page.get_by_role("button", name="close the arithmetic").click()
    expect(pressed).to_have_count(0)
    expect(cell(page, 1, 3)).to_be_focused()


@pytest.mark.parametrize("seed", [3, 12, 14])
def test_each_printed_number_knows_its_place(bare, seed):
    record = projected_record(seed) if seed == 3 else random_record(seed)
    page = bare.open(*(show(record, stage) for stage in STAGES))
    B, H, L, S = record.shape
    for one, stage in zip(page.locator("attention-explorer").all(), STAGES, strict=True):
        one.scroll_into_view_if_needed()
        expect(one.locator(".ax-cell").first).to_be_attached()
        assert one.locator(".ax-print").text_content() == str(record.stage(stage))
        places = one.locator(".ax-print .ax-cell").evaluate_all(
            "all => all.map((e) => ['batch', 'head', 'row', 'col'].map((n) => +e.dataset[n]))"
        )
        width = record.v.shape[-1] if stage == "output" else S
        wanted = (
            (b, h, i, j) for b in range(B) for h in range(H) for i in range(L) for j in range(width)
        )
        assert places == list(map(list, wanted))


def test_a_number_of_another_head_is_opened_from_a_print(bare):
    record = projected_record(1)
    page = bare.open(show(record, "weights"))
    number = page.locator('[data-batch="1"][data-head="1"][data-row="2"][data-col="1"]')
    number.hover()
    lit = page.locator(".ax-print .ax-mate")
    assert set(lit.evaluate_all("all => all.map((e) => e.dataset.head)")) == {"1"}
    number.click()
    assert tree_lines(page) == str(workings(record, "weights", 2, 1, batch=1, head=1))


def test_a_shortened_print_knows_its_places_too(bare):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(5))
    record = trace(x, x, x)
    page = bare.open(show(record, "scores"))
    assert page.locator(".ax-print .ax-cell").count() == 36
    cell(page, 39, 38).click()
    assert tree_lines(page) == str(workings(record, "scores", 39, 38))


def test_without_scripts_a_printed_tensor_is_its_text(bare, journey):
    record, _ = journey
    page = bare.open(show(record, "scores"), scripts=False)
    assert page.locator("pre").text_content() == str(record.stage("scores"))


def middle(locator):
    box = locator.bounding_box()
    return round(box["y"] + box["height"] / 2)


def test_the_buttons_take_no_row_of_their_own(bare, explorer):
    stages = ["scores", "weights"]
    taught = explore(explorer.record, stages=stages, name="taught")
    hidden = explore(explorer.record, stages=stages, hide=["mask", "scale"], name="hidden")
    page = bare.open(taught, hidden, viewport={"width": 736, "height": 900})
    first, last = page.locator("attention-explorer").first, page.locator("attention-explorer").last
    button = "button:text-is('all controls')"
    assert abs(middle(first.locator(button)) - middle(first.locator("[data-control=scale]"))) <= 3
    before = first.locator(".ax-body").bounding_box()
    first.get_by_role("button", name="scale 1").click()
    expect(first.locator(".ax-changes")).to_have_text("You changed the scale. reset")
    assert first.locator(".ax-body").bounding_box() == before, "what is shown stays in its place"
    assert abs(middle(last.locator(button)) - middle(last.locator(".ax-stage").first)) <= 3
    last.locator(button).focus()
    page.keyboard.press("Enter")
    expect(last.locator(button)).to_be_focused()
    assert middle(last.locator(button)) > middle(last.locator(".ax-formula"))


def test_a_box_that_goes_on_says_so_at_its_edge(bare, explorer):
    x = torch.randn(20, 12, generator=torch.Generator().manual_seed(1))
    record = trace(x, x, x)
    views = show(record, "scores"), explore(record, stage="output", name="w", select=(2, 3))
    # A page may let every pre scroll by itself.
    style = '<link rel="stylesheet" href="pre.css">'
    (bare.folder / "pre.css").write_text("main pre { overflow: auto; }", encoding="utf-8")
    page = bare.open(style, *views, viewport={"width": 390, "height": 800})
    boxes = page.locator(".ax-scroll, .ax-vectors:visible")
    expect(boxes).to_have_count(3)
    mask = "e => getComputedStyle(e).maskImage"
    for box in boxes.all():
        expect(box).to_have_class(re.compile("ax-more"))
        assert "linear-gradient" in box.evaluate(mask)
        box.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
        expect(box).not_to_have_class(re.compile("ax-more"))
        assert box.evaluate(mask) == "none"
        box.evaluate("e => e.scrollTo(0, 0)")
        expect(box).to_have_class(re.compile("ax-more"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Next figure")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.ax-print .ax-cell')")
    assert boxes.first.evaluate(mask) == "none", "the focus is seen whole"
    page.emulate_media(forced_colors="active")
    assert boxes.last.evaluate(mask) == "none"
    assert boxes.last.evaluate("e => getComputedStyle(e).borderRightStyle") == "dotted"
    page.emulate_media(forced_colors="none")
    page.set_viewport_size({"width": 2400, "height": 800})
    expect(page.locator(".ax-more")).to_have_count(0)


def test_a_full_stop_stays_beside_its_token(bare, explorer):
    page = bare.open(explorer)
    cell(page, 1, 0).click()
    lower = """(line) => {
      const all = document.createRange();
      all.selectNodeContents(line);
      const token = [...line.querySelectorAll(".ax-token")].at(-1);
      return [...all.getClientRects()].at(-1).top > token.getBoundingClientRect().bottom;
    }"""
    for width in range(300, 420, 8):
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.locator(".ax-bars p").evaluate(lower), width


FORMULAS = [
    ("scores weights", None, "", "exp(scaled − row_max)"),
    ("scores weights", None, "scale=1", "exp(scores − row_max)"),
    ("scores scaled weights", None, "scale=1", "exp(scaled − row_max)"),
    ("scores weights", None, "mask=causal", "exp(masked − row_max)"),
    ("scores masked weights", None, "", "exp(masked − row_max)"),
    ("scores weights", causal(), "", "exp(masked − row_max)"),
    ("scores weights", causal(), "mask=none", "exp(scaled − row_max)"),
]


def test_the_formula_names_a_hidden_stage_only_if_it_changes_something(bare):
    for stages, keep, fragment, said in FORMULAS:
        taught = explore(words(keep=keep), stages=stages.split(), name="taught")
        page = bare.open(taught, fragment=f"#x-taught?{fragment}" if fragment else "")
        expect(page.locator(".ax-formula")).to_contain_text(said)
        page.get_by_role("button", name="all controls").click()
        expect(page.locator(".ax-formula")).to_contain_text("exp(masked − row_max)")


def test_the_formula_says_what_a_model_adds(bare):
    for stage, how, said in (
        ("scaled", {"bias": alibi([0.5])}, "= score × scale + bias, the number that"),
        ("scaled", {"softcap": 2.0}, "= softcap · tanh(score × scale / softcap), so that"),
        ("scaled", {"softcap": 2.0, "bias": alibi([0.5])}, "tanh(score × scale / softcap) + bias"),
        ("weights", {"bias": alibi([0.5]), "scale": 1.0}, "exp(scaled − row_max)"),
        ("weights", {"sinks": torch.tensor([0.5])}, "adds up to less than 1"),
    ):
        view = explore(words(**how), stage=stage, stages=["scores", stage], name="modern")
        expect(bare.open(view).locator(".ax-formula")).to_contain_text(said)


def test_a_row_that_keeps_nothing_is_not_said_to_add_up_to_1(bare, explorer):
    page = bare.open(explore(explorer.record, hide=[], name="rows"))
    formula = page.locator(".ax-formula")
    expect(formula).to_contain_text("so that every row adds up to 1")
    page.get_by_label("mask").last.select_option("causal")
    expect(formula).to_contain_text("rows that see a key sum to 1")


def test_in_a_notebook_the_address_is_not_read(bare, explorer):
    """It is the notebook's own; JupyterLab's page holds its settings."""
    mark = "<div id='jupyter-config-data'></div>"
    page = bare.open(mark + explorer.html, fragment="#x-journey?stage=scores")
    expect(page.locator(".ax-stage input:checked")).to_have_value("weights")
