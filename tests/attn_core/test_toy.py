"""The toy data is what the sources print, and each call gives fresh tensors."""

import pytest
import torch

from attn_core import toy


def test_your_journey():
    sentence = toy.journey()
    assert sentence.tokens == ["Your", "journey", "starts", "with", "one", "step"]
    rows = [[round(x, 2) for x in row] for row in sentence.x.tolist()]
    assert rows == [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]


def test_notebook():
    sentence = toy.notebook()
    assert sentence.tokens == ["笔", "记", "本"]
    assert sentence.x.tolist() == [[1, 2, 1, 2, 1], [1, 1, 1, 2, 1], [3, 2, 1, 1, 1]]


def test_three_tokens():
    sentence = toy.three_tokens()
    assert sentence.tokens == ["爱", "学", "习"]
    assert sentence.x.tolist() == [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    assert (sentence.x @ sentence.w_query).tolist() == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert (sentence.x @ sentence.w_key).tolist() == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert (sentence.x @ sentence.w_value).tolist() == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]


def test_tom_and_jerry():
    chinese, queries, english, states = toy.tom_and_jerry()
    assert (chinese, english) == (["汤姆", "追逐", "杰瑞", "。"], ["Tom", "chases", "Jerry"])
    assert (queries @ states.T).tolist() == [[2, 0, -1], [-4, -2, -3], [0, 2, 5], [0, 0, 0]]
    # The box of chapter 01: half of the memory and half of the word.
    memory, words = torch.zeros(2), torch.tensor([[8.0, 0.0], [0.0, 4.0], [4.0, 8.0]])
    for word, state in zip(words, states, strict=True):
        memory = (memory + word) / 2
        assert torch.equal(memory, state)
    queries.zero_()
    states.zero_()
    assert toy.tom_and_jerry().queries.any()
    assert toy.tom_and_jerry().states.any()


@pytest.mark.parametrize("name", ["journey", "notebook", "three_tokens"])
def test_a_caller_may_write_into_it(name):
    make = getattr(toy, name)
    first = make()
    assert first.x.dtype == torch.float32
    first.x.zero_()
    first.tokens.clear()
    assert make().x.any()
    assert len(make().tokens) == len(make().x)
