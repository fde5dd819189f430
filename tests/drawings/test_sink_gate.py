"""A sink takes a share, and what is left are the same weights times a gate."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attn_core.views import drawings
from attn_core.views.drawings.drawing import short


@pytest.mark.parametrize("sink", [0.0, 2.0, -30.0, 800.0])
def test_the_gate_is_a_sigmoid_of_lse_less_the_sink(sink):
    scores = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    gate = torch.sigmoid(scores.logsumexp(0) - sink)
    weights = torch.softmax(torch.cat([scores, torch.tensor([sink])]), 0)
    alt = drawings.sink_gate(scores.tolist(), sink, ["Tom", "Jerry"]).alt
    assert "Without a sink: Tom 0.25, Jerry 0.75." in alt
    tom, jerry, lost = (short(n) for n in weights.tolist())
    assert f"one more score: Tom {tom}, Jerry {jerry}, lost to the sink {lost}." in alt
    assert alt.endswith(f"Each weight is {short(float(gate))} of what it was.")


def test_bars_shrink_and_the_lost_share_fills_the_row():
    svg = drawings.sink_gate([0, math.log(3)], 0, ["Tom", "Jerry"]).svg()
    above = re.findall(r'y="40" width="([\d.]+)" height="40" class="more"', svg)
    below = re.findall(r'y="124" width="([\d.]+)" height="40" class="more"', svg)
    (lost,) = re.findall(r'y="124" width="([\d.]+)" height="40" class="accent-line"', svg)
    whole = sum(map(float, above))
    assert [float(n) / whole for n in below] == pytest.approx([0.2, 0.6], abs=0.001)
    assert float(lost) / whole == pytest.approx(0.2, abs=0.001)
