"""The numbers are right: against a plain loop, and against torch's own attention."""

import math
import os

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_core import Dropout, attention, causal, stages, trace, window
from tests.attn_core.reference import MAPS, STAGES, by_loop, cases, drawn


def assert_close(got, wanted, tolerance, what):
    assert got.shape == wanted.shape, what
    same = (got.double() == wanted) | ((got.double() - wanted).abs() <= tolerance)
    assert same.all(), f"{what}: off by {(got.double() - wanted).abs().max()} > {tolerance}"


@settings(max_examples=150)
@given(cases(with_added=True))
def test_every_stage_equals_a_plain_loop(case):
    record, wanted, tolerance = case.trace(), case.loop(), case.tolerance()
    for name in STAGES:
        assert_close(record.stage(name), wanted[name], tolerance[name], name)
    statistics = {"row_max": record.row_max, "row_sum": record.row_sum}
    for name, value in statistics.items():
        value = value.reshape(wanted[name].shape)
        assert_close(value, wanted[name], tolerance[name], name)
    assert torch.equal(record.output, record.stage("output"))
    assert record.output.dtype == case.v.dtype
    wide = torch.promote_types(case.q.dtype, torch.float32)
    assert all(record.stage(name).dtype == wide for name in MAPS)
    assert record.row_max.dtype == record.row_sum.dtype == wide


@settings(max_examples=150)
@given(cases(with_dropout=False))
def test_output_equals_torchs_own_attention(case):
    output = attention(case.q, case.k, case.v, keep=case.keep, scale=case.scale)
    four = [t.reshape(-1, 1, *t.shape[-2:]) for t in (case.q, case.k, case.v)]
    mask = None
    if case.dense is not None:
        mask = case.dense.reshape(-1, 1, *case.dense.shape[-2:])
    wanted = F.scaled_dot_product_attention(*four, attn_mask=mask, scale=case.scale)
    # torch may round its weights to the dtype of v, ours are float32 at least.
    ours = case.tolerance()["output"]
    theirs = torch.finfo(case.q.dtype).eps * (case.k.shape[-2] + 2) * float(four[2].abs().max())
    # What torch gives in a row that keeps nothing has changed between versions; ours is 0.
    dead = torch.zeros(output.shape[:-1], dtype=torch.bool)
    if case.dense is not None:
        dead = ~case.dense.any(-1)
    assert (output[dead] == 0).all()
    assert_close(output[~dead], wanted.double().view_as(output)[~dead], ours + theirs, "output")


@given(cases(dtypes=(torch.float64,), with_added=True))
def test_attention_and_trace_are_one(case):
    output = attention(case.q, case.k, case.v, **case.settings())
    assert torch.equal(output, case.trace().output)


@pytest.mark.gate
@pytest.mark.skipif("PRETEND_PROCESSOR" in os.environ, reason="torch's own error is not pretended")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("keep", [None, causal(), window(9, 4)], ids=str)
@pytest.mark.parametrize("scores_near", [0, 16_000])
def test_the_rule_of_precision(dtype, keep, scores_near):
    """At most twice torch's own error against float64, and one rounding."""
    q, k, v = (drawn(seed, 2, 3, 64, 32) for seed in (1, 2, 3))
    if scores_near:
        # Scores of 16,000 and differences of a few units between them.
        root = math.sqrt(scores_near / 32)
        q, k = root + q / 10, root + k / 10
    q, k, v = (t.to(dtype) for t in (q, k, v))
    scale = 1.0 if scores_near else None
    mask = None if keep is None else keep.dense(64, 64)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    exact = by_loop(q, k, v, None if mask is None else mask.expand(2, 3, 64, 64), scale)
    record = trace(q, k, v, keep=keep, scale=scale)
    error = (record.output.double() - exact["output"]).abs()
    their_error = (theirs.double() - exact["output"]).abs()
    rounding = torch.finfo(dtype).eps * exact["output"].abs().max()
    assert error.max() <= 2 * their_error.max() + rounding
    assert error.square().mean().sqrt() <= 2 * their_error.square().mean().sqrt() + rounding

    wide = (q.float() @ k.float().mT) * (1 / math.sqrt(32) if scale is None else scale)
    if mask is not None:
        wide = wide.masked_fill(~mask, -torch.inf)
    theirs = torch.softmax(wide, -1)
    error = (record.stage("weights").double() - exact["weights"]).abs().max()
    their_error = (theirs.double() - exact["weights"]).abs().max()
    assert error <= 2 * their_error + torch.finfo(torch.float32).eps


def test_weights_from_row_max_and_row_sum_are_exact_near_16000():
    """Whole scores are exact in float32, so what is left is the error of the softmax alone.

    exp(score − lse), the other way to a weight, is off by 4e-5 here.
    """
    q = torch.tensor([[125.0, 1.0]])
    k = torch.stack([torch.full((40,), 128.0), torch.arange(40.0)], 1)
    record = trace(q, k, k, scale=1.0)
    exact = by_loop(q, k, k, scale=1.0)["weights"]
    assert record.stage("scores").max() == 16_039
    error = (record.stage("weights").double() - exact).abs().max()
    by_lse = torch.exp(record.stage("scaled") - record.lse[:, None])
    assert error < 1e-7 < 1e-5 < (by_lse.double() - exact).abs().max()


def test_float16_inputs_are_not_rounded_on_the_way():
    """Scores of 100,000 are beyond float16, and the record holds them."""
    q = torch.full((2, 4), 160.0, dtype=torch.float16)
    record = trace(q, q, q)
    assert record.stage("scores").tolist() == [[102_400.0] * 2] * 2
    assert record.output.tolist() == [[160.0] * 4] * 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_only_the_output_is_rounded_to_16_bits(dtype):
    """Weights stay in float32 up to the end: 16-bit inputs give the float32 output, rounded."""
    q, k, v = (drawn(seed, 2, 40, 8).to(dtype) for seed in (1, 2, 3))
    wide = attention(q.float(), k.float(), v.float(), keep=causal())
    assert torch.equal(attention(q, k, v, keep=causal()), wide.to(dtype))


def test_autocast_does_not_lower_the_precision():
    q = drawn(5, 6, 8).float()
    wanted = {name: trace(q, q, q).stage(name) for name in STAGES}
    with torch.autocast("cpu", torch.bfloat16):
        record = trace(q, q, q)
        assert record.row_max.dtype == torch.float32
        for name in STAGES:
            assert torch.equal(record.stage(name), wanted[name]), name


def test_a_default_dtype_of_float64_changes_nothing():
    q = drawn(6, 5, 3).float()
    keep = torch.ones(5, 5, dtype=torch.bool)
    keep[2] = False
    wanted = trace(q, q, q, keep=keep, dropout=Dropout(0.5, 1))
    torch.set_default_dtype(torch.float64)
    try:
        record = trace(q, q, q, keep=keep, dropout=Dropout(0.5, 1))
        for name in STAGES:
            assert record.stage(name).dtype == torch.float32
            assert torch.equal(record.stage(name), wanted.stage(name)), name
    finally:
        torch.set_default_dtype(torch.float32)


@settings(max_examples=40)
@given(cases())
def test_inputs_stay_untouched_and_calls_repeat(case):
    tensors = [case.q, case.k, case.v]
    if isinstance(case.keep, torch.Tensor):
        tensors.append(case.keep)
    copies = [t.clone() for t in tensors]
    versions = [t._version for t in tensors]
    first, second = case.trace(), case.trace()
    for name in STAGES:
        once = first.stage(name)
        assert torch.equal(once, second.stage(name)), name
        assert torch.equal(once, first.stage(name)), name
    assert torch.equal(first.lse, second.lse)
    assert all(map(torch.equal, tensors, copies))
    assert [t._version for t in tensors] == versions


def test_writing_into_the_mask_afterwards_changes_no_record():
    q = drawn(8, 4, 3).float()
    keep = torch.ones(4, 4, dtype=torch.bool).tril()
    joined = causal() & keep
    records = trace(q, q, q, keep=keep), trace(q, q, q, keep=joined)
    wanted = [record.stage("masked") for record in records]
    keep.fill_(True)
    assert all(map(torch.equal, wanted, (record.stage("masked") for record in records)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.mT.contiguous().mT,
        lambda t: torch.stack([t, t], -1)[..., 0],
        lambda t: t.contiguous(memory_format=torch.channels_last),
        lambda t: torch.nn.Parameter(t, requires_grad=False),
        lambda t: t[:, :1].expand(-1, 3, -1, -1),
    ],
    ids=["transposed", "strided", "channels last", "parameter", "expanded"],
)
def test_memory_layout_changes_no_number(change):
    tensors = [change(drawn(seed, 2, 3, 4, 5)) for seed in (1, 2, 3)]
    wanted = by_loop(*tensors)
    record = trace(*tensors)
    for name in STAGES:
        torch.testing.assert_close(record.stage(name), wanted[name], rtol=0, atol=1e-12)


class TestDeadRows:
    """A row that keeps nothing: row_max 0, row_sum 1, lse −inf, weights 0, output 0."""

    keep = torch.tensor([[True, False, True], [False, False, False], [False, True, True]])

    @pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
    def test_its_numbers(self, dtype):
        q = drawn(1, 3, 2).to(dtype)
        record = trace(q, q, q, keep=self.keep, dropout=Dropout(0.5, 3))
        assert record.row_max[0, 0, 1] == 0
        assert record.row_sum[0, 0, 1] == 1
        assert record.lse[1] == -math.inf
        assert record.lse[[0, 2]].isfinite().all()
        assert (record.stage("masked")[1] == -math.inf).all()
        for name in ("weights", "dropped", "output"):
            assert (record.stage(name)[1] == 0).all()
            assert record.stage(name).isfinite().all()


@given(cases(with_added=True))
def test_lse_is_the_logarithm_of_the_sum(case):
    record, wanted = case.trace(), case.loop()
    exact = wanted["row_max"] + torch.log(wanted["row_sum"])
    alive = torch.ones_like(exact, dtype=torch.bool)
    if case.dense is not None and "sinks" not in case.added:
        alive = case.dense.any(-1)
    tolerance = case.tolerance()
    # A relative error of the sum is an absolute one of its logarithm.
    most = 2 * (tolerance["row_max"] + tolerance["row_sum"]) + 1e-6 * exact.abs().max()
    assert_close(record.lse[alive], exact[alive], float(most), "lse")
    assert (record.lse[~alive] == -math.inf).all()


def live(*seeds, shape):
    return [drawn(seed, *shape).requires_grad_() for seed in seeds]


def finite(cells):
    """−inf has no difference quotient."""
    return torch.where(cells == -math.inf, 0.0, cells)


DEAD = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
SETTINGS = {
    "plain": {},
    "dead row": {"keep": DEAD, "scale": -0.7},
    "dropout": {"dropout": Dropout(0.5, 11), "keep": DEAD},
    "added": {"bias": drawn(4, 3, 3), "softcap": 0.8, "keep": DEAD},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", STAGES)
class TestGradients:
    @pytest.mark.parametrize("is_fast", [True, pytest.param(False, marks=pytest.mark.deep)])
    @pytest.mark.parametrize("part", ["stage", "tile", "overview"])
    def test_of_a(self, part, name, settings, is_fast):
        # Blocks of zeros have no single maximum, so there no derivative either.
        how = "mean" if settings else "max"
        ask = {
            "stage": lambda record: record.stage(name),
            "tile": lambda record: record.tile(name, range(0, 3, 2), slice(1, 2)),
            "overview": lambda record: record.pooled(name, (3, 2), how),
        }[part]
        inputs = live(1, 2, 3, shape=(3, 2))
        torch.manual_seed(0)  # fast mode draws a direction
        assert torch.autograd.gradcheck(
            lambda *qkv: finite(ask(trace(*qkv, **settings))), inputs, fast_mode=is_fast
        )

    def test_of_a_record_that_was_made_without(self, name, settings):
        """It is a constant in every stage: none can ask for a gradient that reaches nobody."""
        q, k, v = live(1, 2, 3, shape=(2, 3, 3, 2))
        with torch.no_grad():
            record = trace(q, k, v, **settings)
        wanted = trace(q, k, v, **settings).stage(name)
        assert wanted.requires_grad
        whole = record.stage(name)
        tile = record.tile(name, slice(0, 3), slice(0, 2), batch=1, head=2)
        assert not whole.requires_grad
        assert not tile.requires_grad
        assert not record.pooled(name, (2, 2)).requires_grad
        assert torch.equal(whole, wanted) or name in ("weights", "dropped", "output")
        torch.testing.assert_close(whole, wanted.detach())
        torch.testing.assert_close(tile, wanted[1, 2, :, :2].detach())

    def test_no_grad_gives_none(self, name, settings):
        q, k, v = live(1, 2, 3, shape=(3, 2))
        with torch.no_grad():
            assert not trace(q, k, v, **settings).stage(name).requires_grad
        record = trace(q, k, v, **settings)
        with torch.no_grad():
            assert not record.tile(name, slice(0, 3), slice(0, 2)).requires_grad


@settings(max_examples=100)
@given(cases(dtypes=(torch.float64,), with_dropout=False), st.sampled_from(("output", "weights")))
def test_gradients_equal_torchs_own(case, name):
    ours = [t.clone().requires_grad_() for t in (case.q, case.k, case.v)]
    theirs = [t.clone().requires_grad_() for t in (case.q, case.k, case.v)]
    record = trace(*ours, keep=case.keep, scale=case.scale)
    scale = record.scale
    cells = record.stage(name)
    masked = (theirs[0] @ theirs[1].mT) * scale
    dead = torch.zeros(cells.shape[:-1], dtype=torch.bool)
    if case.dense is not None:
        dead = ~case.dense.any(-1)
        masked = masked.masked_fill(~case.dense, -torch.inf)
    # softmax has no answer for a dead row: give it one that is cut off afterwards.
    weights = torch.softmax(torch.where(dead[..., None], 0.0, masked), -1)
    weights = torch.where(dead[..., None], 0.0, weights)
    wanted = weights if name == "weights" else weights @ theirs[2]
    pull = drawn(9, *cells.shape)
    (cells * pull).sum().backward()
    (wanted * pull).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        if mine.grad is None:
            assert other.grad is None
            continue
        assert mine.grad.isfinite().all()
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-9, atol=1e-9)
    assert ours[0].grad[dead].abs().sum() == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_gradients_come_in_the_dtype_of_the_inputs(dtype):
    inputs = [drawn(seed, 3, 2).to(dtype).requires_grad_() for seed in (1, 2, 3)]
    attention(*inputs, keep=DEAD).sum().backward()
    assert all(t.grad.dtype == dtype and t.grad.isfinite().all() for t in inputs)


def test_second_derivatives():
    inputs = live(1, 2, 3, shape=(3, 2))
    assert torch.autograd.gradgradcheck(lambda q, k, v: attention(q, k, v, keep=DEAD), inputs)


class TestFormulas:
    """stages.py alone: each formula on numbers that one can check in the head."""

    def test_scaled_and_masked_make_new_tensors(self):
        cells = torch.tensor([[1.0, 2.0]])
        assert stages.scaled(cells, 0.5).tolist() == [[0.5, 1.0]]
        assert stages.masked(cells, torch.tensor([[True, False]])).tolist() == [[1.0, -math.inf]]
        assert cells.tolist() == [[1.0, 2.0]]

    def test_row_statistics(self):
        cells = torch.tensor([[0.0, -math.inf, 0.0], [-math.inf] * 3, [5.0, 5.0, 5.0]])
        row_max, row_sum = stages.row_statistics(cells)
        assert row_max.tolist() == [0, 0, 5]
        assert row_sum.tolist() == [2, 1, 3]

    def test_weights_far_below_the_maximum_are_zero_and_far_above_never_overflow(self):
        cells = torch.tensor([[1e30, -1e30, 1e30]])
        weights = stages.weights(cells, *stages.row_statistics(cells))
        assert weights.tolist() == [[0.5, 0.0, 0.5]]

    def test_dropped(self):
        weights = torch.tensor([[0.25, 0.75]])
        survives = torch.tensor([[True, False]])
        assert stages.dropped(weights, survives, 0.75).tolist() == [[1.0, 0.0]]
        assert stages.dropped(weights, None, 0.75).tolist() == [[0.25, 0.75]]
