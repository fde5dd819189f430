"""All weights of a long map, made at once: those of the formulas, in every shape."""

import pytest
import torch

from attn_core import Dropout, causal, padding, stages, trace, window
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


@pytest.mark.parametrize("name", masks(1, 1))
@pytest.mark.parametrize("size", SIZES)
def test_they_are_those_of_the_formulas(size, name):
    q, k, v = qkv(*size, torch.float64)
    record = trace(q, k, v, keep=masks(*size)[name], scale=0.7)
    kept = None if record.keep is None else record.keep.dense(*size)
    masked = stages.masked(stages.scaled(stages.scores(q, k), 0.7), kept)
    wanted = stages.weights(masked, *stages.row_statistics(masked))
    found = record.stage("weights")
    assert torch.equal(found == 0, wanted == 0)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0)
    torch.testing.assert_close(found @ v, record.output)


@pytest.mark.parametrize("lead", [(), (3,), (2, 2), (2, 1, 2)])
def test_in_the_rank_that_was_traced(lead):
    q, k, v = (drawn(seed, *lead, 300, 4) for seed in (1, 2, 3))
    record = trace(q, k, v)
    assert record.stage("weights").shape == (*lead, 300, 300)
    torch.testing.assert_close(record.stage("weights") @ v, record.output)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_they_are_float32_at_least(dtype):
    record = trace(*qkv(dtype=dtype))
    assert record.output.dtype == dtype
    assert record.stage("weights").dtype == torch.promote_types(dtype, torch.float32)


def test_autocast_changes_nothing():
    with torch.autocast("cpu", torch.bfloat16):
        weights = trace(*qkv()).stage("weights")
    assert weights.dtype == torch.float32
    assert torch.equal(weights, trace(*qkv()).stage("weights"))


def test_whoever_writes_into_them_spoils_nothing():
    record = trace(*qkv())
    right = record.stage("weights").clone()
    record.stage("weights").zero_()
    assert torch.equal(record.stage("weights"), right)


def test_a_query_changed_in_place_is_refused():
    q, k, v = qkv()
    record = trace(q, k, v)
    q.zero_()
    with pytest.raises(RuntimeError, match="q must stay as it was"):
        record.stage("weights")


@pytest.mark.parametrize("live", [0, 1, 2])
def test_with_gradients_they_give_them(live):
    inputs = qkv()
    inputs[live].requires_grad_()
    record = trace(*inputs)
    (record.output.sum() + record.stage("weights").square().sum()).backward()
    assert inputs[live].grad.abs().sum() > 0


def test_what_dropout_makes_of_a_value_may_overflow():
    """Every query looks at one key alone, whose value is 1,000; what survives counts 100 times."""
    q, k, v = (torch.zeros(2, 2, 300, 8, dtype=torch.float16) for _ in range(3))
    q[..., 0], k[:, :, 7, 0], v[:, :, 7] = 9.0, 9.0, 1000.0
    assert trace(q, k, v).output.float().amin() > 999
    with pytest.raises(ValueError, match=r"overflow in torch\.float16"):
        trace(q, k, v, dropout=Dropout(0.99, 1))
