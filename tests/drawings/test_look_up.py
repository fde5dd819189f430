"""The three stages and the look-up: the numbers drawn are the record's."""

from __future__ import annotations

import re

import pytest

from attn_core import toy, trace
from attn_core.digits import fixed
from attn_core.views import drawings
from tests.drawings.test_encoder_decoder import texts

CHINESE, QUERIES, ENGLISH, STATES = toy.tom_and_jerry()
RECORD = trace(QUERIES, STATES, STATES, scale=1.0)


@pytest.mark.parametrize("query", range(4))
def test_the_row_is_the_records(query):
    drawing = drawings.three_stages(RECORD, query, CHINESE, ENGLISH)
    shown = texts(drawing)
    weights = [fixed(n) for n in RECORD.stage("weights")[query].tolist()]
    assert [text for text in shown if text in weights] == weights
    assert [text for text in shown if re.fullmatch(r"\d\.\d\d", text)] == [
        fixed(n, 2) for n in RECORD.output[query].tolist()
    ]
    scores = [f"{n:.0f}".replace("-", "−") for n in RECORD.stage("scores")[query].tolist()]
    assert f"it scores {', '.join(scores)}." in drawing.alt


def test_keys_and_values_are_not_mixed_up():
    record = trace(QUERIES, STATES, STATES + 4, scale=1.0)
    svg = drawings.three_stages(record, 0, CHINESE, ENGLISH).svg()
    # Of each word: the key, its score, its weight, then the value.
    row = svg[svg.index(">Tom<") : svg.index(">chases<")]
    assert re.findall(r">([−\d.]+)</text>", row) == ["4", "0", "2", "0.8438", "8", "4"]


def test_a_dictionary_has_one_hit_and_attention_many():
    drawing = drawings.look_up(RECORD, 1, "chases", CHINESE, ENGLISH)
    shown = texts(drawing)
    assert [text for text in shown if text in ("0", "1")] == ["0", "1", "0"]
    assert {"0.0900", "0.6652", "0.2447", "(2.4248, 2.5541)"} <= set(shown)
    # One line to its key and one from its value; then three and three.
    assert len(re.findall(r'<path[^>]*class="query-line"', drawing.svg())) == 4
    assert len(re.findall(r'<path[^>]*class="value-line"', drawing.svg())) == 4
