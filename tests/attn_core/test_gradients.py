"""The backward pass as a record, against autograd through whole maps and finite differences."""

import copy
import math
import pickle
from itertools import product

import pytest
import torch
from hypothesis import given, settings

from attn_core import AttentionTrace, Dropout, alibi, causal, padding, relative, trace, window
from attn_core.gradients.cells import STAGES
from attn_core.gradients.inputs import unrotated
from attn_core.rotary import Rotary
from attn_core.source import Projection
from tests.attn_core.reference import cases, drawn

MAPS = STAGES[1:]


def by_autograd(record, grad_output):
    """Every gradient of a record's call, from torch's autograd on whole maps in float64."""
    q, k, v = (x.detach().double().requires_grad_() for x in (record.q, record.k, record.v))
    added = {name: x.detach().double().requires_grad_() for name, x in record.added().items()}
    call = record.with_added(**added)
    B, H, L, S = record.shape
    found = {"q": q, "k": k, "v": v, **added}
    found["scores"] = q @ k.repeat_interleave(record.group, 1).mT
    cells = found["scores"] * record.scale
    if record.softcap is not None:
        cells = record.softcap * torch.tanh(cells / record.softcap)
    if call.bias is not None:
        cells = cells + call.bias.dense(L, S, torch.float64)
    found["scaled"] = cells.expand(B, H, L, S).clone()
    keep = torch.ones(1, 1, L, S, dtype=torch.bool)
    if record.keep is not None:
        keep = record.keep.dense(L, S)
    found["masked"] = found["scaled"].masked_fill(~keep, -torch.inf)
    highest = found["masked"].detach().amax(-1, keepdim=True)
    if "sinks" in added:
        sinks = added["sinks"].view(-1, 1, 1)
        highest = torch.maximum(highest, sinks.detach())
    highest = highest.masked_fill(highest == -torch.inf, 0.0)
    exps = (found["masked"] - highest).exp()
    total = exps.sum(-1, keepdim=True)
    if "sinks" in added:
        total = total + (sinks - highest).exp()
    found["weights"] = exps / total.masked_fill(total == 0, 1.0)
    found["dropped"] = found["weights"] * 1
    if record.dropout is not None:
        survives = record.dropout.survives(*record.everything)
        found["dropped"] = found["weights"] * survives / (1 - record.dropout.p)
    found["output"] = found["dropped"] @ v.repeat_interleave(record.group, 1)
    pull = grad_output.double().reshape(found["output"].shape)
    grads = torch.autograd.grad(
        found["output"], list(found.values()), pull, allow_unused=True, materialize_grads=True
    )
    made = {name: grad.detach() for name, grad in zip(found, grads, strict=True)}
    made["row_dot"] = (found["weights"] * made["weights"]).sum(-1).detach()
    return made


def assert_same(got, wanted, atol=1e-10):
    torch.testing.assert_close(got.reshape(wanted.shape).double(), wanted, rtol=0, atol=atol)


def assert_all_same(record, grad_output, atol=1e-10):
    grads, wanted = record.gradients(grad_output), by_autograd(record, grad_output)
    for name in STAGES:
        assert_same(grads.stage(name), wanted[name.removeprefix("grad_")], atol)
    for name in "qkv":
        got = getattr(grads, f"grad_{name}")
        assert got.dtype == record.float_type
        assert_same(got, wanted[name], atol)
    assert_same(grads.row_dot, wanted["row_dot"], atol)
    if record.sinks is not None:
        assert_same(grads.grad_sinks, wanted["sinks"], atol)
    for name, tensor in ({} if record.bias is None else grads.grad_bias.tensors()).items():
        # As many summands as the map has cells.
        assert_same(tensor, wanted[name], atol * 10)
    return grads


class TestByHand:
    """Two words, small fractions: P = ¼, ¾ / ½, ½, and targets 1 and 4."""

    q = torch.tensor([[3.0], [1.0]], dtype=torch.float64).log()
    k = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    v = torch.tensor([[0.0], [4.0]], dtype=torch.float64)
    target = torch.tensor([[1.0], [4.0]], dtype=torch.float64)

    def grads(self, keep=None):
        record = trace(self.q, self.k, self.v, scale=1.0, keep=keep)
        return record.gradients(record.output - self.target)

    def test_every_number(self):
        grads = self.grads()
        for got, wanted in {
            "grad_output": [[2], [-2]],
            "grad_dropped": [[0, 8], [0, -8]],
            "grad_weights": [[0, 8], [0, -8]],
            "grad_masked": [[-1.5, 1.5], [2, -2]],
            "grad_scaled": [[-1.5, 1.5], [2, -2]],
            "grad_scores": [[-1.5, 1.5], [2, -2]],
        }.items():
            assert_same(grads.stage(got), torch.tensor(wanted, dtype=torch.float64))
        ln3 = math.log(3)
        for got, wanted in (
            (grads.row_dot, [6, -4]),
            (grads.grad_q, [[1.5], [-2]]),
            (grads.grad_k, [[-1.5 * ln3], [1.5 * ln3]]),
            (grads.grad_v, [[-0.5], [0.5]]),
        ):
            assert_same(got, torch.tensor(wanted, dtype=torch.float64))

    def test_a_word_that_sees_only_itself_teaches_its_query_nothing(self):
        grads = self.grads(causal())
        assert grads.stage("grad_scores")[0].tolist() == [0, 0]
        for got, wanted in (
            (grads.grad_q, [[0], [-2]]),
            (grads.grad_k, [[0], [0]]),
            (grads.grad_v, [[-2], [-1]]),
        ):
            assert_same(got, torch.tensor(wanted, dtype=torch.float64))


KEEPS = {
    "none": lambda L, S: None,
    "causal": lambda L, S: causal(),
    "window and padding": lambda L, S: window(9, 2) & padding([S - 2, 0]),
    "cells": lambda L, S: drawn(7, L, S) > 0.5,
}
ADDED = {
    "nothing": lambda L, S: {},
    "softcap and a table": lambda L, S: {"softcap": 0.8, "bias": drawn(5, 2, 1, L, S)},
    "sinks": lambda L, S: {"sinks": drawn(6, 4)},
    "all": lambda L, S: {
        "bias": alibi(drawn(5, 4).abs()) + relative(drawn(6, 4, 7)) + drawn(8, S),
        "softcap": 2.0,
        "sinks": drawn(7, 4),
    },
}
# Some cells; more rows than a tile has; more keys than a block has.
SIZES = [(4, 6), (70, 140), (33, 2080)]


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(
    ("heads_of_keys", "dropout"),
    [(4, None), (2, Dropout(0.3, 5))],
    ids=["", "shared keys and dropout"],
)
def test_equals_autograd(size, keep, added, heads_of_keys, dropout):
    L, S = size
    q = drawn(1, 2, 4, L, 3)
    k, v = drawn(2, 2, heads_of_keys, S, 3), drawn(3, 2, heads_of_keys, S, 2)
    how = {"keep": KEEPS[keep](*size), "dropout": dropout, **ADDED[added](*size)}
    record = trace(q, k, v, scale=0.7, **how)
    assert_all_same(record, drawn(9, 2, 4, L, 2))


@pytest.mark.gate
@settings(max_examples=100)
@given(cases(dtypes=(torch.float64,), most=5, with_added=True))
def test_equals_autograd_in_every_rank(case):
    record = case.trace()
    grad_output = drawn(9, *record.output.shape)
    grads = assert_all_same(record, grad_output, atol=1e-9)
    for name in "qkv":
        assert getattr(grads, f"grad_{name}").shape == getattr(case, name).shape
    for name in MAPS:
        assert grads.stage(name).shape == record.stage("weights").shape


@settings(max_examples=40)
@given(cases(dtypes=(torch.float16, torch.bfloat16, torch.float32), most=5, with_added=True))
def test_float32_at_least(case):
    record = case.trace()
    assert_all_same(record, drawn(9, *record.output.shape).to(record.v.dtype), atol=2e-4)


def test_differences_confirm_it():
    """Of a loss, from outputs alone."""
    q, k, v = drawn(1, 1, 4, 3, 2), drawn(2, 1, 2, 4, 2), drawn(3, 1, 2, 4, 2)
    how = {"keep": causal(), "bias": alibi([0.5, 0.25, 0.1, 0.0]), "softcap": 1.5}
    how |= {"sinks": drawn(4, 4), "dropout": Dropout(0.3, 1)}
    target = drawn(5, 1, 4, 3, 2)

    def loss(*qkv):
        return (trace(*qkv, **how).output - target).square().sum().item() / 2

    record = trace(q, k, v, **how)
    grads = record.gradients(record.output - target)
    for n, name in enumerate("qkv"):
        got = getattr(grads, f"grad_{name}")
        for place in product(*(range(size) for size in got.shape)):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [x.clone() for x in (q, k, v)]
                moved[n][place] += step
                ends.append(loss(*moved))
            assert got[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("dropout", [None, Dropout(0.5, 3)], ids=["", "dropout"])
def test_hidden_cells_and_rows_that_keep_nothing_get_exactly_0(dropout):
    keep = drawn(4, 40, 60) > 0.3
    keep[7] = False
    q, k, v = (drawn(seed, size, 8).float() for seed, size in ((1, 40), (2, 60), (3, 60)))
    record = trace(q, k, v, keep=keep, scale=-0.5, dropout=dropout)
    grads = record.gradients(drawn(9, 40, 8).float())
    for name in STAGES[3:]:
        cells = grads.stage(name)
        assert (cells[~keep] == 0).all()
        assert (cells[keep.any(-1)] != 0).any(-1).all()
        assert not cells[cells == 0].signbit().any(), "−0 would be printed"
        assert cells.isfinite().all()
    assert (grads.grad_q[7] == 0).all()


def test_each_row_sums_to_0():
    record = trace(drawn(1, 300, 4), drawn(2, 300, 4), drawn(3, 300, 4), keep=causal())
    grads = record.gradients(drawn(9, 300, 4))
    assert_same(grads.stage("grad_masked").sum(-1), torch.zeros(300, dtype=torch.float64))


def long_one():
    q, k = drawn(1, 2, 3, 600, 4), drawn(2, 2, 3, 700, 4)
    v = drawn(3, 2, 3, 700, 5)
    record = trace(q, k, v, keep=window(40, 3), dropout=Dropout(0.25, 7), softcap=3.0)
    return record, record.gradients(drawn(9, 2, 3, 600, 5))


@pytest.mark.parametrize("name", STAGES)
def test_tiles_and_overviews_are_parts_of_the_stage(name):
    grads = long_one()[1]
    whole = grads.stage(name)[1, 2]
    width = whole.shape[1]
    rows, cols = range(3, 500, 5), slice(1, width - 1)
    tile = grads.tile(name, rows, cols, batch=1, head=2)
    assert_same(tile, whole[3:500:5, 1:-1], 1e-12)  # a product of other rows may round otherwise
    size = (6, 5)
    blocks = whole.unflatten(0, (6, 100)).unflatten(2, (5, -1))
    for how, wanted in (("mean", blocks.mean((1, 3))), ("max", blocks.amax((1, 3)))):
        assert_same(grads.pooled(name, size, how, batch=1, head=2), wanted, 1e-12)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_a_block_of_one_cell_is_that_cell(how):
    """Also one below zero, where a mask hides others of its row."""
    record = trace(*[drawn(1, 20, 4)] * 3, keep=causal())
    grads = record.gradients(drawn(9, 20, 4))
    for name in STAGES[1:]:
        assert_same(grads.pooled(name, (20, 20), how), grads.stage(name), 1e-12)


def test_the_row_statistics_of_one_head_are_enough_for_its_tile():
    record = trace(*[drawn(1, 2, 3, 300, 4)] * 3)
    grads = record.gradients(drawn(9, 2, 3, 300, 4))
    grads.tile("grad_scores", slice(0, 2), slice(0, 2), batch=1, head=2)
    assert list(record.known) == [(range(1, 2), range(2, 3))]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("T", [20, 300])
def test_half_precision_keeps_its_row_dot(dtype, T):
    """The stored output is rounded to 16 bits; what follows from it here is not."""
    q, k, v, pull = (drawn(seed, 2, T, 8).to(dtype) for seed in (1, 2, 3, 9))
    narrow = trace(q, k, v).gradients(pull)
    wide = trace(q.float(), k.float(), v.float()).gradients(pull)
    for name in ("row_dot", "grad_q", "grad_k", "grad_v"):
        torch.testing.assert_close(getattr(narrow, name), getattr(wide, name), rtol=0, atol=1e-6)


def test_a_finer_gradient_is_rounded_once():
    record = trace(*[drawn(1, 4, 3).float()] * 3)
    pull = drawn(9, 4, 3)
    got, wanted = record.gradients(pull), record.gradients(pull.float())
    assert torch.equal(got.grad_q, wanted.grad_q)


class TestWithoutAGraph:
    def test_nothing_can_be_asked_for_gradients(self):
        q, k, v = (drawn(seed, 4, 3).requires_grad_() for seed in (1, 2, 3))
        record = trace(q, k, v, sinks=drawn(4, 1).requires_grad_(), bias=drawn(5, 4, 4))
        output = record.output
        grads = record.gradients(output * 2)
        found = [*map(grads.stage, STAGES), grads.row_dot, grads.grad_q, grads.grad_k]
        found += [grads.grad_v, grads.grad_sinks, grads.grad_bias.table]
        assert not any(x.requires_grad for x in found)

    def test_inference_mode_and_autocast_change_nothing(self):
        q, k, v = (drawn(seed, 40, 4).float() for seed in (1, 2, 3))
        pull = drawn(9, 40, 4).float()
        sinks = drawn(4, 1).float()
        wanted = trace(q, k, v, sinks=sinks).gradients(pull)
        with torch.inference_mode():
            made = [x.clone() for x in (q, k, v, pull, sinks)]
            inside = trace(*made[:3], sinks=made[4]).gradients(made[3])
            got = [inside.grad_q, inside.grad_sinks, inside.stage("grad_scores")]
        with torch.autocast("cpu", torch.bfloat16):
            lowered = trace(q, k, v, sinks=sinks).gradients(pull)
            got += [lowered.grad_q, lowered.grad_sinks, lowered.stage("grad_scores")]
        expected = [wanted.grad_q, wanted.grad_sinks, wanted.stage("grad_scores")] * 2
        # Not to the bit: inference mode may choose other kernels.
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(inside.grad_v, wanted.grad_v)


ASKS = {
    "stage": lambda grads: grads.stage("grad_output"),
    "tile": lambda grads: grads.tile("grad_dropped", slice(0, 1), slice(0, 1)),
    "pooled": lambda grads: grads.pooled("grad_scores", (1, 1)),
    "row_dot": lambda grads: grads.row_dot,
    "grad_q": lambda grads: grads.grad_q,
    "workings": lambda grads: grads.workings("grad_scores", 0, 0),
    "copy": copy.copy,
}


class TestChangedInPlace:
    @pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
    @pytest.mark.parametrize("name", ["q", "k", "v", "grad_output"])
    @pytest.mark.parametrize("is_inference", [False, True])
    def test_is_noticed(self, name, ask, is_inference):
        with torch.inference_mode(is_inference):
            tensors = {
                n: drawn(seed, 4, 3) for seed, n in enumerate(("q", "k", "v", "grad_output"))
            }
            record = trace(*(tensors[n] for n in "qkv"))
            grads = record.gradients(tensors["grad_output"])
            wanted = grads.stage("grad_scores")
            ask(grads)
            tensors[name].add_(1)
            if is_inference:  # copies, which nobody writes into
                assert torch.equal(grads.stage("grad_scores"), wanted)
                return
            sentence = f"^{name} must stay as it was when it was traced, got a tensor changed in"
            with pytest.raises(RuntimeError, match=sentence):
                ask(grads)

    def test_an_answer_is_a_copy(self):
        record = trace(*(drawn(seed, 4, 3) for seed in (1, 2, 3)), sinks=drawn(4, 1))
        grads = record.gradients(drawn(9, 4, 3))
        for ask in (
            lambda: grads.stage("grad_output"),
            lambda: grads.tile("grad_output", slice(0, 4), slice(0, 3)),
            lambda: grads.row_dot,
            lambda: grads.grad_v,
            lambda: grads.grad_sinks,
        ):
            wanted = ask().clone()
            ask().add_(1)
            assert torch.equal(ask(), wanted)

    def test_of_the_stored_output(self):
        record = trace(*(drawn(seed, 4, 3) for seed in (1, 2, 3)))
        grads = record.gradients(drawn(9, 4, 3))
        record.output_4d.add_(1)
        with pytest.raises(RuntimeError, match=r"^output must stay as it was when it was traced"):
            grads.stage("grad_scores")

    def test_of_a_source(self):
        record, pull = projected()
        grads = record.gradients(pull)
        record.source.w_key.add_(1)
        assert grads.stage("grad_scores") is not None
        for ask in (lambda: grads.grad_x, lambda: grads.workings("grad_scores", 0, 0)):
            with pytest.raises(RuntimeError, match=r"^w_key of source must stay as it was"):
                ask()


@pytest.mark.gate
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda grads: pickle.loads(pickle.dumps(grads))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_answer_alike(copied):
    record, grads = long_one()
    twin = copied(grads)
    assert torch.equal(twin.grad_k, grads.grad_k)
    assert torch.equal(twin.stage("grad_scores"), grads.stage("grad_scores"))
    assert repr(twin) == repr(grads) == f"AttentionGradients of {record!r}"


def projected(lead=(2,), biases=True, rotary=None, positions=None, heads=(4, 2), dtype=None):
    """A record with a source, and the gradient of its output."""
    D, Dv, T, E = 4, 3, 5, 6
    q_heads, k_heads = heads
    widths = q_heads * D, k_heads * D, k_heads * Dv
    x = drawn(1, *lead, T, E)
    matrices = [drawn(seed, E, width) for seed, width in enumerate(widths, 2)]
    added = tuple(drawn(seed, width) for seed, width in enumerate(widths, 5)) if biases else None
    source = Projection(x, *matrices, added, rotary, positions)
    if dtype is not None:
        source = source.each(lambda tensor: tensor.to(dtype))
    return trace(*split(source, heads, D, Dv), source=source), drawn(9, *lead, q_heads, T, Dv)


def split(source, heads, D, Dv):
    sizes = zip(source.project(), (heads[0], heads[1], heads[1]), (D, D, Dv), strict=True)
    return [rows.unflatten(-1, (n, width)).transpose(-3, -2) for rows, n, width in sizes]


SOURCES = {
    "plain": {"biases": False},
    "biases": {},
    "one sentence": {"lead": (), "heads": (1, 1)},
    "two leading axes": {"lead": (2, 2), "rotary": Rotary(4)},
    "rotary": {"rotary": Rotary(4)},
    "interleaved": {"rotary": Rotary(4, 50.0, "interleaved"), "positions": torch.arange(5) * 1.5},
    "positions of each": {
        "rotary": Rotary(4),
        "positions": torch.tensor([[0, 0, 1, 2, 3], [4, 5, 6, 7, 9]]),
    },
    "positions for all": {"rotary": Rotary(4), "positions": torch.arange(3, 8)[None]},
    "positions of the first axis": {
        "lead": (2, 2),
        "rotary": Rotary(4),
        "positions": torch.tensor([[0, 0, 1, 2, 3], [4, 5, 6, 7, 9]]),
    },
    "heads alike": {"heads": (3, 3)},
}
PARTS = ("x", "w_query", "w_key", "w_value", "biases")


@pytest.mark.parametrize("how", SOURCES.values(), ids=SOURCES)
def test_a_source_gets_what_autograd_gives_it(how):
    record, pull = projected(**how)
    live = record.source.each(lambda tensor: tensor.clone().requires_grad_())
    heads = record.q.shape[1], record.k.shape[1]
    output = trace(*split(live, heads, 4, 3)).output
    leaves = [live.x, live.w_query, live.w_key, live.w_value, *(live.biases or ())]
    wanted = list(torch.autograd.grad(output, leaves, pull))
    grads = record.gradients(pull)
    got = [grads.grad_x, grads.grad_w_query, grads.grad_w_key, grads.grad_w_value]
    if live.biases is None:
        assert grads.grad_biases is None
    got += grads.grad_biases or ()
    for mine, other in zip(got, wanted, strict=True):
        assert mine.shape == other.shape
        assert_same(mine, other)


def test_places_are_made_where_the_gradient_is():
    grad = torch.zeros(1, 5, 4, device="meta")
    matrix = grad.new_zeros(4, 4)
    source = Projection(grad, matrix, matrix, matrix, rotary=Rotary(4))
    assert unrotated(grad, source).device == grad.device


def test_half_precision_of_a_source():
    record, pull = projected(dtype=torch.bfloat16)
    wide = record.source.each(torch.Tensor.float)
    wanted = trace(*split(wide, (4, 2), 4, 3), source=wide).gradients(pull)
    got = record.gradients(pull)
    for name in ("grad_x", "grad_w_query"):
        assert getattr(got, name).dtype == torch.float32
        # q, k and v were rounded to 16 bits.
        torch.testing.assert_close(getattr(got, name), getattr(wanted, name), rtol=0.1, atol=0.1)


def test_what_a_record_has_none_of_has_the_gradient_none():
    grads = trace(*[drawn(1, 4, 3)] * 3).gradients(drawn(9, 4, 3))
    names = ("grad_bias", "grad_sinks", "grad_x", "grad_w_query", "grad_w_key", "grad_w_value")
    assert [getattr(grads, name) for name in (*names, "grad_biases")] == [None] * 7


def test_a_record_makes_it():
    record = trace(*[drawn(1, 4, 3)] * 3)
    assert isinstance(record, AttentionTrace)
    assert record.gradients(drawn(9, 4, 3)).record is record
