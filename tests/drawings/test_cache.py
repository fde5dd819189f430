"""Prefill and decode: the cache grows by one row a step, and the map by a row as long as it."""

from __future__ import annotations

import re

import pytest

from attn_core import causal, toy, trace
from attn_core.views import drawings

WORDS, X = toy.journey()
RECORD = trace(X, X, X, keep=causal())


@pytest.mark.parametrize("prompt", [1, 3, 5])
def test_the_cache_grows_by_one(prompt):
    svg = drawings.prefill_decode(RECORD, WORDS, prompt).svg()
    assert [int(n) for n in re.findall(r"cache: (\d) words", svg)] == [*range(prompt, 7)]
    assert [int(n) for n in re.findall(r"made now: (\d) row", svg)] == [prompt, *[1] * (6 - prompt)]


def test_masked_cells_stand_only_where_words_are_read_together():
    svg = drawings.prefill_decode(RECORD, WORDS, prompt=3).svg()
    assert svg.count('class="masked"') == 3
