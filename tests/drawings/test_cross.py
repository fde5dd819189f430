"""Cross-attention: the map is the record's, and its neighbours are q, k, v and the output."""

from __future__ import annotations

import re

import pytest

from attn_core import toy, trace
from attn_core.views import drawings


def record():
    chinese, queries, english, states = toy.tom_and_jerry()
    return trace(queries, states, states), chinese, english


def test_every_weight_stands_in_the_map():
    made, chinese, english = record()
    written = re.findall(r">(\d\.\d\d)<", drawings.cross_attention(made, chinese, english).svg())
    assert written == [f"{w:.2f}" for w in made.stage("weights").flatten().tolist()]


def test_what_is_read_aloud_is_the_row_of_the_query():
    made, chinese, english = record()
    told = drawings.cross_attention(made, chinese, english, query=1).alt
    row = made.stage("weights")[1].tolist()
    for word, share in zip(english, row, strict=True):
        assert f"{share:.2f} for {word}" in told
    assert "The row of 追逐" in told


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"head": 1}, "head must be from 0 to 0, got 1"),
        ({"query": 4}, "query must be from 0 to 3, got 4"),
        ({"written": ["汤姆"]}, "written must be 4 words, got 1"),
        ({"read": ["Tom"]}, "read must be 3 words, got 1"),
    ],
)
def test_bad_input(how, says):
    made, chinese, english = record()
    with pytest.raises(ValueError, match=says):
        drawings.cross_attention(made, **{"written": chinese, "read": english, **how})
