"""The GPU's kernels give what the six formulas give, mask by mask, with the same dropout bits."""

import pytest
import torch

from attn_core import Dropout, causal, padding, trace, window

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# B, H, L, S, D, Dv: one tile and several, the last one partly filled, widths that are padded.
SHAPES = [(1, 1, 6, 6, 2, 2), (2, 3, 33, 70, 5, 7), (2, 1, 65, 65, 16, 24), (1, 1, 70, 40, 3, 3)]
DROPOUTS = [None, Dropout(0.3, 2**40 + 7)]


@pytest.fixture(scope="module")
def kernel():
    pytest.importorskip("triton", reason="Triton is not installed: it has wheels for Linux only")
    from attn_core.kernels import triton

    return triton


def numbers(*shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(DEVICE)


def inputs(B, H, L, S, D, Dv, dtype=torch.float32):
    shapes = ((B, H, L, D), (B, H, S, D), (B, H, S, Dv))
    return [numbers(*shape, seed=n).to(dtype) for n, shape in enumerate(shapes)]


def masks(B, H, L, S):
    cells = numbers(B, 1, L, S, seed=9) > 0.3
    cells[:, :, 1] = False  # a row that keeps nothing
    return {
        "none": None,
        "causal": causal(),
        "window": window(5, 3),
        "padding and causal": padding([S // 2] * B) & causal(),
        "cells": cells,
        "cells of one row": cells[:1, :, :1],
        "cells and window": window(7) & cells,
    }


@pytest.mark.parametrize("dropout", DROPOUTS, ids=str)
@pytest.mark.parametrize("mask", masks(1, 1, 4, 4))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_pass_gives_output_and_row_statistics(kernel, shape, mask, dropout):
    q, k, v = inputs(*shape)
    keep = masks(*shape[:4])[mask]
    exact = trace(q.double(), k.double(), v.double(), keep=keep, dropout=dropout)
    record = trace(q, k, v, keep=keep, dropout=dropout)
    output, row_max, row_sum = kernel.forward(q, k, v, record.keep, record.scale, dropout)
    torch.testing.assert_close(output, exact.output_4d.float(), rtol=3e-6, atol=3e-6)
    torch.testing.assert_close(row_max, exact.row_max.float(), rtol=3e-6, atol=3e-6)
    torch.testing.assert_close(row_sum, exact.row_sum.float(), rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("stage", ["scores", "scaled", "masked", "weights", "dropped"])
@pytest.mark.parametrize("mask", ["window", "padding and causal", "cells"])
def test_an_overview_is_the_pooled_map(kernel, mask, stage, how):
    shape = (2, 2, 97, 97, 5, 7)
    q, k, v = inputs(*shape)
    dropout = DROPOUTS[1]
    record = trace(q, k, v, keep=masks(*shape[:4])[mask], dropout=dropout)
    rows = record.row_max, record.row_sum, record.keep, record.scale, dropout
    found = kernel.pooled(q, k, *rows, stage, (5, 4), how, 1, 1)
    pooled = record.pooled(stage, (5, 4), how, batch=1, head=1)
    torch.testing.assert_close(found, pooled, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_stays_within_its_rounding(kernel, dtype):
    q, k, v = inputs(*SHAPES[1], dtype)
    exact = trace(q.double(), k.double(), v.double(), keep=causal()).output_4d
    output, *_ = kernel.forward(q, k, v, causal(), 5**-0.5, None)
    peer = torch.nn.functional.scaled_dot_product_attention
    keep = causal().dense(33, 70).to(DEVICE)
    torch_error = (peer(q, k, v, attn_mask=keep).double() - exact).abs().max()
    rounding = torch.finfo(dtype).eps * exact.abs().max()
    assert output.dtype == dtype
    assert (output.double() - exact).abs().max() <= 2 * torch_error + rounding


def test_masks_come_down_to_a_band(kernel):
    plan = kernel.plan(causal() & window(4, 2) & padding([3, 5]) & padding([4, 4]), DEVICE)
    assert (plan.before, plan.after, plan.lengths.tolist()) == (4, 0, [3, 4])


def test_an_unknown_mask_is_refused(kernel):
    from attn_core.masks import Keep

    with pytest.raises(TypeError, match="keep must be made of the masks of attn_core, got"):
        kernel.plan(Keep(), DEVICE)
