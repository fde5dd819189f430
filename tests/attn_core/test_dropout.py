"""Dropout's bits: the published vectors, an implementation of our own, and tiles."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_core import Dropout
from attn_core.dropout import multiply, philox
from tests.attn_core.reference import philox_by_hand, survives_by_hand

# Random123, kat_vectors: philox4x32 with 10 rounds, counter, key, words.
PUBLISHED = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip

words32 = st.integers(0, 2**32 - 1)
edges = st.sampled_from((0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)) | words32


def ints(text):
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize(("counter", "key", "words"), PUBLISHED)
def test_published_vectors(counter, key, words):
    got = philox(tuple(torch.tensor(word) for word in ints(counter)), ints(key))
    assert tuple(int(word) for word in got) == ints(words)
    assert philox_by_hand(ints(counter), ints(key)) == ints(words)


@given(st.lists(st.tuples(edges, edges, edges, edges), min_size=1, max_size=8), edges, edges)
def test_philox_equals_one_on_unbounded_integers(counters, low, high):
    columns = tuple(torch.tensor(column) for column in zip(*counters, strict=True))
    made = torch.stack(philox(columns, (low, high)), -1).tolist()
    assert made == [list(philox_by_hand(counter, (low, high))) for counter in counters]


@given(edges, edges)
def test_multiply(a, b):
    high, low = multiply(a, torch.tensor(b))
    assert (int(high), int(low)) == divmod(a * b, 2**32)


def parts(most):
    starts, lengths, steps = st.integers(0, most), st.integers(1, 6), st.integers(1, 5)
    return st.builds(lambda a, n, step: range(a, a + n * step, step), starts, lengths, steps)


@given(
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 2**53 - 1),
    parts(3),
    parts(3),
    parts(40),
    parts(40),
)
def test_any_part_has_the_bits_of_its_places(p, seed, batches, heads, rows, cols):
    survives = Dropout(p, seed).survives(batches, heads, rows, cols)
    assert survives.dtype == torch.bool
    assert survives.shape == tuple(map(len, (batches, heads, rows, cols)))
    for at in {(0, 0, 0, 0), tuple(n - 1 for n in survives.shape), (0, 0, len(rows) // 2, 0)}:
        place = (axis[i] for axis, i in zip((batches, heads, rows, cols), at, strict=True))
        assert bool(survives[at]) == survives_by_hand(p, seed, *place)


def test_tiles_equal_the_whole():
    dropout = Dropout(0.4, seed=123456789012345)
    whole = dropout.survives(range(2), range(3), range(10), range(21))
    tile = dropout.survives(range(1, 2), range(0, 3, 2), range(1, 10, 4), range(2, 20, 3))
    assert torch.equal(tile, whole[1:2, 0:3:2, 1:10:4, 2:20:3])
    assert not torch.equal(whole[0, 0], whole[0, 1])
    assert not torch.equal(whole[0, 0], whole[1, 0])
    by_hand = [[survives_by_hand(0.4, 123456789012345, 1, 2, i, j) for j in range(21)]
               for i in range(10)]  # fmt: skip
    assert whole[1, 2].tolist() == by_hand


def test_far_places_have_their_own_bits():
    """Absolute indices up to 2^31: no wrapping of 32 bits before its time."""
    far = 2**31
    row, col = range(far, far + 2), range(far - 1, far + 3)
    survives = Dropout(0.5, 7).survives(range(1), range(1), row, col)
    assert survives[0, 0].tolist() == [
        [survives_by_hand(0.5, 7, 0, 0, i, j) for j in col] for i in row
    ]


def test_bits_are_made_on_the_device_that_is_asked_for():
    """The device "meta" computes nothing and knows only shapes, but it is not the CPU."""
    survives = Dropout(0.5, 7).survives(range(2), range(1), range(3), range(4, 9), "meta")
    assert (survives.device.type, survives.shape) == ("meta", (2, 1, 3, 5))


def test_words_depend_on_the_seed_and_p_decides():
    part = range(1, 2), range(2), range(3), range(5)
    words = Dropout(0.0, 9).words(*part)
    assert words.device.type == "cpu"
    assert torch.equal(words, Dropout(0.7, 9).words(*part))
    assert torch.equal(Dropout(0.7, 9).decide(words), Dropout(0.7, 9).survives(*part))


def test_the_edge_survives():
    """A weight survives iff word ≥ floor(p·2^32): at equality it does."""
    word = philox_by_hand((0, 0, 0, 0), (9, 0))[0]
    first_cell = range(1), range(1), range(1), range(1)
    assert math.floor(word / 2**32 * 2**32) == word
    assert Dropout(word / 2**32, 9).survives(*first_cell).all()
    assert Dropout((word + 0.75) / 2**32, 9).survives(*first_cell).all()
    assert not Dropout((word + 1) / 2**32, 9).survives(*first_cell).any()


def test_dropout_holds_plain_numbers_and_compares():
    dropout = Dropout(0.5, seed=7)
    assert repr(dropout) == "Dropout(p=0.5, seed=7)"
    assert dropout == Dropout(0.5, 7) != Dropout(0.5, 8)


@pytest.mark.parametrize("count", [1, 2, 7, 2**32 - 1, 2**32 + 3, 5 * 2**40])
@pytest.mark.parametrize("seed", [0, 7, 2**53 - 1])
def test_each_step_has_a_seed_of_its_own(seed, count):
    """The first 53 bits that Philox makes of the step, under a counter that no weight has."""
    high, low, _, _ = philox_by_hand(
        (count % 2**32, count // 2**32, 0, 2**32 - 1), (seed % 2**32, seed // 2**32)
    )
    assert Dropout(0.25, seed).step(count) == Dropout(0.25, high * 2**21 + low // 2**11)


def test_step_0_is_the_dropout_itself():
    dropout = Dropout(0.25, 7)
    assert dropout.step(0) == dropout != dropout.step(1)
