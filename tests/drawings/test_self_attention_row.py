"""The row of a word in steps: of one size, with the numbers of the record."""

import pytest

from attn_core import toy, trace
from attn_core.views import drawings

WORDS, X = toy.journey()


@pytest.mark.parametrize("query", [0, 1, 4])
def test_each_step_has_the_numbers_of_the_record(query):
    record = trace(X, X, X, scale=1.0)
    steps = drawings.self_attention_row(X, query, WORDS)
    shown = steps.svg().split('class="step"')[1:]
    assert len(shown) == 6

    def texts(numbers):
        return [f">{n:.4f}<" for n in numbers]

    scores = texts(record.stage("scores")[query])
    weights = texts(record.stage("weights")[query])
    output = texts(record.output[query])
    assert all(text in shown[1] for text in scores)
    assert not all(text in shown[0] for text in scores)
    assert f">{record.row_sum[0, 0, query]:.4f}<" in shown[2]
    assert all(text in shown[3] for text in weights)
    assert not all(text in shown[2] for text in weights)
    assert all(text in shown[5] for text in output)
    assert not all(text in shown[4] for text in output)


def test_weighted_rows_take_the_place_of_x():
    steps = drawings.self_attention_row(X, 1, WORDS)
    fifth = steps.svg().split('class="step"')[5]
    weighted = trace(X, X, X, scale=1.0).stage("weights")[1][:, None] * X
    assert all(f">{n:.4f}<" in fifth for n in weighted.flatten())


def test_sentences_are_short():
    steps = drawings.self_attention_row(X, 1, WORDS)
    says = [part.args["data-says"] for part in steps.parts]
    assert max(map(len, says)) <= 115
    assert "0.55·0.43 + 0.87·0.15 + 0.66·0.89 = 0.9544" in says[1]
