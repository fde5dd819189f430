"""A bias, by its table or by its rule: each part of it is that of the whole."""

import math
from itertools import product

import pytest
import torch

from attn_core import Bias, alibi, buckets, relative
from tests.attn_core.reference import drawn

BIASES = {
    "a table": lambda L, S: Bias(table=drawn(1, 2, 3, L, S)),
    "a table of heads": lambda L, S: Bias(table=drawn(1, 3, L, S)),
    "a row for all": lambda L, S: Bias(table=drawn(1, S)),
    "slopes": lambda L, S: alibi(drawn(2, 3)),
    "by distance": lambda L, S: relative(drawn(3, 3, 5)),
    "a far reach": lambda L, S: relative(drawn(3, 3, 41)),
    "all": lambda L, S: drawn(1, L, S) + alibi(drawn(2, 3)) + relative(drawn(3, 3, 7)),
}
BATCHES, HEADS = range(2), range(1, 3)
PARTS = [range(1, 4), range(0, 6, 2), range(5, 6)]


@pytest.mark.parametrize("name", BIASES)
@pytest.mark.parametrize("shape", [(6, 6), (6, 11), (11, 6)], ids=str)
def test_each_part_is_that_of_the_whole(name, shape):
    bias = BIASES[name](*shape)
    whole = bias.dense(*shape, torch.float64).expand(2, 3, *shape)
    for rows, cols in product(PARTS, PARTS):
        tile = bias.tile((BATCHES, HEADS, rows, cols), shape, torch.float64)
        wanted = whole[:, 1:3, list(rows)][..., list(cols)]
        assert torch.equal(tile.expand(wanted.shape), wanted)
    assert float(whole.abs().max()) <= bias.largest(shape)
    some = bias.of_heads(slice(1, 3)) if "table" not in bias.tensors() else None
    if some is not None:
        assert torch.equal(some.dense(*shape, torch.float64).expand(2, 2, *shape), whole[:, 1:3])


@pytest.mark.parametrize("name", ["slopes", "by distance", "all"])
def test_a_rule_says_what_its_sentence_says(name):
    bias, (L, S) = BIASES[name](5, 8), (5, 8)
    whole = bias.dense(L, S, torch.float64)
    for h, i, j in product(range(3), range(L), range(S)):
        away = j - (i + S - L)
        cell = 0.0
        if bias.slopes is not None:
            cell -= bias.slopes[h].item() * abs(away)
        if bias.relative is not None:
            reach = bias.relative.shape[1] // 2
            cell += bias.relative[h, min(max(away, -reach), reach) + reach].item()
        if bias.table is not None:
            cell += bias.table[i, j].item()
        assert whole[0, h, i, j].item() == pytest.approx(cell, abs=1e-12)


def t5_bucket(distance, count, most, is_both):
    """As T5's code has it, by a logarithm, but for whole steps, which rounding may miss."""
    count = count // 2 if is_both else count
    first = count if is_both and distance > 0 else 0
    away = abs(distance) if is_both else max(0, -distance)
    near = count // 2
    if away < near:
        return first + away
    step = math.log(away / near) / math.log(most / near) * (count - near)
    return first + min(near + math.floor(step + 1e-9), count - 1)


@pytest.mark.parametrize("is_both", [True, False])
@pytest.mark.parametrize(("count", "most"), [(4, 16), (8, 20), (32, 128), (32, 64), (64, 800)])
def test_buckets_are_those_of_t5(count, most, is_both):
    weight = torch.arange(float(count))[:, None]
    bias = buckets(weight, max_distance=most, bidirectional=is_both)
    L = 2 * most + 3
    column = bias.dense(L, L, torch.float64)[0, 0, most + 1].tolist()
    wanted = [t5_bucket(j - (most + 1), count, most, is_both) for j in range(L)]
    assert column == wanted


def test_what_it_is_called():
    both = drawn(1, 4, 4) + alibi([1.0, 2.0])
    assert repr(both) == "table(4, 4) + alibi(2,)"
    assert repr(Bias()) == "Bias()"
    assert repr(relative(drawn(1, 2, 3))) == "relative(2, 3)"
    assert torch.equal((alibi([1.0]) + alibi([2.0])).slopes, torch.tensor([3.0]))
    with pytest.raises(TypeError):
        alibi([1.0]) + 3
