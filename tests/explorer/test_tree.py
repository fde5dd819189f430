"""Inputs at the ends of the written-out arithmetic: changed in place, by mouse and by keyboard."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import causal, toy, trace, workings
from attn_core.views import explore
from tests.explorer.cases import ROTATED, heads_of, projected_record, words
from tests.explorer.conftest import faults
from tests.explorer.test_page import cell, numbers, tree_lines, wanted_numbers


def opened(bare, record, fragment, theme="light", **how):
    view = explore(record, name="tree", **how)
    page = bare.open(view, fragment=f"#x-tree?all=1&{fragment}", theme=theme)
    tree_lines(page)
    return page


def leaf(page, name):
    """The line at the end of the arithmetic that begins so, and the inputs in it."""
    line = page.locator(".ax-tree .ax-leaf").filter(has_text=re.compile(f"^{re.escape(name)} ="))
    return line.first.locator("[data-edit]")


def write(page, place, text):
    place.click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_a_number_at_the_end_of_the_arithmetic_is_changed_there(bare):
    page = opened(bare, words(), "select=2,1", tokens=toy.journey().tokens)
    assert leaf(page, "q[2]").all_text_contents() == ["0.57", "0.85", "0.64"]
    write(page, leaf(page, "q[2]").nth(1), "−0.5")
    changed = words({(2, 1): -0.5})
    assert numbers(page) == wanted_numbers(changed, "weights")
    assert tree_lines(page) == str(workings(changed, "weights", 2, 1))
    expect(page.locator(".ax-changes")).to_have_text("You changed x[2, 1]. reset")
    expect(page).to_have_url(re.compile(r"edits=x\.0\.2\.1:-0\.5"))
    expect(leaf(page, "q[2]").nth(1)).to_be_focused()
    expect(leaf(page, "q[2]").nth(1)).to_have_attribute("title", "was 0.85")
    page.reload()
    assert numbers(page) == wanted_numbers(changed, "weights")


def test_with_a_source_x_the_matrices_and_the_bias_stand_in_the_line(bare):
    record = projected_record(3)
    page = opened(bare, record, "stage=output&select=2,1&head=1&batch=1")
    places = leaf(page, "v[0, 1]").evaluate_all("all => all.map((e) => e.dataset.edit)")
    wanted = [name for e in range(4) for name in (f"x.1.0.{e}", f"w_value.{e}.4")]
    assert places == [*wanted, "b_value.4"]
    source = record.source
    line = leaf(page, "v[0, 1]").all_text_contents()
    for text, place in zip(line, places, strict=True):
        name, *at = place.split(".")
        array = {"x": source.x, "w_value": source.w_value, "b_value": source.biases[2]}[name]
        number = array[tuple(int(n) for n in at)].item()
        assert float(text.strip("()")) == pytest.approx(number, abs=1e-4)
    write(page, leaf(page, "v[0, 1]").last, "7")
    biases = [bias.double() for bias in source.biases]
    biases[2] = biases[2].clone()
    biases[2][4] = 7
    parts = []
    for matrix, bias in zip((source.w_query, source.w_key, source.w_value), biases, strict=True):
        projected = source.x.double() @ matrix.double() + bias
        parts.append(projected.float().view(2, 5, 2, 3).transpose(1, 2).contiguous())
    changed = trace(*parts, keep=causal())
    cells = torch.tensor([[float(x) for x in row] for row in numbers(page)])
    torch.testing.assert_close(cells, changed.stage("output")[1, 1], atol=1e-4, rtol=1e-4)
    expect(page.locator(".ax-changes")).to_contain_text("You changed b_value[4].")


def test_a_number_below_a_rotated_one_is_changed_in_its_line(bare):
    record = projected_record(3, rotary=ROTATED[1])
    page = opened(bare, record, "stage=scores&select=2,1&head=1&batch=1")
    line = leaf(page, "projected_k[1, 0]").first
    assert line.get_attribute("data-edit") == "x.1.1.0"
    write(page, leaf(page, "projected_k[1, 0]").nth(1), "2")
    source = record.source.each(torch.clone)
    source.w_key[0, 2] = 2
    changed = trace(*heads_of(source, 2), keep=causal())
    cells = torch.tensor([[float(x) for x in row] for row in numbers(page)])
    torch.testing.assert_close(cells, changed.stage("scores")[1, 1], atol=1e-4, rtol=1e-4)


def test_by_keyboard(bare):
    page = opened(bare, words(), "select=2,1")
    stops = page.locator('.ax-tree .ax-leaf [data-edit][tabindex="0"]')
    assert stops.count() == page.locator(".ax-tree .ax-leaf:has([data-edit])").count()
    leaf(page, "k[1]").first.focus()
    for key in ("ArrowRight", "End", "ArrowLeft", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    field = page.locator(".ax-tree input")
    expect(field).to_have_value("0.87")
    page.keyboard.press("Escape")
    expect(leaf(page, "k[1]").nth(1)).to_be_focused()
    for key in ("2", ".", "5", "Enter"):
        page.keyboard.press(key)
    assert tree_lines(page) == str(workings(words({(1, 1): 2.5}), "weights", 2, 1))
    expect(leaf(page, "k[1]").nth(1)).to_be_focused()


def test_what_is_no_number_is_said_beside_it(bare):
    page = opened(bare, words(), "select=2,1")
    before = numbers(page)
    write(page, leaf(page, "q[2]").first, "two")
    note = page.locator(".ax-leaf .ax-notice")
    expect(note).to_have_text("x[2, 0] must be a number, got two.")
    expect(page.locator(".ax-tree input")).to_have_value("two")
    assert numbers(page) == before
    page.keyboard.press("Escape")
    expect(note).to_have_count(0)
    expect(leaf(page, "q[2]").first).to_have_text("0.57")


def test_a_negative_number_is_edited_without_its_brackets(bare):
    record = projected_record(7)
    page = opened(bare, record, "select=3,2")
    line = leaf(page, "q[3, 0]")
    at = next(n for n, text in enumerate(line.all_text_contents()) if text.startswith("(-"))
    text = line.nth(at).text_content()
    line.nth(at).click()
    expect(page.locator(".ax-tree input")).to_have_value(text.strip("()"))


def test_only_where_inputs_can_be_changed(bare, explorer):
    page = bare.open(explorer)
    cell(page, 2, 1).click()
    tree_lines(page)
    assert page.locator(".ax-tree [data-edit]").count() == 0


def test_what_is_open_stays_open_when_a_number_changes(bare, explorer):
    page = bare.open(explorer)
    cell(page, 2, 1).click()
    tree_lines(page)
    depth = page.locator(".ax-tree details[open]").count()
    assert depth > 2
    page.get_by_role("button", name="scale 1").click()
    expect(page.locator(".ax-tree details[open]")).to_have_count(depth)
    page.locator(".ax-tree details[open] details[open] > summary").first.click()
    page.get_by_role("button", name="1/√D").click()
    expect(page.locator(".ax-tree > details > .ax-parts > details[open]")).to_have_count(0)


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing(bare, theme):
    page = opened(bare, projected_record(3), "select=2,1&edits=x.0.2.1:-0.5", theme=theme)
    leaf(page, "q[2, 0]").first.hover()
    rules = {"label-content-name-mismatch": {"enabled": True}}
    assert faults(page, rules=rules) == []
    leaf(page, "q[2, 0]").first.click()
    expect(page.locator(".ax-tree input")).to_be_focused()
    assert faults(page, rules=rules) == []


def test_of_many_heads_only_the_values_that_were_sent_can_be_changed(bare):
    made = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(1, 14, 4, 3, generator=made) for _ in range(3))
    page = opened(bare, trace(q, k, v), "stage=output&select=2,1", head=5)
    write(page, leaf(page, "v[3, 1]").first, "2")
    expect(page.locator(".ax-changes")).to_have_text("You changed v[5, 3, 1]. reset")
    v[0, 5, 3, 1] = 2
    assert numbers(page) == wanted_numbers(trace(q, k, v), "output", head=5)
    page.locator(".ax-inputs > summary").click()
    captions = page.locator(".ax-input caption")
    expect(captions).to_have_text(["q", "k", "v"])
    page.locator('[data-control="head"] select').select_option("2")
    expect(captions).to_have_text(["q", "k"])


def test_terms_that_a_sum_leaves_out_are_written_when_asked_for(bare):
    x = torch.arange(60.0).sin().round(decimals=2).reshape(3, 20)
    record = trace(x, x, x)
    page = opened(bare, record, "stage=scores&select=2,1")
    line = page.locator(".ax-tree summary").first
    expect(leaf(page, "q[2]")).to_have_count(13)
    assert faults(page, ".ax-tree") == []
    page.get_by_role("button", name="Write out all terms").first.click()
    expect(line).to_be_focused()
    assert line.text_content().count("·") == 20
    assert leaf(page, "q[2]").all_text_contents() == [f"{number:g}" for number in x[2].tolist()]
    assert page.locator(".ax-tree .ax-rest").count() == 0
