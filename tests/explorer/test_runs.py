"""Two runs, or two models, and their difference."""

import re

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from attn_core import causal, trace, watch, workings
from attn_core.digits import fixed
from attn_core.views import explore, open_attention
from tests.attn_core.reference import drawn
from tests.explorer.cases import decoded
from tests.explorer.conftest import faults

WORDS = list("abcde")


def made(seed, T=5, H=3, D=4, **how):
    return trace(*[drawn(seed + n, 1, H, T, D).float() for n in range(3)], **how)


ONE, OTHER = made(1, keep=causal()), made(7, D=4, keep=causal())
GAP = ONE.stage("weights") - OTHER.stage("weights")


@pytest.fixture
def compared():
    names = ["plain", "tuned"]
    return explore(
        ONE, other=OTHER, tokens=WORDS, run_names=names, show=["heads", "lines"], name="two"
    )


def cell(page, run, i, j):
    return page.locator(f'[data-run={run}] .ax-cell[data-row="{i}"][data-col="{j}"]')


def test_the_payload_has_both_runs(compared):
    runs = compared.payload["runs"]
    assert runs["names"] == ["plain", "tuned"]
    assert decoded(runs["other"]["k"]).equal(OTHER.k)
    assert runs["other"]["keep"] == {"kind": "causal"}


def test_three_maps_show_both_runs_and_the_first_minus_the_second(bare, compared):
    page = bare.open(compared, script="classic")
    captions = page.locator(".ax-caption:visible")
    left = [captions.nth(n).bounding_box()["x"] for n in range(3)]
    order = sorted(range(3), key=left.__getitem__)
    assert [captions.nth(n).inner_text() for n in order] == ["plain", "tuned", "plain − tuned"]
    for run, numbers in (("first", ONE), ("second", OTHER)):
        weights = numbers.stage("weights")[0, 0]
        expect(cell(page, run, 3, 1)).to_have_text(fixed(weights[3, 1].item()))
    expect(cell(page, "difference", 3, 1)).to_have_text(fixed(GAP[0, 0, 3, 1].item()))
    signs = {True: [], False: []}
    for i in range(5):
        for j in range(i + 1):
            gap = GAP[0, 0, i, j].item()
            if abs(gap) > 0.1:
                colour = cell(page, "difference", i, j).evaluate("x => x.style.backgroundColor")
                red, _, blue = map(int, re.findall(r"\d+", colour)[:3])
                signs[gap > 0].append(blue > red)
    assert set(signs[True]) == {True}
    assert set(signs[False]) == {False}


def test_the_arithmetic_of_each_run_is_that_of_its_record(bare, compared):
    page = bare.open(compared, script="classic")
    tree = page.locator(".ax-tree > details > summary")
    for run, record in (("second", OTHER), ("first", ONE)):
        cell(page, run, 4, 2).click()
        expect(tree).to_have_text(str(workings(record, "weights", 4, 2, head=0)).splitlines()[0])
    cell(page, "difference", 4, 2).click()
    ours, theirs, gap = (
        fixed(x[0, 0, 4, 2].item()) for x in (ONE.stage("weights"), OTHER.stage("weights"), GAP)
    )
    said = f"e, c: {ours} in plain, {theirs} in tuned. The difference is {gap}."
    expect(page.locator(".ax-sentence")).to_have_text(said)
    expect(tree).to_have_text(f"difference[4, 2] = {ours} - {theirs} = {gap}")
    lines = page.locator(".ax-parts > details > summary")
    for n, (name, record) in enumerate({"plain": ONE, "tuned": OTHER}.items()):
        line = str(workings(record, "weights", 4, 2, head=0)).splitlines()[0]
        expect(lines.nth(n)).to_have_text(f"{name}: {line}")
    expect(page.locator(".ax-formula")).to_have_text(
        "weights = the number of plain minus that of tuned"
    )
    expect(page).to_have_url(re.compile(r"#x-two\?select=4,2&run=difference$"))
    expect(page.locator(".ax-vectors")).to_be_hidden()
    assert faults(page, ".ax-root") == []


def test_heads_are_sorted_by_how_much_the_runs_differ(bare, compared):
    page = bare.open(compared, script="classic")
    page.get_by_label("sort by").select_option("distance")
    distances = (GAP[0].abs().sum(-1) / 2).mean(-1)
    order = distances.argsort(descending=True).tolist()
    for run in ("first", "difference"):
        page.locator("select[aria-label=run]").select_option(run)
        for n, head in enumerate(order):
            name = f"{head}: head {head}, difference of the runs {distances[head]:.2f}"
            expect(page.get_by_role("listbox", name="heads").get_by_role("option").nth(n)
                   ).to_have_accessible_name(name)  # fmt: skip


def test_the_lines_of_a_difference_have_the_colour_of_their_sign(bare, compared):
    page = bare.open(compared, script="classic", fragment="#x-two?run=difference&lines=1")
    drawn_lines = page.locator(".ax-between g:not([style*=none]) line")
    shown = GAP[0, 0].abs() >= 0.01
    expect(page.locator(".ax-line-less")).to_have_count(int((shown & (GAP[0, 0] < 0)).sum()))
    expect(drawn_lines).to_have_count(int(shown.sum()))
    page.locator(".ax-lines-token.ax-q").nth(4).hover()
    most = GAP[0, 0, 4].abs().argmax().item()
    said = f"e differs most at {WORDS[most]} {GAP[0, 0, 4, most]:.2f}"
    expect(page.locator(".ax-lines p").last).to_contain_text(said)


def test_a_changed_scale_is_that_of_both(bare, compared):
    page = bare.open(compared, script="classic", fragment="#x-two?scale=2")
    for run, record in (("first", ONE), ("second", OTHER)):
        there = trace(record.q, record.k, record.v, keep=causal(), scale=2.0).stage("weights")
        expect(cell(page, run, 3, 1)).to_have_text(fixed(there[0, 0, 3, 1].item()))


def test_each_run_has_its_own_settings(bare):
    plain, other = made(3), made(4, scale=0.25, softcap=3.0, bias=drawn(9, 5, 5).float())
    page = bare.open(explore(plain, other=other, name="two"), script="classic")
    for run, record in (("first", plain), ("second", other)):
        number = fixed(record.stage("weights")[0, 0, 2, 3].item())
        expect(cell(page, run, 2, 3)).to_have_text(number)


def test_what_only_one_mask_hides_is_no_number(bare):
    page = bare.open(explore(ONE, other=made(7), name="two"), fragment="#x-two?stage=masked")
    expect(cell(page, "difference", 0, 1)).to_have_text("-inf")
    page = bare.open(explore(made(7), other=ONE, name="two"), fragment="#x-two?stage=masked")
    expect(cell(page, "difference", 0, 1)).to_have_text("inf")
    both = bare.open(explore(ONE, other=OTHER, name="two"), fragment="#x-two?stage=masked")
    expect(cell(both, "difference", 0, 1)).to_have_text("-inf")


def test_weights_alone_are_compared_too(bare):
    first, second = (drawn(n, 5, 5).softmax(-1).float() for n in (1, 2))
    page = bare.open(explore(first, other=second, name="two"), script="classic")
    cell(page, "difference", 1, 3).click()
    numbers = [fixed(x[1, 3].item()) for x in (first, second, first.double() - second.double())]
    expect(page.locator(".ax-tree")).to_contain_text(
        f"difference[1, 3] = {numbers[0]} - {numbers[1]} = {numbers[2]}"
    )
    expect(page.locator(".ax-tree")).to_contain_text(f"second: weights[1, 3] = {numbers[1]}, as it")


def test_long_maps_have_theirs(bare):
    x, y = (drawn(n, 40, 4).float() for n in (1, 2))
    view = explore(trace(x, x, x), other=trace(y, y, y), name="two", show=["heads"])
    page = bare.open(view, script="classic")
    expect(page.locator("canvas.ax-canvas")).to_have_count(3)


def run_of(model, seed):
    with torch.no_grad(), watch(model) as seen:
        model(drawn(seed, 1, 5, 8).float())
    return seen


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def test_two_runs_of_a_model_stand_side_by_side(model):
    first, second = run_of(model, 1), run_of(model, 2)
    opened = open_attention(first, other=second, run_names=("cat", "dog"))
    runs = opened[0].payload["runs"]
    assert runs["names"] == ["cat", "dog"]
    wanted = torch.cat([second[f"layers.{n}.self_attn"].q for n in range(2)], 1)
    assert decoded(runs["other"]["q"]).equal(wanted)


def test_what_has_no_counterpart_is_shown_alone_with_a_warning():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = (nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))

        def forward(self, x, y):
            return self.a(x, x, x)[0], self.b(y, y, y)[0]

    both, seen = Both(), []
    for T in (4, 6):
        with torch.no_grad(), watch(both) as one:
            both(drawn(1, 1, 5, 8).float(), drawn(T, 1, T, 8).float())
        seen.append(one)
    with pytest.warns(
        UserWarning, match=r"^shown alone, as other has none of its size: b: 1 layer"
    ):
        opened = open_attention(seen[0], other=seen[1])
    assert ["runs" in each.payload for each in opened] == [True, False]
