"""The gate: curve and points are where torch has them, and the minimum is one."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core.views import drawings
from attn_core.views.drawings.silu_gate import LOWEST, at, silu

GATES = [math.log(3), -math.log(3), 4.0]


def test_the_points_are_on_torch_s_curve():
    svg = drawings.silu_gate(GATES).svg()
    points = [
        (float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="5"', svg)
    ]
    expected = torch.nn.functional.silu(torch.tensor(GATES, dtype=torch.float64)).tolist()
    for point, gate, value in zip(points, GATES, expected, strict=True):
        assert point == pytest.approx(at(gate, value), abs=0.06)


def test_it_says_products_of_the_gate_and_its_sigmoid():
    alt = drawings.silu_gate(GATES).alt
    assert "The gate 1.0986 gives 1.0986 · 0.75 = 0.824." in alt
    assert "The gate −1.0986 gives −1.0986 · 0.25 = −0.275." in alt
    assert "The gate 4 gives 4 · 0.982 = 3.928." in alt


def test_the_minimum_is_where_the_slope_is_0():
    x = torch.tensor(LOWEST, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.nn.functional.silu(x), x)
    assert abs(float(slope)) < 1e-12
    assert round(silu(LOWEST), 3) == -0.278
    assert min(silu(n / 100) for n in range(-400, 401)) >= silu(LOWEST)
