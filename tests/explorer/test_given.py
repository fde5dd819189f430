"""Weights that came alone: what a view of them shows, and where it says that arithmetic ends."""

import re

import numpy as np
import pytest
import torch
import traitlets
from playwright.sync_api import expect

from attn_core.digits import fixed
from attn_core.views import explore
from tests.attn_core.reference import drawn
from tests.explorer.cases import decoded
from tests.explorer.conftest import faults

WORDS = ["the", "cat", "sat", "on", "it"]
ALONE = (
    "These are weights alone. No q and k came with them, so the arithmetic of each number ends at "
    "the number."
)


def weights(seed, *shape):
    return torch.softmax(3 * drawn(seed, *shape), -1).float()


LAYERS = tuple(weights(n, 1, 4, 5, 5) for n in range(3))


def test_a_tuple_of_layers_is_sent_as_it_is():
    payload = explore(LAYERS, tokens=WORDS).payload
    assert decoded(payload["weights"]).equal(torch.cat(LAYERS, 1))
    assert payload["heads"][4:6] == ["layer 1, head 0", "layer 1, head 1"]
    assert payload["view"]["show"] == ["heads", "lines"]
    assert payload["view"]["stages"] == ["weights"]
    assert not {"q", "k", "v"} & set(payload)


@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5), (3, 2, 4, 5)])
def test_a_tensor_may_have_two_to_four_axes(shape):
    given = weights(1, *shape)
    axes = (1,) * (4 - len(shape))
    assert decoded(explore(given).payload["weights"]).equal(given.view(*axes, *shape))
    assert decoded(explore(given.numpy()).payload["weights"]).equal(given.view(*axes, *shape))


def test_what_is_written_into_later_is_not_shown():
    given = weights(1, 4, 4)
    view, before = explore(given), given.clone()
    given.zero_()
    assert view.record.tile("weights", slice(None), slice(None)).equal(before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_rounds_rows_and_is_taken(dtype):
    payload = explore(weights(2, 64, 64).to(dtype)).payload
    assert payload["weights"]["dtype"] == ("float16" if dtype == torch.float16 else "float32")


def test_what_storing_costs_is_said():
    given = weights(3, 5, 5)
    view = explore(given, store="float16")
    error = (given.half().double() - given.double()).abs().max().item()
    assert view.payload["error"] == error > 0
    assert f"float16: no weight is off by more than {fixed(error, 6)}" in view.html


def test_without_scripts_there_is_its_table_and_on_paper_its_picture():
    given = weights(4, 2, 5, 5)
    view = explore(given, tokens=WORDS, select=(2, 1), head=1)
    assert fixed(given[1, 2, 1].item()) in view.html
    said = f"Query “sat” gives {fixed(given[1, 2, 1].item())} to key “cat”."
    assert said in view.picture.alt
    assert str(view) == "Explorer: weights, 5 queries × 5 keys, 2 heads"


@pytest.mark.parametrize(
    ("name", "value", "only"),
    [
        ("stage", "scores", "'weights'"),
        ("scale", 2.0, "1.0"),
        ("mask", "causal", "'given'"),
        ("drawn", "0.1", "''"),
        ("dropout", "0.5,1", "''"),
        ("edits", "q.0.0.0.0:1", "''"),
        ("compare", True, "False"),
    ],
)
def test_python_refuses_a_change_of_what_is_not_there(name, value, only):
    view = explore(weights(5, 3, 3))
    sentence = f"{name} must be {only} where there are only weights, got {value!r}"
    with pytest.raises(traitlets.TraitError, match=f"^{re.escape(sentence)}$"):
        setattr(view, name, value)


def test_the_page_shows_the_numbers_and_says_where_arithmetic_ends(bare):
    page = bare.open(explore(LAYERS, tokens=WORDS, name="given"), script="classic")
    expect(page.locator(".ax-said")).to_have_text(ALONE)
    page.get_by_role("gridcell", name="layer 1, head 2").click()
    page.locator('.ax-cell[data-row="3"][data-col="4"]').click()
    number = fixed(LAYERS[1][0, 2, 3, 4].item())
    expect(page.locator(".ax-sentence")).to_have_text(f"Query on gives {number} to key it.")
    expect(page.locator(".ax-tree")).to_have_text(f"weights[3, 4] = {number}, as it was given")
    page.get_by_role("button", name="lines", exact=True).click()
    page.get_by_role("img", name="Lines from queries on the left (5)").wait_for()
    page.get_by_label("sort by").select_option("own")
    first = page.get_by_role("listbox").get_by_role("option").first
    most = max((torch.cat(LAYERS, 1)[0, h].diagonal().mean().item(), h) for h in range(12))
    expect(first).to_have_accessible_name(
        f"layer {most[1] // 4}, head {most[1] % 4}, own token {most[0]:.2f}"
    )
    for name in ("scale", "mask", "all controls", "draw", "compare", "inputs"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    assert faults(page, ".ax-root") == []


def test_an_address_cannot_change_what_is_not_there(bare):
    view = explore(LAYERS[0], tokens=WORDS, name="given")
    page = bare.open(view, fragment="#x-given?stage=scores&scale=2&all=1", script="classic")
    said = page.locator(".ax-notice")
    expect(said).to_contain_text("stage must be one of weights, got scores")
    expect(said).to_contain_text("scale must be as given, for these are weights alone, got 2")
    expect(page.locator(".ax-said")).to_have_text(ALONE)


def test_rows_that_miss_1_are_said(bare):
    given = weights(6, 2, 5, 5)
    sink = explore(given * torch.tensor([0.5, 0.6, 0.7, 0.8, 0.9])[:, None], name="sink")
    dropped = explore(given * (given > 0.1) / 0.5, stage="dropped", name="dropped")
    page = bare.open(sink, dropped, script="classic")
    below = f"{ALONE} The rows of this head add up to 0.50 to 0.90: the rest of each went to no key"
    expect(page.locator(".ax-said").first).to_contain_text(below)
    sums = (given * (given > 0.1) / 0.5)[0].sum(-1)
    changed = f"Dropout has changed them: the rows of this head add up to {sums.min():.2f} to"
    expect(page.locator(".ax-said").nth(1)).to_contain_text(changed)
    page.locator("attention-explorer").nth(1).locator(".ax-cell").first.click()
    expect(page.locator(".ax-sentence").nth(1)).to_contain_text("After dropout query 0 gives")


def test_long_weights_are_drawn_on_a_map(bare):
    page = bare.open(explore(weights(7, 1, 40, 40), name="long"), script="classic")
    expect(page.locator("canvas.ax-canvas")).to_be_visible()
    expect(page.locator(".ax-said")).to_have_text(ALONE)


def test_in_chinese(bare):
    view = explore(LAYERS, tokens=WORDS, name="given")
    page = bare.open(view, script="classic", html='lang="zh-CN"')
    expect(page.locator(".ax-said")).to_contain_text("这里只有权重，没有 q 和 k")


def test_a_saved_file_is_alive_offline(browser, tmp_path):
    page = browser.new_context(offline=True).new_page()
    page.goto(explore(LAYERS, tokens=WORDS).save(tmp_path / "given.html").as_uri())
    expect(page.locator(".ax-said")).to_have_text(ALONE)
    page.context.close()


def test_the_widget_of_a_live_notebook_has_it(bare):
    """As one ES module, in which all parts are."""
    page = bare.open(explore(np.eye(3), name="live"), script="module")
    expect(page.locator(".ax-said")).to_have_text(ALONE)
