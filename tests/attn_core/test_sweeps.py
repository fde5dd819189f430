"""A sweep against `trace` in a loop: the same weights bit for bit, the output to a rounding."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_core import Dropout, causal, padding, sweep, sweeps, trace, window
from tests.attn_core.reference import DTYPES, drawn

pytestmark = pytest.mark.gate

SCALES = [None, 0.3, -1.0, 0.3]
DROPOUTS = [None, Dropout(0.5, 7), Dropout(0.2, 7), Dropout(0.5, 8), Dropout(0.5, 7)]


@pytest.mark.parametrize(
    ("lead", "dtype"),
    [
        # Each dtype and each number of axes in every run, all of both in the slow ones.
        pytest.param(
            lead,
            dtype,
            marks=() if dtype == torch.float32 or lead == (2, 1, 3) else pytest.mark.slow,
        )
        for lead in [(), (2,), (2, 3), (2, 1, 3)]
        for dtype in DTYPES
    ],
    ids=str,
)
def test_every_setting_is_that_of_trace(lead, dtype):
    shapes = [(*lead, 5, 3), (*lead, 9, 3), (*lead, 9, 4)]
    q, k, v = (drawn(seed, *shape).to(dtype) for seed, shape in enumerate(shapes))
    cells = drawn(4, 5, 9) > 0
    batches = q.reshape(-1, *q.shape[-3:]).shape[0] if len(lead) > 1 else (*lead, 1)[0]
    keeps = [None, causal(), cells, causal(), window(2) & padding([9] + [0] * (batches - 1)), cells]
    swept = sweep(q, k, v, scale=SCALES, keep=keeps, dropout=DROPOUTS)
    assert swept.output.shape == (4, 6, 5, *lead, 5, 4)
    for a, scale in enumerate(SCALES):
        for b, keep in enumerate(keeps):
            for c, dropout in enumerate(DROPOUTS):
                record = trace(q, k, v, scale=scale, keep=keep, dropout=dropout)
                eps = 20 * torch.finfo(dtype).eps
                near = partial(torch.testing.assert_close, rtol=eps, atol=eps)
                near(swept.weights[a, b], record.stage("weights"))
                near(swept.dropped[a, b, c], record.stage("dropped"))
                near(swept.output[a, b, c], record.output)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.4]), min_size=1, max_size=6))
def test_scores_are_computed_once_and_weights_once_for_each_scale(scales):
    sizes = []
    exact = sweeps.softmax_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps, "softmax_", lambda c, _: sizes.append(c.shape[:2]) or exact(c, True))
        x = drawn(1, 4, 2)
        sweep(x, x, x, scale=scales, keep=[causal(), causal(), None])
    assert sizes == [(len(set(scales)), 2)]


def test_words_are_drawn_once_a_seed(monkeypatch):
    seeds = []
    exact = Dropout.words
    monkeypatch.setattr(Dropout, "words", lambda d, *a: seeds.append(d.seed) or exact(d, *a))
    x = drawn(1, 4, 2)
    sweep(x, x, x, scale=[1.0, 2.0], dropout=DROPOUTS)
    assert seeds == [7, 8]


def test_gradients_are_those_of_trace():
    q, k, v = (drawn(seed, 4, 2).requires_grad_() for seed in (1, 2, 3))
    swept = sweep(q, k, v, scale=[0.5, 2.0], keep=[causal()], dropout=DROPOUTS[1:2])
    mine = torch.autograd.grad(swept.output[1, 0, 0].sum(), (q, k, v))
    record = trace(q, k, v, scale=2.0, keep=causal(), dropout=DROPOUTS[1])
    for a, b in zip(mine, torch.autograd.grad(record.output.sum(), (q, k, v)), strict=True):
        torch.testing.assert_close(a, b)
