"""Each call gives fresh tensors, and those of chapter 01 come of its rule."""

import pytest
import torch

from attn_core import toy


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
