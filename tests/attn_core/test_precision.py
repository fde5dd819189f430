"""The rule of precision: error against float64 at most twice torch's own, and one rounding."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_core import attention, causal, padding, trace, window
from tests.attn_core.reference import drawn

SIZES = (1, 2, 7, 31, 63, 64, 65, 130, 257, 300, 513, 1030)  # around the heights of tiles
NARROW = (torch.float16, torch.bfloat16, torch.float32)


def masks(L, S, heads):
    """Each kind of mask; of cells, also one for each head, and rows that keep nothing."""
    return {
        "none": None,
        "causal": causal(),
        "window": window(5, 3),
        "padding": padding([S, (S + 1) // 2]),
        "joined": causal() & padding([(S + 1) // 2, S]) & window(70),
        "cells": drawn(L + S, 2, heads, L, S) < 0.5,
        "few cells": drawn(L * S, L, S) < -1.5,
    }


MASKS = sorted(masks(1, 1, 1))


def exactly(q, k, v, cells, scale):
    """The formula in float64; rows that keep nothing give 0."""
    scores = (q.double() @ k.double().mT * scale).masked_fill(~cells, -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ v.double()


def torchs_own(q, k, v, cells, scale):
    """What torch makes of the call as it is, and by its flash kernel, which wants Dv = D.

    The first scales q and k by √scale each if Dv differs from D; sometimes that is nearer by luck.
    """
    yield F.scaled_dot_product_attention(q, k, v, attn_mask=cells, scale=scale)
    size = max(q.shape[3], v.shape[3])
    alike = [F.pad(tensor, (0, size - tensor.shape[3])) for tensor in (q, k, v)]
    wide = F.scaled_dot_product_attention(*alike, attn_mask=cells, scale=scale)
    yield wide[..., : v.shape[3]]


def most_error(q, k, v, keep, scale):
    """The formula in float64, and how far a result may be off: twice torch's own and a rounding."""
    L, S = q.shape[2], k.shape[2]
    cells = torch.ones(1, 1, L, S, dtype=torch.bool, device=q.device)
    cells = cells if keep is None else keep.dense(L, S, q.device)
    cells = cells.expand(*q.shape[:3], S)
    exact, alive = exactly(q, k, v, cells, scale), cells.any(-1, keepdim=True)
    errors = (theirs.double() - exact for theirs in torchs_own(q, k, v, cells, scale))
    their_error = max((error * alive).nan_to_num(0.0).abs().max() for error in errors)
    return exact, 2 * their_error + torch.finfo(v.dtype).eps * v.double().abs().max()


@st.composite
def calls(draw):
    heads, size = draw(st.integers(1, 3)), st.sampled_from(SIZES)
    L, S = draw(size), draw(size)
    D, Dv = draw(st.sampled_from((1, 3, 16, 64))), draw(st.sampled_from((2, 16, 64)))
    spread = draw(st.sampled_from((0.05, 1.0, 30.0)))  # 30: one weight of a row is nearly 1
    dtype = draw(st.sampled_from(NARROW))
    q = (drawn(1, 2, heads, L, D) * spread).to(dtype)
    k, v = drawn(2, 2, heads, S, D).to(dtype), drawn(3, 2, heads, S, Dv).to(dtype)
    return q, k, v, draw(st.sampled_from(MASKS)), draw(st.sampled_from((0.1, -0.4, 1.0)))


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize("keep", [None, causal()], ids=str)
def test_of_a_long_call_with_sharp_logits(spread, keep):
    q, k, v = (drawn(seed, 1, 2, 700, 32).float() for seed in (1, 2, 3))
    record = trace(q * spread, k, v, keep=keep)
    exact, most = most_error(q * spread, k, v, record.keep, record.scale)
    assert (record.output.double() - exact).abs().max() <= most


@pytest.mark.slow
@settings(max_examples=300)
@given(calls(), st.booleans())
def test_error_is_at_most_twice_torchs_own_and_one_rounding(call, is_live):
    q, k, v, name, scale = call
    keep = masks(q.shape[2], k.shape[2], q.shape[1])[name]
    record = trace(q, k, v, keep=keep, scale=scale)
    exact, most = most_error(q, k, v, record.keep, scale)
    output = attention(q.requires_grad_(is_live), k, v, keep=keep, scale=scale)
    for mine in (record.output, output.detach()):
        error = (mine.double() - exact).abs().max()
        assert error <= most, f"{error:.2g}, and at most {most:.2g}"
