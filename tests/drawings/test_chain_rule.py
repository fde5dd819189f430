"""The ways of a number to the loss: the factors beside the links multiply to its gradient."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core import modules, toy
from attn_core.views import drawings

WORDS, X = toy.journey()


def head():
    torch.manual_seed(123)
    return modules.SelfAttentionV1(3, 2).double()


@pytest.mark.parametrize("number", [(0, 0), (2, 1)])
def test_the_factors_multiply_to_the_gradient(number):
    made = head()
    x = X.double()
    drawing = drawings.chain_rule(made.source(x), 4, 5, number=number, tokens=WORDS)
    numbers = [float(n.replace("−", "-")) for n in re.findall(r">×(−?[\d.]+)<", drawing.svg())]
    first, factors, pulls = numbers[0], numbers[1::2], numbers[2::2]
    assert len(factors) == len(pulls) == len(WORDS)
    by_hand = first * sum(f * p for f, p in zip(factors, pulls, strict=True))
    (-torch.log(made.trace(x).stage("weights")[4, 5])).backward()
    assert by_hand == pytest.approx(made.w_query.grad[number].item(), abs=2e-4)


def test_its_words_tell_the_same_numbers():
    drawing = drawings.chain_rule(head().source(X.double()), 4, 5, tokens=WORDS)
    for n in re.findall(r">×(−?[\d.]+)<", drawing.svg()):
        assert n in drawing.alt
    assert "the weight that “one” gives to “step”" in drawing.alt
