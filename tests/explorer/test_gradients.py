"""The way back in the explorer: its stages, their numbers, and what the reader changes."""

import re

import numpy as np
import pytest
import torch
import traitlets
from playwright.sync_api import expect

from attn_core import Dropout, causal, trace
from attn_core.digits import fixed
from attn_core.views import backward, explore
from attn_core.views.wide import in_float64
from tests.explorer.cases import decoded
from tests.explorer.conftest import faults
from tests.explorer.test_colours import EYES, lab
from tests.explorer.test_page import cell, choose, numbers
from tests.explorer.test_script import asked_scripts

WORDS = list("abcde")


def drawn(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def made(**how):
    return trace(*[drawn(seed, 2, 2, 5, 3) for seed in range(3)], **how)


GRAD = drawn(9, 2, 2, 5, 3)


def shown(record=None, **how):
    return explore(
        record or made(keep=causal()), grad_output=GRAD, tokens=WORDS, name="back", **how
    )


def wanted(record, stage, batch=0, head=0):
    grads = in_float64(record).gradients(GRAD.double())
    whole = getattr(grads, stage) if stage in backward.OF_INPUTS else grads.stage(stage)
    return [[fixed(x) for x in row] for row in whole[batch, head].tolist()]


def test_the_payload_has_the_gradient_of_the_output_and_all_values():
    record = trace(*[drawn(seed, 1, 13, 2, 3) for seed in range(3)])
    grad = drawn(3, 1, 13, 2, 3)
    alone = explore(record)
    both = explore(record, grad_output=grad)
    assert "grad_output" not in alone.payload
    assert decoded(both.payload["grad_output"]).equal(grad)
    assert (alone.payload["v"]["heads"], "heads" in both.payload["v"]) == ([0], False)
    halves = explore(record, grad_output=grad, store="float16")
    assert halves.payload["grad_output"]["dtype"] == "float16"


def test_each_gradient_is_attn_cores(bare):
    record = made(keep=causal(), dropout=Dropout(0.4, 7), scale=-0.5)
    page = bare.open(shown(record), fragment="#x-back?batch=1&head=1", over="file")
    for stage in backward.STAGES:
        choose(page, stage)
        assert numbers(page) == wanted(record, stage, 1, 1), stage


def test_gradients_follow_what_the_reader_chooses(bare):
    page = bare.open(shown(made()), fragment="#x-back?stage=grad_scores&all=1")
    page.get_by_label("mask").last.select_option("causal")
    assert numbers(page) == wanted(made(keep=causal()), "grad_scores")
    page.get_by_label("scale as a number").fill("2")
    page.get_by_label("scale as a number").press("Enter")
    choose(page, "grad_k")
    assert numbers(page) == wanted(made(keep=causal(), scale=2.0), "grad_k")
    page.get_by_label("p, how likely").fill("0.5")
    page.get_by_label("p, how likely").press("Enter")
    choose(page, "grad_q")
    record = made(keep=causal(), scale=2.0, dropout=Dropout(0.5, 0))
    assert numbers(page) == wanted(record, "grad_q")


def test_a_gradient_opens_to_its_arithmetic_and_says_where_a_step_leads(bare):
    record = made(keep=causal())
    page = bare.open(shown(record), fragment="#x-back?stage=grad_masked&select=2,1")
    line = record.gradients(GRAD).workings("grad_masked", 2, 1, batch=0, head=0).written(0)
    expect(page.locator(".ax-tree > details > summary")).to_have_text(line)
    sign = float(line.rpartition(" = ")[2]) < 0
    said = f"a step against it makes the number {'larger' if sign else 'smaller'}."
    expect(page.locator(".ax-sentence")).to_contain_text(said)
    cell(page, 0, 2).click()
    hidden = "grad_masked[0, 2] = 0, because the mask does not keep it"
    expect(page.locator(".ax-tree")).to_have_text(hidden)
    expect(page.locator(".ax-sentence")).to_contain_text("so a step leaves the number as it is")


def test_a_gradient_is_red_where_it_is_positive_and_blue_where_it_is_negative(bare):
    """In the cells and in their legend, which says what the sign means."""
    record = made(keep=causal())
    page = bare.open(shown(record), fragment="#x-back?stage=grad_scaled")
    read = "x => getComputedStyle(x)"
    for i, row in enumerate(wanted(record, "grad_scaled")):
        for j, number in enumerate(row):
            colour = cell(page, i, j).evaluate(f"{read}.backgroundColor")
            red, _, blue = map(int, re.findall(r"\d+", colour)[:3])
            if abs(float(number)) > 0.1:
                assert (red > blue) == (float(number) > 0), (i, j)
    stops = re.findall(r"\d+", page.locator(".ax-bar").evaluate(f"{read}.backgroundImage"))
    assert int(stops[0]) < int(stops[2])
    assert int(stops[-3]) > int(stops[-1])
    expect(page.locator(".ax-legend")).to_contain_text("negative, a step raises the number")
    choose(page, "weights")
    expect(page.locator(".ax-legend")).not_to_contain_text("step")


def test_what_is_shown_beside_a_gradient_knows_its_rows_and_columns(bare):
    """The table, the lines, the small heads, and a second map have no query where a key is."""
    q, k, v = drawn(1, 1, 2, 3, 4), drawn(2, 1, 2, 5, 4), drawn(3, 1, 2, 5, 2)
    record = trace(q, k, v)
    view = explore(
        record, grad_output=drawn(4, 1, 2, 3, 2), tokens=list("abc"), key_tokens=list("vwxyz"),
        name="back", show=["lines", "table", "heads"],
    )  # fmt: skip
    asked = "stage=grad_v&select=4,1&table=1&lines=1&compare=1&scale=2"
    page = bare.open(view, fragment=f"#x-back?{asked}")
    sides = page.locator(".ax-grid:visible").last.locator(".ax-side")
    assert sides.all_text_contents() == list("vwxyz")
    twin = page.locator(".ax-twin")
    assert twin.locator("tbody th").all_text_contents() == list("vwxyz")
    expect(twin.locator("caption")).to_have_text("grad_v: keys in rows, value columns in columns")
    cell(page, 2, 1).first.click()
    expect(page.locator(".ax-sentence")).to_contain_text("the gradient of column 1 of x is")
    expect(page.locator(".ax-lines-token[aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".ax-notice")).to_be_hidden()
    choose(page, "weights")
    expect(page.locator(".ax-sentence")).to_contain_text("Query c gives")
    expect(page.locator(".ax-lines-token[aria-pressed=true]")).to_have_count(2)


def test_a_long_map_of_gradients(bare):
    q, k, v, grad = (
        drawn(n, *size).double() for n, size in enumerate([(40, 4), (50, 4), (50, 3), (40, 3)])
    )
    record = trace(q, k, v)
    view = explore(record, grad_output=grad, name="back", show=["table"])
    page = bare.open(view, fragment="#x-back?stage=grad_k&select=49,2&table=1")
    canvas = page.locator("canvas.ax-canvas")
    expect(canvas).to_have_attribute(
        "aria-label", re.compile(r"keys in rows \(50\), key columns in columns \(4\)")
    )
    chosen = record.gradients(grad).grad_k[49, 2]
    expect(page.locator(".ax-twin .ax-chosen")).to_have_text(fixed(chosen.item()))


def test_the_numbers_of_another_head_are_changed_where_they_are(bare):
    """Heads that share their keys add up in grad_k: a line ends at the query of its own head."""
    q, k, v = drawn(1, 1, 2, 3, 2), drawn(2, 1, 1, 3, 2), drawn(3, 1, 1, 3, 2)
    record, grad = trace(q, k, v), drawn(4, 1, 2, 3, 2)
    page = bare.open(explore(record, grad_output=grad, name="back"), fragment="#x-back?all=1")
    choose(page, "grad_k")
    cell(page, 2, 1).click()
    line = record.gradients(grad).workings("grad_k", 2, 1, batch=0, head=0)
    heads = page.locator(".ax-tree > details > .ax-parts > details")
    expect(heads.locator("> summary")).to_have_text([part.text for part in line.parts])
    heads.last.locator("> summary").click()
    edited = heads.last.locator("[data-edit]")
    assert edited.first.get_attribute("data-edit") == "q.0.1.0.1"
    assert edited.first.inner_text() == fixed(q[0, 1, 0, 1].item())


def test_only_an_explorer_of_gradients_loads_them(bare):
    page = bare.open(explore(made(), name="plain"), over="file")
    expect(page.locator(".ax-grid td").first).to_be_visible()
    expect(page.locator(".ax-turn")).to_have_count(0)
    assert asked_scripts(bare) == ["explorer.js"]
    page = bare.open(shown(), over="file")
    expect(page.locator(".ax-turn")).to_have_text("and back")
    assert asked_scripts(bare) == ["explorer.js"] * 2 + ["explorer-gradients.js"]


def test_an_author_chooses_among_the_stages_of_both_ways(bare):
    page = bare.open(shown(stages=["weights", "grad_scores"], hide=["all"]))
    labels = page.locator(".ax-stage:visible")
    assert [label.inner_text().strip() for label in labels.all()] == ["weights", "grad_scores"]


# The stages to which no arrow leads.
LED_TO_BY_NONE = """() => [...document.querySelectorAll(".ax-stage")]
  .filter((e) => e.offsetParent && !getComputedStyle(e, "::before").content.includes("→"))
  .map((e) => e.textContent)"""


def test_no_arrow_leads_from_the_output_or_from_one_input_to_another(bare):
    page = bare.open(shown())
    expect(page.locator(".ax-turn")).to_be_visible()
    assert page.evaluate(LED_TO_BY_NONE) == ["scores", "grad_output", "grad_k", "grad_v"]
    page = bare.open(shown(stages=["weights", "grad_scores", "grad_q"]))
    expect(page.locator(".ax-turn")).to_be_visible()
    assert page.evaluate(LED_TO_BY_NONE) == ["weights", "grad_scores"]


def test_in_chinese(bare):
    page = bare.open(shown(), html='lang="zh-CN"', fragment="#x-back?stage=grad_q&select=1,0")
    expect(page.locator(".ax-sentence")).to_contain_text(re.compile("q 的梯度：b 第 0 列的梯度是"))
    assert not re.search("[a-z]{5}", page.locator(".ax-formula").inner_text())


@pytest.mark.gate
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_no_fault_and_fits(bare, theme, width):
    how = {"viewport": {"width": width, "height": 800}, "color_scheme": theme}
    page = bare.open(shown(), fragment="#x-back?stage=grad_scores&select=2,0&all=1", **how)
    expect(page.locator(".ax-turn")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(page) == []


def test_python_follows_a_stage_of_the_way_back():
    view = shown()
    view.stage = "grad_k"
    view.select = [4, 2]
    with pytest.raises(traitlets.TraitError, match=r"select.s column must be .* below 3"):
        view.select = [4, 3]
    with pytest.raises(traitlets.TraitError, match="as no grad_output was given, got 'grad_k'"):
        explore(made()).stage = "grad_k"


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ramp", ["GRADIENT_HEAT", "GRADIENT_CELLS"])
def test_the_colours_of_a_gradient_show_its_sign_and_that_it_is_one(inside, ramp, mode, eye):
    """Unlike those of its negative, and of a number on the way forward."""
    asked = """(ramp) => Object.fromEntries(Object.entries(inside[ramp]).map(([mode, sides]) =>
        [mode, Object.fromEntries(Object.entries(sides).map(([side, stops]) => [side,
            Array.from({ length: 21 }, (_, n) => inside.mix(stops, n / 20))]))]))"""
    back, forth = (inside.evaluate(asked, name)[mode] for name in (ramp, ramp[9:]))
    more, less = (lab(back[side], eye) for side in ("more", "less"))
    assert np.linalg.norm(more - less, axis=1)[5:].min() > 12
    for side, own in (("more", more), ("less", less)):
        lightness = np.diff(own[:, 0])
        assert all(lightness < 0) if mode == "light" else all(lightness > 0), side
        assert np.linalg.norm(own - lab(forth[side], eye), axis=1)[5:].min() > 8, side
