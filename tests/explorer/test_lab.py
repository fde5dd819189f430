"""The further controls: inputs, masks, dropout, comparison, mistakes, a table, links, languages."""

import re
from itertools import chain

import pytest
import torch
from playwright.sync_api import expect

from attn_core import Dropout, Projection, causal, padding, toy, trace, workings
from attn_core.digits import fixed
from attn_core.mistakes import MISTAKES
from attn_core.views import explore, show
from attn_core.views.explorer import FURTHER
from tests.explorer.cases import projected_record, words
from tests.explorer.conftest import faults
from tests.explorer.test_page import (
    cell,
    choose,
    middle,
    numbers,
    tree_lines,
    wanted_numbers,
)
from tests.page_modules import PAGE

ALL = "#x-lab?all=1"


def lab(record=None, **how):
    return explore(record or words(), tokens=toy.journey().tokens, name="lab", **how)


def grid(page, n=0):
    """The numbers of one of two matrices that stand side by side."""
    rows = page.locator(".ax-grid:visible").nth(n).locator("tbody tr")
    return [row.locator("td").all_text_contents() for row in rows.all()]


def write(page, place, text):
    page.locator(f'.ax-inputs [data-edit="{place}"]').click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def open_inputs(page):
    page.locator(".ax-inputs > summary").click()


@pytest.mark.parametrize("over", ["http", "file"])
def test_a_changed_number_changes_everything_after_it(bare, over):
    page = bare.open(lab(), over=over, fragment=ALL)
    open_inputs(page)
    write(page, "x.0.2.1", "-0.5")
    for stage in ("scores", "weights", "output"):
        choose(page, stage)
        assert numbers(page) == wanted_numbers(words({(2, 1): -0.5}), stage)
    expect(page.locator(".ax-changes")).to_have_text("You changed x[2, 1]. reset")
    write(page, "x.0.2.1", "0.85")
    assert numbers(page) == wanted_numbers(words(), "output")
    page.get_by_role("button", name="reset").click()
    expect(page.locator(".ax-changes")).to_be_hidden()


def test_a_number_is_taken_when_its_field_is_left(bare):
    """Here in one of the two rows, where the numbers can be changed, too."""
    page = bare.open(lab(), fragment=f"{ALL}&select=2,0")
    rows = page.locator(".ax-vectors table")
    expect(rows).to_have_attribute("role", "grid")
    rows.locator('[data-edit="x.0.2.1"]').click()
    page.keyboard.press("Control+a")
    page.keyboard.type("-0.5")
    page.get_by_role("heading", level=1).click()
    expect(page.locator(".ax-changes")).to_have_text("You changed x[2, 1]. reset")


def test_with_a_source_x_and_the_matrices_can_be_changed(bare):
    record = projected_record(3)
    page = bare.open(explore(record, name="lab"), fragment="#x-lab?all=1&head=1&batch=1")
    open_inputs(page)
    assert page.locator('.ax-inputs [data-edit^="q."]').count() == 0
    write(page, "x.1.2.0", "1.5")
    write(page, "w_key.1.4", "-2")
    source = record.source
    x, w_key = source.x.clone(), source.w_key.clone()
    x[1, 2, 0], w_key[1, 4] = 1.5, -2.0
    parts = []
    for matrix, bias in zip((source.w_query, w_key, source.w_value), source.biases, strict=True):
        projected = x.double() @ matrix.double() + bias.double()
        parts.append(projected.float().view(2, 5, 2, 3).transpose(1, 2).contiguous())
    changed = trace(*parts, keep=causal())
    for stage in ("scores", "output"):
        choose(page, stage)
        cells = torch.tensor([[float(x) for x in row] for row in numbers(page)])
        kept = changed.stage(stage)[1, 1]
        torch.testing.assert_close(cells, kept, atol=1e-4, rtol=1e-4)
    expect(page.locator(".ax-changes")).to_contain_text("x[1, 2, 0] and w_key[1, 4]")


NO_NUMBER = [
    ("two", "x[2, 1] must be a number, got two."),
    ("", "x[2, 1] must be a number, got nothing."),
    ("0,5", "x[2, 1] must be a number, got 0,5."),
    ("50%", "x[2, 1] must be a number, got 50%."),
    ("1e400", "x[2, 1] must be a number that fits float32, got 1e400."),
    ("1e39", "x[2, 1] must be a number that fits float32, got 1e39."),
    ("<img src=x onerror=window.bad=1>", "must be a number, got <img src=x"),
]


def test_text_that_is_no_number_is_said_in_place_and_kept(bare):
    page = bare.open(lab(), fragment=ALL)
    before = numbers(page)
    open_inputs(page)
    number = page.locator('.ax-inputs [data-edit="x.0.2.1"]')
    for text, said in NO_NUMBER:
        number.click()
        field = page.locator(".ax-input input")
        field.fill(text)
        field.press("Enter")
        expect(page.locator(".ax-inputs .ax-notice")).to_contain_text(said)
        expect(field).to_have_value(text)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert numbers(page) == before
        field.press("Escape")
        expect(number).to_have_text("0.85")
        expect(number).to_be_focused()
        assert page.evaluate("window.bad") is None


@pytest.mark.parametrize(
    ("text", "value"), [("1/3", 1 / 3), ("−2", -2.0), ("–.5", -0.5), ("-1/4", -0.25), ("1e−1", 0.1)]
)
def test_a_number_is_typed_as_people_write_it(bare, text, value):
    page = bare.open(lab(), fragment=ALL)
    open_inputs(page)
    write(page, "x.0.2.1", text)
    changed = {(2, 1): value}
    assert numbers(page) == wanted_numbers(words(changed), "weights")
    expect(page).to_have_url(re.compile("edits="))
    page.reload()
    assert numbers(page) == wanted_numbers(words(changed), "weights")
    page.get_by_label("scale as a number").fill(text)
    page.keyboard.press("Enter")
    assert numbers(page) == wanted_numbers(words(changed, scale=value), "weights")


TOO_LARGE = "the changed numbers must give numbers of q that fit float32"


def test_a_key_is_changed_for_all_heads_that_share_it(bare):
    """Four heads of queries, two of keys: the table has the columns of the key's head."""
    made = torch.Generator().manual_seed(6)
    x = torch.randn(1, 5, 3, generator=made)
    matrices = [torch.randn(3, n, generator=made) for n in (8, 4, 4)]

    def record():
        heads = [(x @ w).view(1, 5, -1, 2).transpose(1, 2) for w in matrices]
        return trace(*heads, source=Projection(x, *matrices))

    view = explore(record(), head=3, select=(1, 2), stage="scores", name="lab")
    page = bare.open(view, fragment=ALL)
    open_inputs(page)
    expect(page.locator('.ax-inputs [data-edit^="w_key.0."]')).to_have_count(2)
    write(page, "w_key.0.2", "7")
    matrices[1][0, 2] = 7
    assert numbers(page) == wanted_numbers(record(), "scores", 0, 3)
    page.locator(".ax-tree summary", has_text="k[2] =").click()
    expect(page.locator('.ax-tree [data-edit="w_key.0.2"]').first).to_have_text("7")
    page.locator('[data-control="head"] select').select_option("2")
    assert numbers(page) == wanted_numbers(record(), "scores", 0, 2)


# The order is that of the address; what was there first stays.
TOGETHER = "w_query.0.0:1e30,x.0.0.0:1e30"


def test_a_link_to_changes_that_only_together_are_too_large(bare):
    """The first is taken, the second said; the explorer lives."""
    record = projected_record(3)
    page = bare.open(explore(record, name="learned"), fragment=f"#x-learned?edits={TOGETHER}")
    notice = f"Not taken: {TOO_LARGE}. The rest is shown."
    expect(page.locator(".ax-notice").first).to_have_text(notice)
    expect(page.locator(".ax-changes")).to_have_text("You changed w_query[0, 0]. reset")
    choose(page, "scores")
    page.get_by_role("button", name="reset").click()
    assert numbers(page) == wanted_numbers(record, "weights")


def test_typed_changes_that_only_together_are_too_large(bare):
    page = bare.open(explore(projected_record(3), name="lab"), fragment=ALL)
    open_inputs(page)
    write(page, "w_query.0.0", "1e30")
    before = numbers(page)
    page.locator('.ax-inputs [data-edit="x.0.0.0"]').click()
    field = page.locator(".ax-input input")
    field.fill("1e30")
    field.press("Enter")
    expect(page.locator(".ax-inputs .ax-notice")).to_have_text(f"{TOO_LARGE}.")
    expect(field).to_have_value("1e30")
    assert numbers(page) == before
    field.fill("2")
    field.press("Enter")
    expect(page.locator(".ax-changes")).to_contain_text("w_query[0, 0] and x[0, 0, 0]")
    assert page.locator(".ax-grid td", has_text="NaN").count() == 0


OVERFLOW = "q, k, v and scale must give numbers below 1.8e308, the largest float64"


@pytest.mark.parametrize(
    ("record", "fragment"),
    [
        ("double", "edits=x.0.0.0:1e200"),
        ("double", "scale=1.7e308"),
        ("parts", "edits=q.0.0.0.0:1e200,k.0.0.1.0:-1e200"),
        ("parts", "stage=output&dropout=0.9,1&edits=v.0.0.0.0:1.7e308,v.0.0.1.0:1.7e308"),
    ],
)
def test_float64_that_overflows_is_said_and_never_shown(bare, record, fragment):
    x = toy.journey().x.double()
    parts = (x, x, x) if record == "double" else (x, x + 1, 30 * x)
    view = explore(trace(*parts), name="lab")
    page = bare.open(view, fragment=f"#x-lab?all=1&{fragment}")
    expect(page.locator(".ax-notice").first).to_contain_text(f"Not taken: {OVERFLOW}")
    shown = {text.lower() for row in numbers(page) for text in row}
    assert not {"nan", "inf", "-inf"} & shown
    assert "NaN" not in page.locator(".ax-root").text_content()


@pytest.mark.parametrize("text", ["</script><b>", "猫, 100%", "שלום", "👩‍🚀"])
def test_a_token_is_shown_as_it_is_written_and_survives_a_reload(bare, text):
    page = bare.open(lab(), fragment=ALL)
    open_inputs(page)
    write(page, "tokens.1", text)
    assert page.locator(".ax-side").nth(1).text_content() == text
    assert page.locator(".ax-head").nth(1).text_content() == text
    expect(page).to_have_url(re.compile("edits=tokens.1:"))
    said = f"You changed the token journey (now {text}). reset"
    expect(page.locator(".ax-changes")).to_have_text(said)
    page.reload()
    assert page.locator(".ax-side").nth(1).text_content() == text


def test_inputs_by_keyboard(bare):
    page = bare.open(lab(), fragment=ALL)
    open_inputs(page)
    page.locator('.ax-inputs [data-edit="x.0.0.0"]').focus()
    for key in ("ArrowDown", "ArrowRight", "7", ".", "5", "Enter"):
        page.keyboard.press(key)
    expect(page.locator('.ax-inputs [data-edit="x.0.1.1"]')).to_have_text("7.5")
    expect(page.locator('.ax-inputs [data-edit="x.0.1.1"]')).to_be_focused()
    expect(page.locator(".ax-changes")).to_contain_text("x[1, 1]")


def test_a_number_is_changed_by_dragging_it(bare):
    """By a button that every explorer has: the tables of inputs come, and nothing else."""
    page = bare.open(lab(), fragment="#x-lab?select=1,0")
    assert not [url for url in bare.asked if "explorer-lab" in url]
    page.get_by_role("button", name="Change a number").click()
    number = page.locator('.ax-inputs [data-edit="x.0.1.0"]')
    expect(number).to_be_focused()
    expect(page.locator('[data-control="dropout"]')).to_be_hidden()
    before = numbers(page)
    box = number.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    # Two pixels a hundredth: the matrix follows before the number is let go.
    page.mouse.move(x + 40, y + 3, steps=4)
    expect(number).to_have_text("0.75")
    expect(page).not_to_have_url(re.compile("edits="))
    assert numbers(page) == wanted_numbers(words({(1, 0): 0.75}), "weights") != before
    page.mouse.up()
    expect(page).to_have_url(re.compile("edits=x.0.1.0:0.75"))
    expect(page.locator(".ax-inputs input")).to_have_count(0)
    # A click opens a field, as before.
    number.click()
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    expect(number).to_have_text("0.5")
    page.get_by_role("button", name="reset").click()
    assert numbers(page) == before


def test_what_is_hidden_has_no_button(bare):
    page = bare.open(lab(hide=["inputs", "link"]))
    expect(page.locator(".ax-grid")).to_be_visible()
    for name in ("Change a number", "Share this view"):
        expect(page.get_by_role("button", name=name)).to_be_hidden()


def test_masks_of_the_reader(bare):
    x = torch.stack([toy.journey().x, toy.journey().x.flip(0)])
    view = explore(trace(x, x, x), name="lab")
    page = bare.open(view, fragment=ALL)
    mask = page.locator('[data-control="mask"]')
    for kind, lengths, keep in (
        ("padding", "3,5", padding([3, 5])),
        ("causal+padding", "2,6", causal() & padding([2, 6])),
    ):
        mask.locator("select").select_option(kind)
        field = page.get_by_label("keys kept in each sequence")
        field.fill(lengths)
        field.press("Enter")
        assert numbers(page) == wanted_numbers(trace(x, x, x, keep=keep), "weights")
    field.fill("3")
    field.press("Enter")
    expect(page.locator(".ax-notice").first).to_contain_text("mask must be given, none")
    expect(field).to_have_value("3")
    expect(page.locator(".ax-changes")).to_contain_text("You changed the mask.")
    expect(page).to_have_url(re.compile("padding:2,6"))
    page.reload()
    expect(field).to_have_value("2,6")


def test_a_mask_is_drawn_by_mouse_and_keyboard(bare):
    page = bare.open(lab(words(keep=causal())), fragment=ALL)
    choose(page, "masked")
    page.get_by_role("button", name="draw").click()
    cell(page, 1, 3).click()
    cell(page, 4, 0).focus()
    page.keyboard.press("Space")
    keep = causal().dense(6, 6)[0, 0].clone()
    keep[1, 3], keep[4, 0] = True, False
    drawn = words(keep=keep)
    assert numbers(page) == wanted_numbers(drawn, "masked")
    expect(page.locator(".ax-sentence")).to_have_text("")
    expect(page).to_have_url(re.compile("drawn=1.3,4.0"))
    choose(page, "weights")
    assert numbers(page) == wanted_numbers(drawn, "weights")
    cell(page, 4, 0).click()
    keep[4, 0] = True
    assert numbers(page) == wanted_numbers(words(keep=keep), "weights")


def test_a_refused_entry_does_not_freeze_the_inputs(bare):
    page = bare.open(lab(), fragment=ALL)
    open_inputs(page)
    write(page, "x.0.0.0", "7")
    write(page, "x.0.0.1", "1/2")
    page.get_by_role("button", name="reset", exact=True).click()
    expect(page.locator('.ax-inputs [data-edit="x.0.0.0"]')).to_have_text("0.43")
    write(page, "x.0.1.1", "9")
    expect(page.locator('.ax-inputs [data-edit="x.0.1.1"]')).to_have_text("9")


def test_a_cell_of_the_output_is_no_place_of_the_mask(bare):
    page = bare.open(lab(), fragment=ALL + "&stage=output")
    page.get_by_role("button", name="draw").click()
    before = numbers(page)
    cell(page, 1, 1).click()
    assert numbers(page) == before
    assert "drawn=" not in page.url


def test_a_probability_of_0_is_no_dropout(bare):
    page = bare.open(lab())
    for zero in ("0", "0.0", "0.00"):
        bare.show(page, ALL + "&dropout=0.5,7&stage=dropped")
        p = page.get_by_label("p, how likely")
        p.fill(zero)
        p.press("Enter")
        assert numbers(page) == wanted_numbers(words(), "dropped"), zero
        expect(page.locator(".ax-notice").first).to_be_hidden()


def test_dropout_and_its_seed(bare):
    page = bare.open(lab(), fragment=ALL)
    choose(page, "dropped")
    p, seed = page.get_by_label("p, how likely"), page.get_by_label("seed")
    for rate, number in (("0.5", "7"), ("0.25", "9007199254740991")):
        seed.fill(number)
        p.fill(rate)
        p.press("Enter")
        dropped = words(dropout=Dropout(float(rate), int(number)))
        assert numbers(page) == wanted_numbers(dropped, "dropped")
    expect(page.locator(".ax-changes")).to_contain_text("You changed dropout.")
    p.fill("1.5")
    p.press("Enter")
    said = page.locator(".ax-notice").first
    expect(said).to_contain_text("dropout must be a p from 0 to below 1")
    expect(p).to_have_value("1.5")
    assert numbers(page) == wanted_numbers(dropped, "dropped")


def test_what_changed_stands_beside_the_original(bare):
    page = bare.open(lab(), fragment="#x-lab?all=1&edits=x.0.2.1:0&compare=1&select=2,0")
    changed, given = words({(2, 1): 0}), words()
    captions = page.locator(".ax-caption:visible")
    assert captions.all_text_contents() == ["original", "changed"]
    assert grid(page, 0) == wanted_numbers(given, "weights")
    assert grid(page, 1) == wanted_numbers(changed, "weights")
    choose(page, "scores")
    marks = page.eval_on_selector_all(
        ".ax-one:last-child .ax-cell.ax-differs",
        "all => all.map((c) => [Number(c.dataset.row), Number(c.dataset.col)])",
    )
    differs = given.stage("scores") != changed.stage("scores")
    assert marks == differs.nonzero().tolist()
    was = fixed(given.stage("scores")[2, 0].double().item())[:5]
    expect(page.locator(".ax-sentence")).to_contain_text(f"Originally: {was}")
    expect(page.locator(".ax-said")).to_have_text("First stage that differs: scores.")
    page.get_by_role("button", name="compare").click()
    expect(captions).to_have_count(0)


FORMULA = ["softmax-over-queries", "scale-after-softmax", "mask-after-softmax", "nan-in-empty-row"]


def test_a_mistake_stands_beside_what_is_right(bare):
    record = words(keep=causal())
    page = bare.open(lab(record, mistakes=FORMULA), over="file")
    captions = page.locator(".ax-caption:visible")
    for name, first in zip(FORMULA[:3], ["weights", "scaled", "masked"], strict=True):
        page.get_by_role("combobox", name="mistake").select_option(name)
        assert captions.all_text_contents() == ["right", "with the mistake"]
        said = page.locator(".ax-said")
        expect(said).to_contain_text(f"First stage that differs: {first}.")
        expect(said).to_contain_text(MISTAKES[name].does)
        assert page.locator(".ax-stage.ax-differs").all_text_contents() == [first]
        wrong = MISTAKES[name].apply(record)
        for stage in ("weights", "output"):
            choose(page, stage)
            assert grid(page, 0) == wanted_numbers(record, stage)
            cells = torch.tensor([[float(x) for x in row] for row in grid(page, 1)])
            kept = wrong[stage].reshape(cells.shape)
            torch.testing.assert_close(cells, kept, atol=1e-4, rtol=0, equal_nan=True)
        expect(page).to_have_url(re.compile(f"mistake={name}"))
    page.get_by_role("combobox", name="mistake").select_option("nan-in-empty-row")
    expect(page.locator(".ax-said")).to_contain_text("There is no difference on this input.")
    assert page.locator(".ax-stage.ax-differs").count() == 0
    page.get_by_role("combobox", name="mistake").select_option("")
    expect(captions).to_have_count(0)


def test_beside_a_mistake_the_arithmetic_is_that_of_what_is_right(bare):
    """And a place that is pointed at in one matrix is lit in the other."""
    view = lab(mistakes=["softmax-over-queries"])
    page = bare.open(view, fragment="#x-lab?all=1&mistake=softmax-over-queries&select=2,0")
    right, wrong = wanted_numbers(words(), "weights")[2][0], grid(page, 1)[2][0]
    assert right != wrong
    first = page.locator(".ax-tree .ax-row, .ax-tree summary").first
    expect(first).to_contain_text(right)
    expect(first).not_to_contain_text(wrong)
    page.locator(".ax-grid").nth(0).locator('[data-row="4"][data-col="3"]').hover()
    for which in (0, 1):
        lit = page.locator(".ax-grid").nth(which).locator(".ax-side.ax-lit, .ax-head.ax-lit")
        expect(lit).to_have_text(["with", "one"])


def test_a_long_title_of_a_mistake_stays_inside(bare):
    view = lab(mistakes=FORMULA)
    view.payload["mistakes"][0]["title"] = "a very long title " * 5
    page = bare.open(view, viewport={"width": 360, "height": 800})
    root, select = (page.locator(part).bounding_box() for part in (".ax-root", "select >> nth=-1"))
    assert select["x"] + select["width"] < root["x"] + root["width"]


def test_a_cell_that_is_no_number_keeps_no_colour_of_the_one_before(bare):
    keep = torch.ones(6, 6, dtype=torch.bool)
    keep[2] = False
    view = lab(words(keep=keep), mistakes=["nan-in-empty-row"])
    page = bare.open(view, fragment="#x-lab?mistake=nan-in-empty-row")
    assert grid(page, 1)[2] == ["nan"] * 6
    wrong = page.locator(".ax-grid").nth(1).locator('[data-row="2"][data-col="0"]')
    assert wrong.evaluate("e => e.style.backgroundColor") == ""


def test_a_mistake_of_a_module_shows_its_record(bare):
    right = projected_record(4)
    q = right.q.flip(1)
    wrong = trace(q, right.k, right.v, keep=causal())
    name = next(name for name, mistake in MISTAKES.items() if not mistake.is_formula)
    view = explore(right, name="lab", mistakes=[(name, wrong)])
    page = bare.open(view, fragment=f"#x-lab?mistake={name}&edits=x.0.0.0:9")
    assert grid(page, 0) == wanted_numbers(right, "weights")
    assert grid(page, 1) == wanted_numbers(wrong, "weights")
    expect(page.locator(".ax-said")).to_contain_text("the numbers that you changed are left out")


def test_a_whole_state_survives_a_reload_and_a_theme(bare):
    fragment = (
        "#x-lab?stage=dropped&scale=0.5&mask=causal&select=2,1&hide=legend&drawn=0.2"
        "&dropout=0.5,3&edits=x.0.1.0:2,tokens.0:cat&compare=1"
    )
    page = bare.open(lab(), fragment=fragment)

    def shown():
        return grid(page, 0), grid(page, 1), page.locator(".ax-sentence").text_content()

    before = shown()
    expect(page.locator(".ax-legend")).to_be_hidden()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.reload()
    assert shown() == before
    choose(page, "weights")
    expect(page).to_have_url(re.compile(re.escape(fragment.replace("stage=dropped&", ""))))


def test_a_link_is_copied_or_shown(bare):
    """By a button that every explorer has."""
    page = bare.open(lab(), permissions=["clipboard-read", "clipboard-write"])
    choose(page, "scores")
    share, said = page.get_by_role("button", name="Share this view"), page.locator(".ax-shared")
    share.scroll_into_view_if_needed()
    before = share.bounding_box()
    share.click()
    expect(said).to_have_text("The link is copied.")
    assert share.bounding_box() == before, "the button stays under the pointer"
    assert 0 < said.bounding_box()["y"] - before["y"] < 100
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("/page.html#x-lab?stage=scores")
    page = bare.open(lab())
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.get_by_role("button", name="Share this view").click()
    text = page.get_by_label("This link opens")
    expect(text).to_have_value(re.compile("page.html#x-lab$"))
    expect(text).to_be_focused()


def test_of_a_file_the_end_of_its_address_is_shown(bare):
    """The address of a file on this device leads nobody else anywhere."""
    page = bare.open(lab(), over="file")
    choose(page, "scores")
    page.get_by_role("button", name="Share this view").click()
    text = page.get_by_label("This page is a file on your device")
    expect(text).to_have_value("#x-lab?stage=scores")
    expect(text).to_be_focused()
    bare.show(page, text.input_value())
    expect(page.get_by_role("radio", name="scores")).to_be_checked()


def test_new_controls_are_shown_where_they_are_taught(bare):
    page = bare.open(lab(), lab(show=["dropout", "inputs"]))
    first, last = page.locator("attention-explorer").all()
    for name in ("draw", "dropout", "compare", "table"):
        expect(first.locator(f'[data-control="{name}"]')).to_be_hidden()
    expect(last.locator('[data-control="dropout"]')).to_be_visible()
    expect(last.locator('[data-control="compare"]')).to_be_hidden()
    expect(last.locator(".ax-input").first).to_be_visible()


def test_a_page_loads_the_further_controls_when_they_are_asked_for(bare):
    page = bare.open(lab(), over="file")
    expect(page.locator(".ax-grid")).to_be_visible()
    assert not [url for url in bare.asked if "explorer-lab" in url]
    page.get_by_role("button", name="all controls").click()
    expect(page.locator('[data-control="dropout"]')).to_be_visible()
    expect(page.get_by_role("button", name="all controls")).to_be_focused()
    assert [url for url in bare.asked if "explorer-lab" in url]


def test_the_numbers_as_a_plain_table(bare):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(4))
    record = trace(x, x, x)
    page = bare.open(explore(record, name="lab"), fragment="#x-lab?table=1&select=39,20")
    rows = page.locator(".ax-twin tbody tr")
    assert rows.count() == 32
    assert page.locator(".ax-twin thead th").first.text_content() == "4"
    texts = rows.last.locator("td").all_text_contents()
    assert rows.last.locator("th").text_content() == "39"
    assert texts == [fixed(v) for v in record.stage("weights")[39, 4:36].double().tolist()]


def test_a_number_of_the_table_opens_too(bare):
    page = bare.open(lab(), fragment="#x-lab?all=1&table=1")
    number = page.locator(".ax-twin tbody tr").nth(2).locator("td").nth(1)
    number.hover()
    assert page.locator(".ax-side.ax-lit").all_text_contents() == ["starts"]
    assert page.locator(".ax-head.ax-lit").all_text_contents() == ["journey"]
    page.get_by_role("heading", level=1).hover()
    assert page.locator(".ax-lit").count() == 0
    number.click()
    expect(cell(page, 2, 1)).to_have_attribute("aria-selected", "true")
    expect(number).to_have_class("ax-chosen")
    assert tree_lines(page) == str(workings(words(), "weights", 2, 1))
    page.get_by_role("heading", level=1).hover()
    assert page.locator(".ax-side.ax-lit").all_text_contents() == ["starts"]


def ends(page, side):
    """The tokens of one side with the numbers at the ends of the lines that are alone."""
    return page.locator(f".ax-lines-token.ax-{side}").all_inner_texts()


def test_the_weights_as_lines(bare):
    record = words(keep=causal(), dropout=Dropout(0.5, 7))
    tokens = ["Your", " journey", "\n", "with", "one", "step"]
    view = explore(record, tokens=tokens, name="lab", show=["lines"])
    page = bare.open(view, theme="dark")
    lines, drawn = page.locator(".ax-lines"), page.locator(".ax-between g:not([style*=none]) line")
    expect(lines).to_be_hidden()
    page.get_by_role("button", name="lines", exact=True).click()
    expect(page).to_have_url(re.compile(r"#x-lab\?lines=1$"))
    picture = "Lines from queries on the left (6) to keys on the right (6)"
    expect(lines.get_by_role("img", name=picture)).to_be_visible()
    weights = record.stage("weights").double()
    expect(drawn).to_have_count(int((weights >= 0.01).sum()))
    names = ["Your", "␣journey", "⏎", "with", "one", "step"]
    assert ends(page, "q") == ends(page, "k") == names

    lines.locator(".ax-lines-token.ax-k").nth(2).hover()
    shown = [f"{weights[i, 2]:.2f}" for i in range(2, 6)]
    assert [text.split("\n") for text in ends(page, "q")] == [
        *([name] for name in names[:2]),
        *map(list, zip(names[2:], shown, strict=True)),
    ]
    expect(drawn).to_have_count(4)
    largest = int(weights[:, 2].argmax())
    said = lines.locator("p:visible")
    expect(said).to_contain_text(f"⏎ gets most from {names[largest]} {weights[largest, 2]:.2f}, ")

    lines.locator(".ax-lines-token.ax-q").nth(4).click()
    best = int(weights[4].argmax())
    assert tree_lines(page) == str(workings(record, "weights", 4, best))
    lines.locator(".ax-lines-token.ax-k").nth(1).click()
    assert tree_lines(page) == str(workings(record, "weights", 4, 1))
    page.get_by_role("heading", level=1).hover()
    lines.locator(".ax-lines-token[tabindex='0']").focus()
    for key in ("Home", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
    expect(said).to_have_text(f"␣journey gives most to {said_shares(names, weights[1])}.")
    page.keyboard.press("Enter")
    assert tree_lines(page) == str(workings(record, "weights", 1, int(weights[1].argmax())))

    dropped = record.stage("dropped").double()
    bare.show(page, "#x-lab?lines=1&stage=output&select=4,1")
    page.get_by_role("heading", level=1).hover()
    assert ends(page, "k") == [
        *(f"{name}\n{x:.2f}" for name, x in zip(names[:5], dropped[4, :5].tolist(), strict=True)),
        names[5],
    ]
    lines.locator(".ax-lines-token.ax-q").nth(3).click()
    assert tree_lines(page) == str(workings(record, "dropped", 3, int(dropped[3].argmax())))


def said_shares(names, weights):
    order = [j for j in weights.argsort(descending=True).tolist() if weights[j] > 0]
    return ", ".join(f"{names[j]} {weights[j]:.2f}" for j in order[:3])


def test_of_a_long_text_only_the_selected_row_has_lines(bare):
    x = torch.randn(70, 3, generator=torch.Generator().manual_seed(4))
    record = trace(x, x, x)
    page = bare.open(explore(record, name="lab"), fragment="#x-lab?lines=1")
    said = "With more than 64 tokens only the selected row has lines"
    expect(page.locator(".ax-lines p:visible").first).to_contain_text(said)
    assert ends(page, "q") == ends(page, "k") == []
    bare.show(page, "#x-lab?lines=1&select=60,3")
    kept = sorted(record.stage("weights")[60].topk(64).indices.tolist())
    assert ends(page, "q") == ["60"]
    assert [text.split("\n")[0] for text in ends(page, "k")] == [str(j) for j in kept]
    page.locator(".ax-lines-token.ax-k").last.click()
    expect(page).to_have_url(re.compile(f"select=60,{kept[-1]}&"))


def test_one_explorer_alone(bare, explorer):
    fragment = "?embed=journey#x-journey?stage=scores"
    page = bare.open(lab(), explorer, over="file", fragment=fragment)
    expect(page.locator("html")).to_have_class(re.compile("ax-embed"))
    expect(page.locator('attention-explorer[name="journey"] .ax-grid')).to_be_visible()
    expect(page.locator('attention-explorer[name="lab"]')).to_be_hidden()
    expect(page.get_by_role("heading", name="A bare page")).to_be_hidden()
    assert page.locator(".ax-stage:visible input:checked").input_value() == "scores"
    assert page.locator(".ax-from a").get_attribute("href").endswith("page.html#x-journey")


def test_the_explorer_speaks_the_pages_language(bare):
    page = bare.open(lab(), over="file", fragment=ALL, html='lang="zh-CN"')
    expect(page.locator(".ax-stage").first).to_have_text("得分")
    cell(page, 1, 0).click()
    expect(page.locator(".ax-sentence")).to_have_text("查询 journey 给键 Your 的权重是 0.1515。")
    expect(page.get_by_role("button", name="全部控件")).to_be_visible()
    expect(page.locator(".ax-root")).to_have_attribute("lang", "zh")
    texts = page.locator(".ax-controls, .ax-changes, .ax-inputs > summary").all_inner_texts()
    assert re.findall("[a-z]{3,}", " ".join(texts)) == []


def test_both_languages_have_the_same_phrases(inside):
    english, chinese = inside.evaluate("[{ ...inside.WORDS, ...inside.LAB_WORDS }, inside.CHINESE]")
    assert set(chinese) == set(english)
    places = re.compile(r"\{(\w+)\}")
    for key, text in english.items():
        assert set(places.findall(text)) == set(places.findall(chinese[key])), key


def test_pointing_at_a_print_lights_its_row_in_the_prints_of_the_record(bare, journey):
    record, tokens = journey
    other = trace(record.q * 2, record.k, record.v)
    views = [show(record, "weights", tokens=tokens), show(record, "scores"), show(other, "scores")]
    page = bare.open(*views)
    weights, scores, others = page.locator("attention-explorer").all()
    weights.locator('[data-row="2"][data-col="1"]').hover()
    lit = [f"{x:.4f}" for x in record.stage("scores")[2].tolist()]
    assert scores.locator(".ax-mate").all_text_contents() == lit
    assert others.locator(".ax-mate").count() == 0
    page.get_by_role("heading", level=1).hover()
    assert scores.locator(".ax-mate").count() == 0


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1000])
def test_axe_finds_nothing_with_all_controls(bare, theme, width):
    view = lab(words(keep=causal()), mistakes=["softmax-over-queries"])
    two = explore(projected_record(1), name="heads", select=(1, 1))
    fragment = (
        "#x-lab?all=1&mistake=softmax-over-queries&select=1,0&table=1&lines=1&edits=x.0.0.0:1"
    )
    size = {"width": width, "height": 900}
    page = bare.open(view, two, theme=theme, viewport=size, fragment=fragment)
    # An explorer far below the window has not started yet.
    page.locator("attention-explorer").last.scroll_into_view_if_needed()
    expect(page.locator(".ax-root")).to_have_count(2)
    page.get_by_role("button", name="all controls").last.click()
    for summary in page.locator(".ax-inputs > summary").all():
        summary.click()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_chosen_stage_is_where_it_was_when_controls_open(bare):
    page = bare.open(lab(), viewport={"width": 390, "height": 900})
    strip = page.locator(".ax-stage").first
    before = middle(strip)
    page.get_by_role("button", name="all controls").click()
    expect(page.locator('[data-control="dropout"]')).to_be_visible()
    assert middle(strip) == before


def test_a_long_map_is_pooled_as_the_reader_chooses_and_compared(bare):
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(4))
    page = bare.open(explore(trace(x, x, x), name="lab"), fragment=ALL)
    page.get_by_role("combobox", name="overview").select_option("mean")
    expect(page).to_have_url(re.compile("how=mean"))
    page.get_by_label("scale as a number").fill("2")
    page.get_by_label("scale as a number").press("Enter")
    page.get_by_role("button", name="compare").click()
    expect(page.locator("canvas.ax-canvas:visible")).to_have_count(2)
    expect(page.locator(".ax-said")).to_have_text("First stage that differs: scaled.")


def test_all_heads_follow_a_changed_number_and_one_is_picked(bare):
    page = bare.open(explore(projected_record(2), name="lab"), fragment=ALL)
    sheet = page.locator(".ax-heads canvas")
    expect(sheet).to_have_count(2)
    # An empty canvas is one colour.
    page.wait_for_function(
        """() => {
          const canvas = document.querySelectorAll(".ax-heads canvas")[1];
          const drawn = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(drawn.data.buffer)).size > 1;
        }"""
    )
    before = sheet.nth(1).evaluate("c => c.toDataURL()")
    open_inputs(page)
    write(page, "x.0.1.0", "5")
    page.wait_for_function(
        "was => document.querySelectorAll('.ax-heads canvas')[1].toDataURL() !== was", arg=before
    )
    page.locator(".ax-heads button").nth(1).click()
    expect(page.locator('[data-control="head"] select')).to_have_value("1")


def test_python_can_name_each_further_control():
    """`how` comes with long maps, and is shown with all controls alone; `link` is always shown."""
    texts = (path.read_text("utf-8") for path in (PAGE / "features").glob("*.js"))
    lists = [re.findall(r"onRequest = \[(.*)\]", text) for text in texts]
    names = {name.strip('" ') for names in chain(*lists) for name in names.split(",") if name}
    assert names | {"link"} == {*FURTHER, "how"}


def test_the_page_about_links_has_every_setting(inside):
    long, heads = torch.arange(80.0).view(40, 2), torch.arange(24.0).view(1, 2, 4, 3)
    records = (words(), trace(*[long] * 3), trace(*[heads] * 3))
    payloads = [explore(record).payload for record in records]
    payloads.append(explore(words(), other=words()).payload)
    settings = inside.evaluate(
        """(payloads) => payloads.flatMap((payload) => {
          const el = document.createElement("div");
          return Object.keys(new inside.Explorer(el, payload).settings);
        })""",
        payloads,
    )
    text = (PAGE.parents[2] / "book" / "lesson_links.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == {*settings} - {"draw"}
