"""The GPU's kernels give what the six formulas give, mask by mask, with the same dropout bits."""

import os
import sys
from itertools import product

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from attn_core import Dropout, attention, causal, padding, trace, window
from attn_core.call import Call
from tests.attn_core.reference import drawn
from tests.attn_core.test_precision import calls, most_error
from tests.attn_core.test_precision import masks as kinds_of_mask
from tests.processes import ran

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# B, H, L, S, D, Dv: one tile and several, the last one partly filled, widths that are padded.
SHAPES = [(1, 1, 6, 6, 2, 2), (2, 3, 33, 70, 5, 7), (2, 1, 65, 65, 16, 24), (1, 1, 70, 40, 3, 3)]
DROPOUTS = [None, Dropout(0.3, 2**40 + 7)]
STAGES = ["scores", "scaled", "masked", "weights", "dropped"]
pytestmark = pytest.mark.usefixtures("kernels")


def inputs(B, H, L, S, D, Dv, dtype=torch.float32):
    shapes = ((B, H, L, D), (B, H, S, D), (B, H, S, Dv))
    return [drawn(n, *shape).to(DEVICE, dtype) for n, shape in enumerate(shapes)]


def masks(B, H, L, S):
    cells = drawn(9, B, 1, L, S).to(DEVICE) > 0.3
    cells[:, :, 1] = False  # a row that keeps nothing
    return {
        "none": None,
        "causal": causal(),
        "window": window(5, 3),
        "padding and causal": padding([S // 2] * B) & causal(),
        "an empty sequence": padding([0] + [S] * (B - 1)),
        "cells": cells,
        "cells of one row": cells[:1, :, :1],
        "cells and window": window(7) & cells,
    }


MASKS = sorted(masks(1, 1, 4, 4))


def is_tritons(record):
    from attn_core.engines.triton import Triton

    return isinstance(record.engine, Triton)


def close(mine, exact, most=3e-6):
    torch.testing.assert_close(mine, exact.to(mine.dtype), rtol=most, atol=most)


def both(shape, mask, dropout=None, dtype=torch.float32, scale=None):
    """The record of Triton's kernels, and the one in float64, which torch's operations make."""
    q, k, v = inputs(*shape, dtype)
    settings = {"keep": masks(*shape[:4])[mask], "dropout": dropout, "scale": scale}
    exact = trace(q.double(), k.double(), v.double(), **settings)
    record = trace(q, k, v, **settings)
    assert is_tritons(record)
    assert not is_tritons(exact)
    return record, exact


def each_call():
    """Every shape, mask and dropout; on a processor a third of them, but each mask and shape."""
    for n, (mask, shape) in enumerate(product(MASKS, SHAPES)):
        for m, dropout in enumerate(DROPOUTS):
            is_often = DEVICE == "cuda" or (n + m) % 3 == 0
            marks = () if is_often else pytest.mark.deep
            yield pytest.param(shape, mask, dropout, marks=marks, id=f"{shape}-{mask}-{dropout}")


@pytest.mark.parametrize(("shape", "mask", "dropout"), list(each_call()))
def test_one_pass_gives_output_and_row_statistics(shape, mask, dropout):
    record, exact = both(shape, mask, dropout)
    assert len(record.known) == 1, "they were on the way"
    for name in ("output", "row_max", "row_sum", "lse"):
        close(getattr(record, name), getattr(exact, name))


@pytest.mark.parametrize("scale", [-1.3, 0.0, 1e-60, 200.0])
def test_any_scale(scale):
    record, exact = both(SHAPES[1], "cells and window", DROPOUTS[1], scale=scale)
    for name in ("output", "row_max", "row_sum"):
        close(getattr(record, name), getattr(exact, name), 3e-6 if abs(scale) < 10 else 1e-4)


@pytest.mark.parametrize("mask", MASKS)
def test_any_part_of_any_stage(mask):
    record, exact = both(SHAPES[1], mask, DROPOUTS[1])
    for stage in STAGES:
        for rows, cols in ((range(33), range(70)), (range(1, 30, 3), range(2, 69, 7))):
            tiles = [each.tile(stage, rows, cols, batch=1, head=2) for each in (record, exact)]
            close(*tiles)
        close(record.stage(stage), exact.stage(stage))


@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("mask", MASKS)
def test_an_overview_is_the_pooled_map(mask, how):
    record, exact = both((2, 2, 49, 41, 5, 7), mask, DROPOUTS[1])
    settings = {"how": how, "batch": 1, "head": 1}
    for stage in STAGES:
        pooled = record.pooled(stage, (3, 2), **settings)
        close(pooled, exact.pooled(stage, (3, 2), **settings), 1e-5)


def test_an_overview_without_dropout_is_that_of_the_weights():
    record, exact = both(SHAPES[2], "causal")
    close(record.pooled("dropped", (3, 2)), exact.pooled("weights", (3, 2)))


def test_the_bits_of_dropout_are_those_of_the_cpu():
    dropout = DROPOUTS[1]
    record, _ = both(SHAPES[1], "none", dropout)
    survives = dropout.survives(range(2), range(3), range(33), range(70), DEVICE)
    assert torch.equal(record.stage("dropped") != 0, survives)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(calls())
def test_error_is_at_most_twice_torchs_own_and_one_rounding(call):
    """Two fixed sequences of up to three heads, sharp logits and each kind of mask among them."""
    q, k, v, name, scale = call
    q, k, v = (tensor[..., :300, :].to(DEVICE) for tensor in (q, k, v))
    keep = kinds_of_mask(q.shape[2], k.shape[2], q.shape[1])[name]
    keep = keep.to(DEVICE) if isinstance(keep, torch.Tensor) else keep
    record = trace(q, k, v, keep=keep, scale=scale)
    exact, most = most_error(q, k, v, record.keep, scale)
    for mine in (record.output, attention(q, k, v, keep=keep, scale=scale)):
        assert (mine.double() - exact).abs().max() <= most


@pytest.mark.parametrize("dropout", DROPOUTS, ids=str)
@pytest.mark.parametrize("mask", ["causal", "cells", "an empty sequence"])
def test_gradients(mask, dropout):
    shape = SHAPES[1]
    settings = {"keep": masks(*shape[:4])[mask], "dropout": dropout}
    gradients = []
    for dtype in (torch.float32, torch.float64):
        live = [tensor.requires_grad_() for tensor in inputs(*shape, dtype)]
        first = torch.autograd.grad(attention(*live, **settings).square().sum(), live)
        of_q = torch.autograd.grad(
            attention(*live, **settings).square().sum(), live[0], create_graph=True
        )
        gradients.append([*first, *torch.autograd.grad(of_q[0].square().sum(), live)])
    for mine, exact in zip(*gradients, strict=True):
        assert mine.isfinite().all()
        close(mine, exact, 2e-4)


def test_float16_gradients_are_finite_and_narrow():
    live = [tensor.requires_grad_() for tensor in inputs(*SHAPES[2], torch.float16)]
    record = trace(*live, keep=causal())
    record.output.square().sum().backward()
    assert record.output.dtype == torch.float16
    assert all(
        tensor.grad.dtype == torch.float16 and tensor.grad.isfinite().all() for tensor in live
    )


def test_stages_of_a_live_record_have_gradients():
    q, k, v = (tensor.requires_grad_() for tensor in inputs(*SHAPES[0]))
    (of_q,) = torch.autograd.grad(trace(q, k, v).stage("weights").square().sum(), q)
    wide = [tensor.detach().double().requires_grad_() for tensor in (q, k, v)]
    (exact,) = torch.autograd.grad(trace(*wide).stage("weights").square().sum(), wide[0])
    close(of_q, exact)


def test_row_statistics_of_some_heads(kernels):
    record, exact = both(SHAPES[1], "cells")
    of_part = kernels.TRITON.row_statistics(record, range(1, 2), range(1, 3))
    for statistic, wanted in zip(of_part, (exact.row_max, exact.row_sum), strict=True):
        close(statistic, wanted[1:, 1:])


def test_heads_that_lie_side_by_side_in_memory():
    """As a projection leaves them: [B, T, H, D], seen as [B, H, T, D]."""
    tensors = [drawn(n, 2, 20, 3, 8).to(DEVICE, torch.float32).transpose(1, 2) for n in range(3)]
    record = trace(*tensors, keep=causal())
    exact = trace(*(tensor.double() for tensor in tensors), keep=causal())
    close(record.output, exact.output)
    close(record.pooled("weights", (3, 3), head=2), exact.pooled("weights", (3, 3), head=2))


def test_what_is_not_finite_is_named():
    q, k, v = inputs(*SHAPES[0])
    k[0, 0, 3, 1] = torch.nan
    with pytest.raises(ValueError, match=r"k must be finite, got nan at \(0, 0, 3, 1\)"):
        attention(q, k, v)


def test_wide_heads_and_float64_take_torchs_operations():
    wide = drawn(1, 4, 257).to(DEVICE)
    for tensor in (wide, wide.float()):
        assert not is_tritons(trace(tensor, tensor, tensor))
    assert is_tritons(trace(*[wide[:, 1:].float()] * 3))


def test_masks_come_down_to_a_band():
    from attn_core.engines.triton.launch import plan

    band = plan(causal() & window(4, 2) & padding([3, 5]) & padding([4, 4]), DEVICE)
    assert (band.before, band.after, band.lengths.tolist()) == (4, 0, [3, 4])


def test_all_weights_are_derived():
    q, k, v = inputs(1, 1, 257, 257, 4, 4)
    record = trace(q, k, v, keep=causal())
    close(record.stage("weights") @ v, record.output)


@pytest.mark.parametrize("width", [64, 256])
def test_a_row_of_any_length_fits_into_one_launch(width, kernels, monkeypatch):
    """All programs stand on the first axis: the others of a GPU's grid end at 65,535."""
    grids = []

    class Launch:
        def __getitem__(self, grid):
            grids.append(grid)
            return lambda *given, **named: None

    monkeypatch.setattr(kernels.parts, "part_of_stage", Launch())
    query, keys = torch.empty(1, 1, 1, width), torch.empty(1, 1, 1, width).expand(-1, -1, 2**21, -1)
    monkeypatch.setattr(torch.Tensor, "contiguous", lambda tensor: tensor)
    part = range(1), range(1), range(1), range(2**21)
    call = Call(query, keys, keys, None, 1.0, None, ())
    kernels.TRITON.cells(call, "scores", part, None)
    assert [len(grid) for grid in grids] == [1]
    assert 65_535 < grids[0][0] < 2**31


@pytest.mark.parametrize("said", ["1", "true", "YES", "on", "y"])
def test_the_interpreter_is_known_however_it_is_asked_for(said):
    code = "from attn_core.engines.triton import launch; print(launch.INTERPRETED)"
    done = ran(sys.executable, "-c", code, env=os.environ | {"TRITON_INTERPRET": said})
    assert done.stdout == "True\n", done.stderr
