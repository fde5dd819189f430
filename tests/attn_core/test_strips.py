"""A mask laid into a part of a map is the mask, whatever part it is."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_core import causal, padding, window
from attn_core.engines.strips import mask_, places, strips
from attn_core.masks import of_cells
from tests.attn_core.reference import drawn


@st.composite
def parts(draw):
    """What makes a mask of 2 batches and 2 heads, some of its rows and columns, and its size."""
    L, S = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    few = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    lengths = draw(st.lists(st.integers(0, S), min_size=2, max_size=2))
    makers = (
        causal,
        lambda: window(*few[:2]),
        lambda: padding(lengths),
        lambda: padding(starts=lengths),
        lambda: of_cells(drawn(few[2], 2, 2, L, S) < 0.4),
        lambda: causal() & window(*few[:2]) & padding(lengths),
        lambda: causal() & of_cells(drawn(few[2], 1, 2, L, S) < 0.4),
    )
    rows, cols = (
        range(draw(st.integers(0, size - 1)), size, draw(st.integers(1, 3))) for size in (L, S)
    )
    return draw(st.sampled_from(makers)), rows, cols, (L, S)


@given(parts(), st.sampled_from((range(2), range(1, 2))), st.sampled_from((range(2), range(1))))
def test_hidden_cells_get_the_least_and_no_other_cell_changes(case, batches, heads):
    make, rows, cols, size = case
    keep = make()
    cells = drawn(1, len(batches), len(heads), len(rows), len(cols))
    kept = keep.dense(*size).expand(2, 2, *size)[list(batches)][:, list(heads)]
    kept = kept[:, :, list(rows)][..., list(cols)]
    for least, start in ((-math.inf, cells), (0.0, cells.exp())):
        filled = start.clone()
        assert mask_(filled, keep, (batches, heads, rows, cols), size, least) is filled
        assert torch.equal(filled, start.masked_fill(~kept, least))


def test_an_infinite_number_can_be_hidden_and_minus_zero_stays():
    """exp of a hidden score that is larger than all kept ones can be infinite."""
    cells = torch.tensor([[[[-0.0, torch.inf], [-0.0, -0.0]]]])
    filled = mask_(cells, causal(), (range(1), range(1), range(2), range(2)), (2, 2), 0.0)
    assert torch.equal(filled, torch.zeros(1, 1, 2, 2))
    assert filled.signbit().flatten().tolist() == [True, False, True, True]


@given(parts(), st.integers(1, 4))
def test_strips_hold_every_cell_that_is_kept(case, height):
    make, rows, cols, size = case
    keep = make()
    cut = list(strips(keep, rows, cols, size, height))
    covered = torch.zeros(len(rows), len(cols), dtype=torch.bool)
    for strip, seen in cut:
        assert 0 < strip.stop - strip.start <= height
        assert seen.start < seen.stop
        assert not covered[strip, seen].any()
        covered[strip, seen] = True
    kept = keep.dense(*size).any(0).any(0)[list(rows)][:, list(cols)]
    assert not (kept & ~covered).any()


def test_without_a_mask_strips_are_all_there_is():
    cut = list(strips(None, range(0, 600, 2), range(5), (600, 9)))
    assert cut == [(slice(0, 256), slice(0, 5)), (slice(256, 300), slice(0, 5))]


@given(parts())
def test_places_are_those_within(case):
    cols = case[2]
    placed = cols[places(cols, range(2, 6))]
    assert list(placed) == [column for column in cols if 2 <= column < 6]
