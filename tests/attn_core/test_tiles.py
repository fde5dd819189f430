"""The pass over tiles: the same numbers, gradients and bits wherever a tile ends."""

import math
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_core import Dropout, attention, causal, padding, prefill, trace, window
from attn_core.engines import formulas, tiled, tiles, torch_sdpa
from tests.attn_core.reference import DTYPES, cases, drawn


@pytest.fixture(params=["ours", "torch's"])
def small_tiles(request, monkeypatch):
    """Blocks of five keys, a few heads at a time, and no map so small that it is made whole.

    Or torch's own attention where it serves, under masks of 16 rows at a time.
    """
    monkeypatch.setattr(formulas, "SMALL", 0)
    monkeypatch.setattr(tiles, "WIDTH", 5)
    monkeypatch.setattr(tiles, "CELLS", 2000)
    monkeypatch.setattr(torch_sdpa, "HEIGHT", 16)
    if request.param == "ours":
        monkeypatch.setattr(torch_sdpa, "serves", lambda call: False)


def as_dropout(case):
    return Dropout(*case.dropout) if case.dropout else None


def masks(L, S):
    return {
        "none": None,
        "causal": causal(),
        "window": window(7, 2),
        "far window": window(0, 0) & causal(),
        "padding": padding([S // 3, S]),
        "empty sequence": padding([0, S]),
        "joined": causal() & padding([S, S // 2]) & window(20),
        "cells": drawn(L, 2, 1, L, S) < -0.5,
        "joined cells": causal() & (drawn(S, L, S) < 0.3),
    }  # fmt: skip


def in_float64(q, k, v, keep, scale, dropout):
    """The six formulas on whole maps, in float64."""
    keep = None if keep is None else trace(q, k, v, keep=keep).keep
    return formulas.whole(q.double(), k.double(), v.double(), keep, scale, dropout)


def close(found, wanted, q, k, v, scale, share=1.0):
    """Within the rounding of a score, of a sum, and of the dtype of v."""
    eps = torch.finfo(torch.promote_types(q.dtype, torch.float32)).eps
    score = q.shape[-1] * float(q.abs().max().double() * k.abs().max().double()) * abs(scale)
    relative = 8 * (q.shape[-1] * score + k.shape[-2] + 8) * eps
    error = (found[0].double() - wanted[0]).abs().max()
    value = float(v.abs().max()) / share
    assert error <= (relative + torch.finfo(v.dtype).eps) * value
    assert (found[1].double() - wanted[1]).abs().max() <= relative * max(1.0, score)
    assert ((found[2].double() - wanted[2]) / wanted[2]).abs().max() <= relative


SIZES = [(65, 11), (63, 70), pytest.param((129, 130), marks=pytest.mark.slow)]
EVERY = [(name, dtype) for name in masks(9, 9) for dtype in (torch.float32, torch.bfloat16)]
EVERY += [("joined", dtype) for dtype in DTYPES if ("joined", dtype) not in EVERY]


@pytest.mark.parametrize("dropped", [None, Dropout(0.3, 5)], ids=["kept", "dropout"])
@pytest.mark.parametrize(("name", "dtype"), EVERY)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_mask_and_dtype_against_float64(small_tiles, size, name, dtype, dropped):
    L, S = size
    q, k, v = (drawn(i, 2, 2, n, 3).to(dtype) for i, n in ((1, L), (2, S), (3, S)))
    keep = masks(L, S)[name]
    record = trace(q, k, v, keep=keep, scale=0.6, dropout=dropped)
    wanted = in_float64(q, k, v, keep, 0.6, dropped)
    found = record.output_4d, record.row_max, record.row_sum
    close(found, wanted, q, k, v, 0.6, 1 - dropped.p if dropped else 1.0)
    assert found[0].dtype == dtype
    assert found[1].dtype == found[2].dtype == torch.promote_types(dtype, torch.float32)


@pytest.mark.parametrize("small_tiles", ["ours"], indirect=True)
@pytest.mark.parametrize(("name", "dtype"), EVERY)
@pytest.mark.parametrize("size", [(65, 11), (63, 70)], ids=str)
def test_weights_and_row_statistics_from_tiles(small_tiles, size, name, dtype):
    """What is derived later: the weights of all heads, and the two numbers of each row of one."""
    q, k = (drawn(i, 2, 2, n, 3).to(dtype) for i, n in zip((1, 2), size, strict=True))
    keep = masks(*size)[name]
    record = trace(q, k, k, keep=keep, scale=0.6)
    in_place = tiled.weights(record)
    weights, *statistics = formulas.whole_weights(q, k, record.keep, 0.6)
    most = 400 * torch.finfo(weights.dtype).eps
    torch.testing.assert_close(in_place, weights, rtol=most, atol=most)
    assert torch.equal(record.stage("weights"), in_place)
    for b, h in ((0, 1), (1, 0)):
        one_head = range(b, b + 1), range(h, h + 1)
        found = tiled.row_statistics(record, *one_head)
        for mine, other in zip(found, statistics, strict=True):
            torch.testing.assert_close(mine[0, 0], other[b, h], rtol=most, atol=most)


def test_a_long_record_computes_row_statistics_for_the_head_that_is_looked_at(monkeypatch):
    monkeypatch.setattr(formulas, "SMALL", 0)
    q = drawn(1, 2, 3, 40, 4)
    record = trace(q, q, q, keep=causal())
    assert record.known == {}
    few = record.tile("weights", range(3, 7), range(5), batch=1, head=2)
    assert list(record.known) == [(range(1, 2), range(2, 3))]
    torch.testing.assert_close(few, record.stage("weights")[1, 2, 3:7, :5])
    kept = record.known[range(1, 2), range(2, 3)]
    assert record.tile("weights", range(7), range(5), batch=1, head=2) is not None
    assert record.known[range(1, 2), range(2, 3)] is kept
    torch.testing.assert_close(record.row_sum[1:, 2:], kept[1])


def test_row_statistics_of_numbers_that_have_changed_are_refused(monkeypatch):
    monkeypatch.setattr(formulas, "SMALL", 0)
    q = drawn(1, 40, 4)
    record = trace(q, q, q)
    q[0] = 1
    with pytest.raises(RuntimeError, match=r"^q must stay as it was when it was traced"):
        _ = record.row_max


@settings(max_examples=150)
@given(cases(dtypes=(torch.float64,), most=12), st.integers(1, 5), st.integers(1, 40))
def test_the_tiles_change_nothing(case, width, cells):
    """Random shapes, masks, scales and dropout, and every way to cut them up."""
    q, k, v = case.q, case.k, case.v
    whole = trace(q, k, v, keep=case.keep, scale=case.scale, dropout=as_dropout(case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formulas, "SMALL", 0)
        patch.setattr(torch_sdpa, "serves", lambda call: False)
        patch.setattr(tiles, "WIDTH", width)
        patch.setattr(tiles, "CELLS", cells)
        found = trace(q, k, v, keep=case.keep, scale=case.scale, dropout=as_dropout(case))
    assert torch.equal(found.row_max == 0, whole.row_max == 0)
    for name in ("row_max", "row_sum", "output_4d"):
        mine, other = getattr(found, name), getattr(whole, name)
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", masks(70, 70))
@pytest.mark.parametrize("dropped", [None, Dropout(0.4, 3)], ids=["kept", "dropout"])
def test_gradients_equal_those_of_whole_maps(small_tiles, name, dropped, monkeypatch):
    keep = masks(70, 70)[name]
    pull = drawn(9, 2, 2, 70, 3)
    found = []
    for small in (0, 10**9):
        monkeypatch.setattr(formulas, "SMALL", small)
        inputs = [drawn(seed, 2, 2, 70, 3).requires_grad_() for seed in (1, 2, 3)]
        record = trace(*inputs, keep=keep, scale=-0.8, dropout=dropped)
        assert not record.row_max.requires_grad
        (record.output * pull).sum().backward()
        found.append([t.grad for t in inputs])
    for mine, other in zip(*found, strict=True):
        assert mine.isfinite().all()
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["none", "empty sequence", "joined"])
def test_gradcheck(small_tiles, name):
    inputs = [drawn(seed, 2, 1, 7, 2).requires_grad_() for seed in (1, 2, 3)]
    keep, dropout = masks(7, 7)[name], Dropout(0.3, 2)
    assert torch.autograd.gradcheck(
        lambda q, k, v: trace(q, k, v, keep=keep, dropout=dropout).output, inputs
    )


@pytest.mark.parametrize("live", ["qkv", "qv", "k"])
def test_second_derivatives(small_tiles, live):
    """Also where the gradient that comes in is a constant, which hides a missing graph."""
    inputs = [drawn(i, 2, 1, 7, 2).requires_grad_(name in live) for i, name in enumerate("qkv")]
    keep = masks(7, 7)["empty sequence"]
    assert torch.autograd.gradgradcheck(lambda *three: trace(*three, keep=keep).output, inputs)
    first = torch.autograd.grad(
        trace(*inputs, keep=keep).output.sum(), [t for t in inputs if t.requires_grad],
        create_graph=True,
    )  # fmt: skip
    assert first[0].requires_grad


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_input_alone_asks_for_a_gradient(small_tiles, which, dtype):
    inputs = [drawn(seed, 2, 70, 2).to(dtype) for seed in (1, 2, 3)]
    inputs[which].requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        attention(*inputs, keep=causal()).square().sum().backward()
    assert [t.grad is not None for t in inputs] == [i == which for i in range(3)]
    assert inputs[which].grad.dtype == dtype


@pytest.mark.parametrize("keep", [None, causal(), prefill(0)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_large_calls_of_attention_agree_with_the_record(keep, dtype):
    q, k, v = (drawn(seed, 2, 2, 200, 8).to(dtype) for seed in (1, 2, 3))
    found, record = attention(q, k, v, keep=keep), trace(q, k, v, keep=keep)
    assert found.dtype == dtype
    most = 2 * torch.finfo(dtype).eps if dtype.itemsize < 4 else 100 * torch.finfo(dtype).eps
    torch.testing.assert_close(found, record.output, rtol=most, atol=most)


@pytest.mark.parametrize("scale", [-0.4, 0.0, 1e-50, 1e-3])
@pytest.mark.parametrize("keep", [None, causal()], ids=str)
def test_every_scale_of_a_large_call(keep, scale):
    """torch's own causal attention gives NaN where the scale is not above 0."""
    q, k, v = (drawn(seed, 1, 1, 300, 8).float() for seed in (1, 2, 3))
    wanted = in_float64(q, k, v, keep, scale, None)[0]
    found = attention(q, k, v, keep=keep, scale=scale)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", [(300, 400), (400, 300)])
def test_large_causal_calls_are_aligned_to_the_bottom_right(sizes):
    q, k = (drawn(seed, n, 4) for seed, n in zip((1, 2), sizes, strict=True))
    mask = torch.ones(sizes, dtype=torch.bool).tril(sizes[1] - sizes[0])
    found = attention(q, k, k, keep=causal())
    wanted = F.scaled_dot_product_attention(q, k, k, attn_mask=mask)
    alive = mask.any(-1)
    torch.testing.assert_close(found[alive], wanted[alive], rtol=1e-12, atol=1e-12)
    assert (found[~alive] == 0).all()


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize("keep", [None, causal()], ids=str)
def test_the_rule_of_precision(spread, keep):
    """At most twice torch's own error against float64, and one rounding; sharp logits, too."""
    q, k, v = (drawn(seed, 1, 2, 700, 32).float() for seed in (1, 2, 3))
    q = q * spread
    exact = in_float64(q, k, v, keep, 1 / math.sqrt(32), None)[0]
    error = (trace(q, k, v, keep=keep).output.double() - exact).abs().max()
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=keep is not None)
    their_error = (theirs.double() - exact).abs().max()
    assert error <= 2 * their_error + torch.finfo(torch.float32).eps * exact.abs().max()


def everywhere(keep, rows, L, S):
    cells = keep.tile(rows, range(S), (L, S)).expand(-1, -1, len(rows), S)
    return cells.any(2).any(0).any(0), cells.all(2).all(0).all(0)


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_what_a_mask_says_of_its_rows(L, S, data):
    """Outside of `visible` nothing is kept; `unmasked` are the columns where everything is."""
    start = data.draw(st.integers(0, L - 1))
    rows = range(start, data.draw(st.integers(start + 1, L)), data.draw(st.integers(1, 3)))
    small = st.integers(0, 9)
    parts = [causal(), window(data.draw(small), data.draw(small))]
    parts.append(padding([data.draw(st.integers(0, S)), data.draw(st.integers(0, S))]))
    parts.append(parts[0] & parts[1] & parts[2])
    for keep in parts:
        some, all_rows = everywhere(keep, rows, L, S)
        visible, unmasked = keep.visible(rows, (L, S)), keep.unmasked(rows, (L, S))
        assert not some[[j for j in range(S) if j not in visible]].any()
        assert list(unmasked) == all_rows.nonzero().flatten().tolist()
        assert list(visible) == some.nonzero().flatten().tolist() or keep is parts[3]


MEMORY = """
import re, torch
from pathlib import Path
from attn_core import causal, trace
torch.set_num_threads(1)
def peak():  # not ru_maxrss: that of a child starts at what its parent held
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
with torch.no_grad():
    few = torch.randn(2048, 64)
    trace(few, few, few, keep=causal()).row_max
    q, k, v = torch.randn(3, 16384, 64)
    before = peak()
    trace(q, k, v, keep=causal()).row_max
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux says it in /proc")
def test_a_long_record_takes_no_map():
    """16,384 tokens: the map would be 1 GiB."""
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 64 * 2**20
