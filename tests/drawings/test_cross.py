"""Cross-attention: the map is the record's, and its neighbours are q, k, v and the output."""

from __future__ import annotations

import re

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
        assert f"{share:.2f} for “{word}”" in told
    assert "The row of “追逐”" in told
