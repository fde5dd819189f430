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


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"prompt": 6}, "prompt must be from 1 to 5, got 6"),
        ({"tokens": WORDS[:2]}, "tokens must be 6 words, got 2"),
        ({"record": trace(X[:2], X, X)}, "record must have 2 to 6 words .* got 2 × 6"),
    ],
)
def test_bad_input(how, says):
    with pytest.raises(ValueError, match=says):
        drawings.prefill_decode(**{"record": RECORD, "tokens": WORDS, **how})
