"""Arcs of gradients: numbers are autograd's, a weight has an arc, dashes say the sign."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core import attention, causal, trace
from attn_core.views import drawings

Q, K, V = (torch.tensor([row], dtype=torch.float64).T for row in ([math.log(3), 0], [0, 1], [0, 4]))
TARGETS = torch.tensor([[1.0], [4.0]], dtype=torch.float64)


def drawn(keep=None):
    record = trace(Q, K, V, scale=1.0, keep=keep)
    return drawings.gradient_arcs(record, record.output - TARGETS, ["Tom", "Jerry"])


@pytest.mark.parametrize("keep", [None, causal()], ids=["all", "causal"])
def test_what_values_get_is_autograd_s(keep):
    v = V.clone().requires_grad_()
    (attention(Q, K, v, scale=1.0, keep=keep) - TARGETS).square().sum().div(2).backward()
    tom, jerry = v.grad[:, 0].tolist()
    assert f"the values {tom:g} and {jerry:g}.".replace("-", "−") in drawn(keep).alt


def test_a_hidden_cell_has_no_arc_in_either_panel():
    arcs = [drawn(keep).svg().count(" Q") for keep in (None, causal())]
    assert arcs == [8, 6]


def test_a_falling_score_is_dashed_and_one_that_stays_is_dotted():
    dashes = re.findall(r'stroke-dasharray="([\d ]+)"', drawn().svg())
    assert set(dashes) == {"6 4"}
    masked = re.findall(r'stroke-dasharray="([\d ]+)"', drawn(causal()).svg())
    assert set(masked) == {"6 4", "1 4"}
    assert "of Tom 0; of Jerry 2, −2." in drawn(causal()).alt


def test_a_gradient_of_none_is_not_made_up():
    """Where outputs are what they should be, nothing comes back."""
    record = trace(Q, K, V, scale=1.0)
    alt = drawings.gradient_arcs(record, torch.zeros(2, 1), ["Tom", "Jerry"]).alt
    assert "of Tom 0, 0; of Jerry 0, 0." in alt
