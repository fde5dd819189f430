"""One pass: the sums are right at each block, whatever the blocks, and the end is attention."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core import toy, trace
from attn_core.views import drawings

X = toy.journey().x
RECORD = trace(X, X, X, scale=1.0)
SCORES = RECORD.stage("scores")[1]


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_the_end_is_the_output(size):
    svg = drawings.one_pass(SCORES, X, size=size).svg()
    last = re.findall(r">(\d\.\d{4})<", svg)[-3:]
    assert last == [f"{n:.4f}" for n in RECORD.output[1].tolist()]


def test_each_step_keeps_the_highest_and_the_total_so_far():
    scores = SCORES.flip(0)
    svg = drawings.one_pass(scores, X.flip(0)).svg()
    numbers = re.findall(r'font-weight="600">(\d\.\d{4})<', svg)
    for n, seen in enumerate((scores[:2], scores[:4], scores)):
        total = torch.exp(seen - seen.max()).sum()
        assert numbers[5 * n : 5 * n + 2] == [f"{seen.max():.4f}", f"{total:.4f}"]


def test_it_says_when_nothing_is_mended():
    told = drawings.one_pass(SCORES, X).alt
    assert told.count("no higher score") == 2
    assert "shrinks by" not in told
