"""Mistaken maps: each has its own numbers, and what gives it away is found in them."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core import Dropout, causal, toy, trace
from attn_core.mistakes import MISTAKES
from attn_core.views import drawings
from attn_core.views.drawings.mistakes import given_away

X = toy.notebook().x
RECORD = trace(X, X, X, keep=causal(), dropout=Dropout(0.5, seed=10))


def test_numbers_and_row_sums_are_those_of_the_mistake():
    svg = drawings.mistaken_maps(RECORD, ["mask-after-softmax"]).svg()
    numbers = [float(n) for n in re.findall(r">(\d\.\d\d)<", svg)]
    wrong = MISTAKES["mask-after-softmax"].apply(RECORD)["weights"]
    for at, table in ((0, RECORD.stage("weights")), (12, wrong)):
        rows = torch.cat((table, table.sum(-1, keepdim=True)), dim=1)
        # Cell by cell, a row and then its sum.
        assert numbers[at : at + 12] == pytest.approx(rows.flatten().tolist(), abs=0.0051)


@pytest.mark.parametrize(
    ("name", "says", "cells"),
    [
        ("no-scale", "0.99, not 0.87", [(2, 2)]),
        ("no-mask", "hidden words not 0", [(0, 1), (0, 2), (1, 2)]),
        ("softmax-over-queries", "columns add up to 1", []),
        ("mask-after-softmax", "sums are not 1", []),
        ("dropped-as-weights", "kept words get 0", [(1, 0), (2, 0)]),
    ],
)
def test_what_gives_it_away(name, says, cells):
    keep = torch.ones(3, 3).tril().bool()
    seen = given_away(MISTAKES[name].apply(RECORD)["weights"], RECORD.stage("weights"), keep)
    assert seen == (says, cells)
