"""A bias, by its table or by its rule: each part of it is that of the whole."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from attn_core import Bias, alibi, buckets, relative
from attn_core.masks import in_four_axes
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
SHAPES = pytest.mark.parametrize("shape", [(6, 6), (6, 11), (11, 6)], ids=str)


def in_a_call(bias):
    """As a call holds it: with a table of four axes."""
    return bias if bias.table is None else replace(bias, table=in_four_axes(bias.table))


@pytest.mark.parametrize("name", BIASES)
@SHAPES
def test_each_part_is_that_of_the_whole(name, shape):
    bias = BIASES[name](*shape)
    whole = bias.dense(*shape, torch.float64).expand(2, 3, *shape)
    for rows, cols in product(PARTS, PARTS):
        tile = bias.tile((BATCHES, HEADS, rows, cols), shape, torch.float64)
        wanted = whole[:, 1:3, list(rows)][..., list(cols)]
        assert torch.equal(tile.expand(wanted.shape), wanted)
    assert float(whole.abs().max()) <= bias.largest(shape)
    some = in_a_call(bias).of_heads(slice(1, 3))
    assert torch.equal(some.dense(*shape, torch.float64).expand(2, 2, *shape), whole[:, 1:3])


@pytest.mark.parametrize("size", [(1, 2, 1, 5), (2, 1, 4, 5)], ids=str)
def test_a_table_that_serves_all_heads_or_all_rows(size):
    table = drawn(1, *size)
    some = Bias(table).of_heads(slice(1, 2)).table
    assert torch.equal(some.expand(2, 1, 4, 5), table.expand(2, 2, 4, 5)[:, 1:])


@pytest.mark.parametrize("name", BIASES)
@SHAPES
def test_gradients_of_the_parts_add_up_to_those_of_the_whole(name, shape):
    bias = in_a_call(BIASES[name](*shape))
    fields = {name: tensor.requires_grad_() for name, tensor in bias.tensors().items()}
    grad = drawn(4, 2, 3, *shape)
    whole = bias.dense(*shape, torch.float64).expand(grad.shape)
    wanted = torch.autograd.grad(whole, fields.values(), grad)
    sums = {name: torch.zeros_like(tensor) for name, tensor in fields.items()}
    halves = [(range(2), range(2, size)) for size in shape]
    with torch.no_grad():
        for heads, rows, cols in product((range(1), range(1, 3)), *halves):
            some = grad[:, list(heads)][:, :, list(rows)][..., list(cols)]
            bias.add_gradients_(some, (BATCHES, heads, rows, cols), shape, sums)
    for mine, other in zip(sums.values(), wanted, strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("name", BIASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_it_comes_in_the_dtype_that_was_asked_for(name, dtype):
    bias = BIASES[name](6, 6)
    assert bias.dense(6, 6, dtype).dtype == dtype
    for rows in PARTS:
        assert bias.tile((BATCHES, HEADS, rows, range(6)), (6, 6), dtype).dtype == dtype


def test_a_rule_stays_on_its_device():
    """A meta tensor refuses to meet one of the CPU."""
    bias = alibi(torch.ones(3, device="meta"))
    made = [bias.dense(6, 6)]
    made += [bias.tile((BATCHES, HEADS, rows, range(6)), (6, 6)) for rows in PARTS]
    sums = {"slopes": torch.zeros(3, device="meta")}
    part = BATCHES, range(3), range(6), range(6)
    bias.add_gradients_(made[0].expand(2, 3, 6, 6), part, (6, 6), sums)
    assert {tensor.device.type for tensor in (*made, *sums.values())} == {"meta"}


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
@pytest.mark.parametrize(
    ("count", "most"), [(4, 16), (7, 20), (8, 20), (32, 128), (32, 64), (64, 800)]
)
def test_buckets_are_those_of_t5(count, most, is_both):
    weight = torch.arange(float(count))[:, None]
    bias = buckets(weight, max_distance=most, bidirectional=is_both)
    L = 2 * most + 3
    column = bias.dense(L, L, torch.float64)[0, 0, most + 1].tolist()
    wanted = [t5_bucket(j - (most + 1), count, most, is_both) for j in range(L)]
    assert column == wanted


def test_buckets_as_t5_has_them_by_default():
    weight = drawn(1, 32, 2)
    wanted = buckets(weight, max_distance=128, bidirectional=True)
    assert torch.equal(buckets(weight).relative, wanted.relative)


KINDS = {
    "table": Bias(table=drawn(1, 4, 4)),
    "slopes": alibi([1.0]),
    "relative": relative(drawn(1, 1, 3)),
    "a sum": drawn(1, 4, 4) + alibi([1.0]),
}


@pytest.mark.parametrize("name", KINDS)
def test_of_which_kind_it_is(name):
    assert KINDS[name].is_table == (name == "table")
    assert KINDS[name].is_alibi == (name == "slopes")


def test_whole_slopes_are_floats():
    assert alibi([1, 2]).slopes.dtype == torch.float32


def test_what_it_is_called():
    both = drawn(1, 4, 4) + alibi([1.0, 2.0])
    assert repr(both) == "table(4, 4) + alibi(2,)"
    assert repr(Bias()) == "Bias()"
    assert repr(relative(drawn(1, 2, 3))) == "relative(2, 3)"
    assert torch.equal((alibi([1.0]) + alibi([2.0])).slopes, torch.tensor([3.0]))
    with pytest.raises(TypeError):
        alibi([1.0]) + 3
