"""torch's own attention under every mask: its output, its gradients, and what it is told."""

import pytest
import torch

from attn_core import attention, causal, padding, prefill, window
from attn_core.call import Call
from attn_core.engines import torch_sdpa
from attn_core.engines.torch_sdpa import TORCH_SDPA, strips
from tests.attn_core.derivatives import by_formula
from tests.attn_core.reference import drawn

SIZES = [(520, 520), (520, 300), (130, 560)]  # two strips of rows, keys that none sees, one strip


def masks(L, S):
    cells = drawn(9, 2, 3, L, S) < 0.3
    dead = cells.clone()
    dead[:, 1, 4:9] = False
    return {
        "none": None,
        "causal": causal(),
        "window": window(40, 3),
        "padding": padding([S - 5, 17]),
        "padding, nothing": padding([0, S]),
        "causal and padding": causal() & padding([S - 5, 17]),
        "causal and padding, nothing": causal() & padding([S, 0]),
        "window and padding": window(9) & padding([S // 2, S]),
        "cells": cells,
        "cells of heads": cells[:1],
        "cells of keys": cells[:, :1, :1],
        "cells, empty rows": dead,
        "causal cells": causal() & dead,
    }


def inputs(L, S, dtype=torch.float64, width=4):
    return [drawn(i, 2, 3, n, width).to(dtype) for i, n in ((1, L), (2, S), (3, S))]


def of_formula(call):
    """The output in float64, and 0 for a row that keeps nothing."""
    q, k, v = (tensor.double() for tensor in (call.q, call.k, call.v))
    if call.keep is None:
        return by_formula(q, k, v, None, call.scale)
    kept = call.keep.dense(*call.size)
    dead = ~kept.any(-1, keepdim=True)
    return by_formula(q, k, v, kept | dead, call.scale).masked_fill(dead, 0.0)


@pytest.mark.parametrize("scale", [0.7, 0.0, -0.4])
@pytest.mark.parametrize("name", masks(60, 60))
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_output_and_gradients_are_those_of_the_formula(size, name, scale):
    found = []
    pull = drawn(7, 2, 3, size[0], 4)
    for attend in (lambda call: TORCH_SDPA.forward(call)[0], of_formula):
        live = [tensor.requires_grad_() for tensor in inputs(*size)]
        call = Call.of(*live, masks(*size)[name], scale)
        assert torch_sdpa.serves(call)
        output = attend(call)
        found.append([output, *torch.autograd.grad(output, live, pull)])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("name", ["window", "padding, nothing", "cells, empty rows"])
def test_every_dtype_is_computed_in_float32_at_least(name, dtype):
    live = [tensor.requires_grad_() for tensor in inputs(520, 520, dtype)]
    wide = [tensor.detach().float().requires_grad_() for tensor in live]
    keep, pull = masks(520, 520)[name], drawn(7, 2, 3, 520, 4).to(dtype)
    found = []
    for tensors in (live, wide):
        output = attention(*tensors, keep=keep)
        gradients = torch.autograd.grad(output, tensors, pull.to(output.dtype))
        found.append([each.to(dtype) for each in (output, *gradients)])
    for mine, other in zip(*found, strict=True):
        assert mine.dtype == dtype
        assert torch.equal(mine, other)


def test_tensors_with_gaps_and_those_that_share_memory():
    """Keys that lie transposed, values of one head for all, a gradient that is one number."""
    q, k, v = inputs(520, 520)
    live = [q.mT.contiguous().mT, k[..., :1].expand_as(k), v[:, :1].expand_as(v)]
    live = [tensor.detach().requires_grad_() for tensor in live]
    found = []
    for attend in (lambda call: TORCH_SDPA.forward(call)[0], of_formula):
        found.append(torch.autograd.grad(attend(Call.of(*live, window(9))).sum(), live))
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-11)


def told(keep, L=600, S=600, batches=1, scale=0.5):
    q, k = torch.zeros(batches, 1, L, 2), torch.zeros(batches, 1, S, 2)
    return list(strips(Call.of(q, k, k, keep, scale)))


@pytest.mark.parametrize(
    ("keep", "is_causal", "shape"),
    [
        (None, False, None),
        (causal(), True, None),
        (prefill(0), True, None),
        (padding([5, 9]), False, (2, 1, 1, 600)),
        (causal() & padding([5, 9]), True, (2, 1, 1, 600)),
        (torch.ones(600, dtype=torch.bool), False, (1, 1, 1, 600)),
    ],
    ids=str,
)
def test_a_mask_that_torch_knows_is_told_at_once(keep, is_causal, shape):
    (strip,) = told(keep, batches=2)
    assert (strip.rows, strip.cols) == (range(600), range(600))
    assert strip.is_causal == is_causal
    assert (None if strip.kept is None else strip.kept.shape) == shape
    assert strip.dead is None


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**-127])
def test_a_causal_mask_is_written_out_where_torch_would_hide_before_it_multiplies(scale):
    assert not any(strip.is_causal for strip in told(causal(), scale=scale))


def test_rows_see_no_more_than_their_columns():
    found = told(window(10), L=600, S=700)
    assert [(strip.rows, strip.cols) for strip in found] == [
        (range(0, 512), range(90, 612)),
        (range(512, 600), range(602, 700)),
    ]


def test_of_a_long_mask_few_rows_are_written_out_at_a_time():
    """At most 2 million cells, 8 MB."""
    cells = torch.ones(1, 1, 40, 200_000, dtype=torch.bool)
    sizes = [strip.kept.numel() for strip in told(causal() & cells, L=40, S=200_000)]
    assert len(sizes) == 3
    assert max(sizes) <= 16 * 200_000
