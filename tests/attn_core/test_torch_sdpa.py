"""torch's own attention: what it is told of a mask. test_routes.py has its numbers."""

from functools import partial

import pytest
import torch

from attn_core import attention, causal, padding, prefill, window
from attn_core.call import Call
from attn_core.engines.formulas import FORMULAS
from attn_core.engines.torch_sdpa import TORCH_SDPA, TORCH_SDPA_ON_GPU, strips
from tests.attn_core.derivatives import by_formula, loss, of_samples, reverse_over_forward
from tests.attn_core.reference import drawn


def test_tensors_with_gaps_and_those_that_share_memory():
    """Keys that lie transposed, values of one head for all, a gradient that is one number."""
    q, k, v = (drawn(i, 2, 3, 520, 4) for i in (1, 2, 3))
    live = [q.mT.contiguous().mT, k[..., :1].expand_as(k), v[:, :1].expand_as(v)]
    live = [tensor.detach().requires_grad_() for tensor in live]
    gradients = []
    for engine in (TORCH_SDPA, FORMULAS):
        output = engine.forward(Call.of(*live, window(9)))[0]
        gradients.append(torch.autograd.grad(output.sum(), live))
    for mine, other in zip(*gradients, strict=True):
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
        (padding(starts=[5, 9]), False, (2, 1, 1, 600)),
        (torch.ones(600, dtype=torch.bool), False, (1, 1, 1, 600)),
    ],
    ids=str,
)
def test_a_mask_that_torch_knows_is_told_at_once(keep, is_causal, shape):
    (strip,) = told(keep, batches=2)
    assert (strip.rows, strip.cols) == (range(600), range(600))
    assert strip.is_causal == is_causal
    assert (None if strip.keep is None else strip.keep.shape) == shape
    assert strip.dead is None


def test_rows_before_the_first_word_keep_nothing_under_a_triangle():
    (strip,) = told(causal() & padding(starts=[5, 0]), batches=2)
    assert strip.is_causal
    assert strip.keep.shape == (2, 1, 1, 600)
    assert strip.dead.sum((1, 2, 3)).tolist() == [5, 0]


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**-127])
def test_a_causal_mask_is_written_out_where_torch_would_hide_before_it_multiplies(scale):
    assert not any(strip.is_causal for strip in told(causal(), scale=scale))


def test_rows_see_no_more_than_their_columns():
    asked = told(window(10), L=600, S=700)
    assert [(strip.rows, strip.cols) for strip in asked] == [
        (range(0, 512), range(90, 612)),
        (range(512, 600), range(602, 700)),
    ]


def test_of_a_long_mask_few_rows_are_written_out_at_a_time():
    """At most 2 million cells, 8 MB."""
    cells = torch.ones(1, 1, 40, 200_000, dtype=torch.bool)
    sizes = [strip.keep.numel() for strip in told(causal() & cells, L=40, S=200_000)]
    assert len(sizes) == 3
    assert max(sizes) <= 16 * 200_000


@pytest.mark.parametrize("keep", [None, causal()], ids=["all keys", "causal"])
def test_what_a_gpu_is_asked_for_is_the_same_attention(keep):
    """torch's operation is the same on a CPU; which kernel of a GPU answers is torch's choice."""
    call = Call.of(*(drawn(i, 2, 3, 20, 4) for i in (1, 2, 3)), keep, 0.7)
    (output,) = TORCH_SDPA_ON_GPU.one_pass(call)
    torch.testing.assert_close(output, FORMULAS.forward(call)[0])


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("way", [of_samples, reverse_over_forward], ids=lambda way: way.__name__)
def test_it_has_a_way_back_for_tensors_that_do_not_ask_for_gradients(way, monkeypatch):
    monkeypatch.setattr("attn_core.api.engine_for", lambda *asked, **how: TORCH_SDPA_ON_GPU)
    x = drawn(4, 1, 1, 20, 12)
    ours, formula = (
        partial(attention, keep=causal()),
        partial(by_formula, keep=torch.ones(20, 20).tril() > 0),
    )
    computed, wanted = (way(partial(loss, attend, "chunks", 4), x) for attend in (ours, formula))
    torch.testing.assert_close(computed, wanted)
