"""All weights made on the way to the output: the same numbers, and nothing kept in vain."""

import pytest
import torch

from attn_core import Dropout, causal, padding, trace, window
from tests.attn_core.reference import drawn

SIZES = [(300, 300), (300, 257), (70, 1030), (1030, 70), (64, 2100)]  # across the ends of tiles


def masks(L, S):
    return {
        "none": None,
        "causal": causal(),
        "window": window(5, 3),
        "padding, nothing": padding([S, 0]),
        "cells, empty rows": drawn(7, 2, 2, L, S) > 2.5,
    }


def qkv(L=300, S=300, dtype=torch.float32):
    sizes = (L, 8), (S, 8), (S, 5)
    return [drawn(seed, 2, 2, *size).to(dtype) for seed, size in enumerate(sizes, 1)]


@pytest.mark.parametrize("dropout", [None, Dropout(0.3, 1)])
@pytest.mark.parametrize("name", masks(1, 1))
@pytest.mark.parametrize("size", SIZES)
def test_the_record_answers_the_same(size, name, dropout):
    q, k, v = qkv(*size, torch.float64)
    settings = {"keep": masks(*size)[name], "scale": 0.7, "dropout": dropout}
    plain, made = trace(q, k, v, **settings), trace(q, k, v, **settings, need_weights=True)
    assert made.weights_4d is not None
    for stage in ("weights", "dropped"):
        found, wanted = made.stage(stage), plain.stage(stage)
        assert torch.equal(found == 0, wanted == 0)
        # With dropout the tiles of the two are not equally high, and products round another way.
        most = 0 if dropout is None else 1e-12
        torch.testing.assert_close(found, wanted, rtol=most, atol=0)
    torch.testing.assert_close(made.output, plain.output)
    torch.testing.assert_close(made.lse, plain.lse)


def test_they_are_made_once():
    made = trace(*qkv(), need_weights=True)
    assert made.stage("weights").data_ptr() == made.stage("weights").data_ptr()
    assert trace(*qkv()).weights_4d is None


@pytest.mark.parametrize("lead", [(), (3,), (2, 2), (2, 1, 2)])
def test_in_the_rank_that_was_traced(lead):
    q, k, v = (drawn(seed, *lead, 300, 4) for seed in (1, 2, 3))
    made = trace(q, k, v, need_weights=True)
    assert made.stage("weights").shape == (*lead, 300, 300)
    torch.testing.assert_close(made.stage("weights") @ v, made.output)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_output_has_the_dtype_of_v_and_weights_are_float32_at_least(dtype):
    q, k, v = qkv(dtype=dtype)
    made = trace(q, k, v, need_weights=True)
    assert made.output.dtype == dtype
    assert made.stage("weights").dtype == torch.promote_types(dtype, torch.float32)
    assert torch.equal(made.output, (made.stage("weights") @ v.to(made.float_type)).to(dtype))


def test_autocast_changes_nothing():
    with torch.autocast("cpu", torch.bfloat16):
        made = trace(*qkv(), need_weights=True)
        weights = made.stage("weights")
    assert weights.dtype == made.output.dtype == torch.float32
    assert torch.equal(made.output, trace(*qkv(), need_weights=True).output)


def test_whoever_writes_into_them_spoils_nothing():
    made = trace(*qkv(), need_weights=True)
    right = made.stage("weights").clone()
    made.stage("weights").zero_()
    assert torch.equal(made.stage("weights"), right)


def test_a_query_changed_in_place_is_refused():
    q, k, v = qkv()
    made = trace(q, k, v, need_weights=True)
    q.zero_()
    with pytest.raises(RuntimeError, match="q must stay as it was"):
        made.stage("weights")


@pytest.mark.parametrize("live", [0, 1, 2])
def test_a_call_with_gradients_keeps_no_map_and_gives_them(live):
    inputs = qkv()
    inputs[live].requires_grad_()
    made = trace(*inputs, need_weights=True)
    assert made.weights_4d is None
    (made.output.sum() + made.stage("weights").square().sum()).backward()
    assert inputs[live].grad.abs().sum() > 0


def test_a_small_map_is_made_when_it_is_asked_for():
    assert trace(*qkv(64, 64), need_weights=True).weights_4d is None
    assert trace(*qkv(300, 300), need_weights=True).weights_4d is not None


def test_bad_numbers_are_refused_in_the_same_words():
    q, k, v = qkv()
    v[1, 0, 7, 3] = torch.nan
    for need in (False, True):
        with pytest.raises(ValueError, match=r"v must be finite, got nan at \(1, 0, 7, 3\)"):
            trace(q, k, v, need_weights=need)


@pytest.mark.parametrize("need", [False, True])
def test_what_dropout_makes_of_a_value_may_overflow(need):
    """Every query looks at one key alone, whose value is 1,000; what survives counts 100 times."""
    q, k, v = (torch.zeros(2, 2, 300, 8, dtype=torch.float16) for _ in range(3))
    q[..., 0], k[:, :, 7, 0], v[:, :, 7] = 9.0, 9.0, 1000.0
    assert trace(q, k, v, need_weights=need).output.float().amin() > 999
    with pytest.raises(ValueError, match=r"overflow in torch\.float16"):
        trace(q, k, v, dropout=Dropout(0.99, 1), need_weights=need)
