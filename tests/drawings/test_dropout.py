"""Dropout drawn: cells, crosses and sums are those of the record and of its coins."""

import re

import pytest
import torch

from attn_core import Dropout, causal, toy, trace
from attn_core.views import drawings

WORDS, X = toy.journey()
DROP = Dropout(0.5, seed=7)
RECORD = trace(X, X, X, keep=causal(), dropout=DROP)


def steps(drawing):
    return drawing.svg().split('class="step"')[1:]


def numbers(part):
    return [float(n) for n in re.findall(r">(\d\.\d\d)</text>", part)]


def test_what_grew_is_the_stage_dropped():
    dropped = RECORD.stage("dropped").double()
    drawn = numbers(steps(drawings.dropout(RECORD, WORDS))[2])
    expected = [*dropped[dropped > 0].tolist(), *dropped.sum(dim=1).tolist()]
    assert drawn == pytest.approx(expected, abs=0.0051)


def test_a_row_that_keeps_nothing_is_not_said_to_add_up_to_1():
    keep = torch.ones(6, 6, dtype=torch.bool)
    assert "every row adds" in drawings.dropout(trace(X, X, X, keep=keep, dropout=DROP), WORDS).alt
    keep[2] = False
    told = drawings.dropout(trace(X, X, X, keep=keep, dropout=DROP), WORDS).alt
    assert "every row that keeps a key adds up to 1" in told


def test_as_many_crosses_as_cells_fell():
    kept = RECORD.stage("weights") > 0
    fell = kept & (RECORD.stage("dropped") == 0)
    first, tossed, *_ = steps(drawings.dropout(RECORD, WORDS))
    strokes = tossed.count('class="soft-line"') - first.count('class="soft-line"')
    assert strokes == 2 * fell.sum()
    assert f"{fell.sum()} of {kept.sum()} cells" in tossed


def test_the_next_pass_has_coins_of_its_own():
    other = trace(X, X, X, keep=causal(), dropout=DROP.step(1)).stage("dropped").double()
    drawn = numbers(steps(drawings.dropout(RECORD, WORDS))[3])
    assert drawn[-6:] == pytest.approx(other.sum(dim=1).tolist(), abs=0.0051)


def test_on_average_a_row_adds_up_to_1():
    sums = numbers(steps(drawings.dropout(RECORD, WORDS))[4])[-6:]
    assert sums == pytest.approx([1] * 6, abs=0.1)
    assert sums != [1] * 6


def test_lines_are_the_survivors():
    drawing = drawings.training_steps(RECORD, WORDS, query=5, steps=1)
    row = RECORD.stage("dropped")[5]
    assert drawing.svg().count('class="accent-line"') == 6 + (row > 0).sum()
    assert f"sum {row.sum():.2f}" in drawing.alt


def test_another_p_has_another_factor():
    record = trace(X, X, X, dropout=Dropout(0.1, seed=7))
    assert "is multiplied by 1/(1 − p) = 1.1111" in drawings.dropout(record, WORDS).alt
    assert torch.equal(record.stage("weights"), trace(X, X, X).stage("weights"))
