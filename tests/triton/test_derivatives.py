"""Derivatives of a call on a GPU are those of the formula, whatever q, k and v share."""

from functools import partial

import pytest
import torch

from attn_core import attention, causal
from tests.attn_core.derivatives import SHARED, WAYS, by_formula, derivative, loss
from tests.attn_core.reference import drawn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
T, WIDTH = 40, 4
pytestmark = [
    pytest.mark.usefixtures("kernels"),
    # torch says it of itself when forward mode is first asked for.
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),
    # And this of the thread that goes the way back.
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS"),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("shared", SHARED)
def test_derivatives_are_those_of_the_formula(shared, way):
    x = drawn(1, 1, 1, T, 3 * WIDTH).to(DEVICE, torch.float32)
    cells = torch.ones(T, T, dtype=torch.bool, device=DEVICE).tril()
    ours, formula = partial(attention, keep=causal()), partial(by_formula, keep=cells)
    computed = derivative(way, partial(loss, ours, shared, WIDTH), x)
    wanted = derivative(way, partial(loss, formula, shared, WIDTH), x.double())
    room = 1e-5 * wanted.abs().max().item()
    torch.testing.assert_close(computed.double(), wanted, rtol=0, atol=room)
