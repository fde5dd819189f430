"""Masks: each drawing, each rule cell by cell, alignment, tiles, and the form that a page gets."""

import base64
import dataclasses
import functools
import json
import operator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_core import Keep, attention, causal, padding, prefill, trace, window
from attn_core.masks import of_cells, of_heads
from tests.attn_core.reference import drawn, keeps
from tests.attn_core.test_routes import MASKS

DRAWINGS = {
    "causal 3x3": (causal(), 3, 3, ["100", "110", "111"]),
    "causal 2x5": (causal(), 2, 5, ["11110", "11111"]),
    "causal 5x2": (causal(), 5, 2, ["00", "00", "00", "10", "11"]),
    "causal 1x4": (causal(), 1, 4, ["1111"]),
    "window before": (window(1), 4, 4, ["1000", "1100", "0110", "0011"]),
    "window both ways": (window(1, 1), 4, 4, ["1100", "1110", "0111", "0011"]),
    "window 0": (window(0), 3, 3, ["100", "010", "001"]),
    "window after": (window(0, 2), 3, 3, ["111", "011", "001"]),
    "window 2x5": (window(1), 2, 5, ["00110", "00011"]),
    "window 4x2": (window(1), 4, 2, ["00", "00", "10", "11"]),
    "window after 4x2": (window(0, 1), 4, 2, ["00", "10", "11", "01"]),
    "padding": (padding([2]), 2, 3, ["110", "110"]),
    "left padding": (padding(starts=[1]), 2, 3, ["011", "011"]),
    "left padding alone": (padding(starts=[2]), 2, 2, ["00", "00"]),
    "padding on both sides": (padding([3], starts=[1]), 2, 4, ["0110", "0110"]),
    "causal and left padding": (causal() & padding(starts=[1]), 3, 3, ["000", "010", "011"]),
    "padding 0": (padding([0]), 2, 2, ["00", "00"]),
    "prefill": (prefill(2), 3, 5, ["11100", "11110", "11111"]),
    "prefill 0": (prefill(0), 2, 2, ["10", "11"]),
    "causal and padding": (causal() & padding([2]), 3, 3, ["100", "110", "110"]),
    "three": (causal() & window(1) & padding([2]), 3, 3, ["100", "110", "010"]),
    "window and causal": (causal() & window(1, 5), 3, 3, ["100", "110", "011"]),
}


@pytest.mark.parametrize(("keep", "L", "S", "drawing"), DRAWINGS.values(), ids=DRAWINGS)
def test_drawings(keep, L, S, drawing):
    cells = keep.dense(L, S)
    assert cells.dtype == torch.bool
    assert cells.shape == (1, 1, L, S)
    assert ["".join(map(str, row)) for row in cells[0, 0].int().tolist()] == drawing


def test_padding_has_one_mask_for_each_sequence():
    cells = padding([1, 3, 0]).dense(2, 3)
    assert cells.shape == (3, 1, 2, 3)
    assert cells.sum(-1)[:, 0].tolist() == [[1, 1], [3, 3], [0, 0]]
    for lengths in (torch.tensor([1, 3, 0]), (1, 3, 0), torch.tensor([1, 3, 0], dtype=torch.uint8)):
        assert torch.equal(padding(lengths).dense(2, 3), cells)


@st.composite
def masked(draw):
    """What makes a record with a mask of any kind, and the cells that its rules keep."""
    lead = tuple(draw(st.lists(st.integers(1, 2), max_size=3)))
    L, S = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    parts, cells = draw(keeps(lead, L, S).filter(lambda drawn: drawn[0]))
    q, k = drawn(1, *lead, L, 2), drawn(2, *lead, S, 2)

    def make():
        return trace(q, k, k, keep=functools.reduce(operator.and_, [part() for part in parts]))

    return make, cells


@given(masked())
def test_the_cells_equal_the_rule_written_out(case):
    make, cells = case
    assert torch.equal(make().stage("masked") > -torch.inf, cells)


@given(masked(), st.data())
def test_tiles_are_parts_of_the_whole(case, data):
    record = case[0]()
    keep, (batches, heads, L, S) = record.keep, record.shape
    whole = keep.dense(L, S)
    assert all(n in (1, most) for n, most in zip(whole.shape, (batches, heads), strict=False))
    rows = data.draw(st.builds(range, st.integers(0, L - 1), st.just(L), st.integers(1, 3)))
    cols = data.draw(st.builds(range, st.integers(0, S - 1), st.just(S), st.integers(1, 3)))
    tile = keep.tile(rows, cols, (L, S))
    assert torch.equal(tile, whole[:, :, list(rows)][..., list(cols)])


def from_json(form, L, S):
    """The mask that a page sees, made from the JSON alone."""
    if form["kind"] == "and":
        joined = np.ones((1, 1, L, S), dtype=bool)
        for part in form["of"]:
            joined = joined & from_json(part, L, S)
        return joined
    if form["kind"] == "dense":
        size = np.prod(form["shape"])
        bits = np.frombuffer(base64.b64decode(form["bits"]), np.uint8)
        cells = np.unpackbits(bits, bitorder="little")[:size].astype(bool)
        return np.broadcast_to(cells.reshape(form["shape"]), (*form["shape"][:2], L, S))
    place, key = np.arange(L)[:, None] + S - L, np.arange(S)
    if form["kind"] == "padding":
        ends = {name: np.array(form[name])[:, None, None, None] for name in form if name != "kind"}
        kept = key < ends["lengths"] if "lengths" in ends else key >= ends["starts"]
        return kept & np.ones((L, 1), bool)
    if form["kind"] == "window":
        cells = (key >= place - form["before"]) & (key <= place + form["after"])
    else:
        assert form["kind"] in ("causal", "prefill")
        cells = key <= place
    return cells[None, None]


@given(masked())
def test_json_says_the_same_mask(case):
    record = case[0]()
    keep, (L, S) = record.keep, record.shape[2:]
    form = json.loads(json.dumps(keep.to_json()))
    assert np.array_equal(from_json(form, L, S), keep.dense(L, S).numpy())


def test_json_forms():
    assert causal().to_json() == {"kind": "causal"}
    assert window(2).to_json() == {"kind": "window", "before": 2, "after": 0}
    assert window(2, 1).to_json() == {"kind": "window", "before": 2, "after": 1}
    assert padding([3, 5]).to_json() == {"kind": "padding", "lengths": [3, 5]}
    assert padding(torch.tensor([3, 5])).to_json() == {"kind": "padding", "lengths": [3, 5]}
    assert padding(starts=[3, 0]).to_json() == {"kind": "padding", "starts": [3, 0]}
    assert prefill(2).to_json() == {"kind": "prefill", "cached": 2}
    assert (causal() & (window(1) & padding([2]))).to_json() == {
        "kind": "and",
        "of": [
            {"kind": "window", "before": 1, "after": 0},
            {"kind": "padding", "lengths": [2]},
        ],
    }
    cells = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    # Nine bits, the first one lowest: 1, 0, 0, 1, 1, 0, 1, 1 is 217, then 1.
    bits = base64.b64encode(bytes([217, 1])).decode()
    assert of_cells(cells).to_json() == {"kind": "dense", "shape": [1, 1, 3, 3], "bits": bits}


def test_repr_is_how_one_writes_it():
    keeps = causal(), window(2, 1), padding([2, 3]), prefill(4)
    assert [repr(keep) for keep in keeps] == [
        "causal()",
        "window(2, 1)",
        "padding([2, 3])",
        "prefill(4)",
    ]
    assert repr(causal() & padding([2])) == "causal() & padding([2])"
    assert repr(prefill(4) & window(1, 2)) == "prefill(4) & window(1, 0)"
    assert repr(padding([3], starts=[1])) == "padding([3]) & padding(starts=[1])"
    assert repr(Keep()) == "Keep()"
    assert repr(Keep(before=1)) == "Keep(1, None)"
    assert repr(causal() & torch.ones(2, 3, dtype=torch.bool)) == "causal() & Dense(1, 1, 2, 3)"


def test_equal_masks_are_equal():
    assert causal() == causal()
    assert window(1) == window(1, 0) != window(1, 1)
    assert padding([1, 2]) == padding(torch.tensor([1, 2]))
    assert prefill(0) != causal()
    assert hash(window(1)) == hash(window(1, 0)) != hash(window(1, 1))
    cells = torch.eye(3, dtype=torch.bool)
    assert of_cells(cells) != of_cells(cells), "two tensors are not compared"
    assert (keep := of_cells(cells)) == keep


def test_causal_is_what_hides_what_comes_after_and_nothing_else():
    assert causal().is_causal
    assert prefill(2).is_causal
    assert not any(keep.is_causal for keep in (Keep(), window(1), causal() & padding([1])))


def test_and_with_a_bool_tensor_and_with_nonsense():
    cells = torch.tensor([[True, False], [True, True]])
    assert torch.equal((causal() & cells).dense(2, 2)[0, 0], cells & torch.ones(2, 2).tril().bool())
    assert isinstance(causal() & cells, Keep)
    assert torch.equal((cells & causal()).dense(2, 2), (causal() & cells).dense(2, 2))
    with pytest.raises(TypeError, match="unsupported operand"):
        causal() & 3


def test_structured_masks_hold_no_map():
    """A corner of a map of 10^12 cells."""
    T = 10**6
    keep = causal() & window(3) & padding([T - 1])
    tile = keep.tile(range(T - 3, T), range(T - 4, T), (T, T))
    assert tile[0, 0].int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]]


@pytest.mark.parametrize(
    "keep", [causal(), window(1), padding([1, 3]), causal() & window(1) & padding([1, 3])], ids=str
)
def test_a_mask_is_made_on_the_device_that_is_asked_for(keep):
    """The device "meta" computes nothing and knows only shapes, but it is not the CPU."""
    assert keep.tile(range(2), range(3), (3, 3), "meta").device.type == "meta"
    assert keep.dense(3, 3, "meta").device.type == "meta"
    assert keep.dense(3, 3).device.type == "cpu"


def test_a_mask_without_a_rule_may_hide_and_show_any_column():
    keep = of_cells(torch.ones(3, 4, dtype=torch.bool))
    assert keep.visible(range(1, 3), (3, 4)) == range(4)
    assert keep.unmasked(range(1, 3), (3, 4)) == range(0)


@pytest.mark.parametrize("batches", [1, 2, 4])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_some_heads_of_a_tile(batches, heads):
    """Of an axis of size 1 there is nothing to choose: it serves all."""
    cells = drawn(1, batches, heads, 3, 5) > 0
    part = of_heads(cells, range(1, 2), range(1, 3))
    wanted = cells if batches == 1 else cells[1:2]
    assert torch.equal(part, wanted if heads == 1 else wanted[:, 1:3])


def test_a_dense_mask_that_is_expanded_keeps_its_small_size():
    keep = of_cells(torch.ones(1, 1, 1, 4, dtype=torch.bool).expand(64, 12, 512, 4))
    assert keep.cells.numel() == 4
    # An axis of size 1 may have the stride 0, too.
    assert of_cells(torch.tensor(True).expand(1, 1)).dense(2, 3).all()


def test_a_bare_mask_keeps_everything():
    assert Keep().dense(2, 3).tolist() == [[[[True] * 3] * 2]]
    assert repr(causal() & Keep()) == repr(Keep() & causal()) == "causal()"
    assert type(Keep() & Keep()) is Keep
    x = drawn(1, 4, 2)
    for mask, same in ((Keep(), None), (Keep() & causal(), causal())):
        assert torch.equal(attention(x, x, x, keep=mask), attention(x, x, x, keep=same))


@pytest.mark.parametrize("T", [5, 300])
def test_cells_of_more_axes_may_be_joined(T):
    """Five axes, each with a mask of its own, joined to a rule and to one another."""
    x, cells = drawn(1, 2, 3, 2, T, 4), drawn(2, 2, 3, 2, T, T) < 0.5
    shared = drawn(3, 3, 1, T, T) < 0.7
    lower = torch.ones(T, T, dtype=torch.bool).tril()
    output = attention(x, x, x, keep=causal() & cells & shared)
    torch.testing.assert_close(output, attention(x, x, x, keep=cells & shared & lower))
    for i, j in ((0, 2), (1, 1)):
        alone = attention(*[x[i, j]] * 3, keep=cells[i, j] & shared[j] & lower)
        torch.testing.assert_close(output[i, j], alone)


OF_EACH_FIELD = {
    "before": window(2, 9),
    "after": causal(),
    "lengths": padding([2, 3]),
    "starts": padding(starts=[1, 2]) & padding(starts=[2, 0]),
    "cells": causal() & torch.eye(3, dtype=torch.bool),
    "cached": prefill(0),
}


def test_each_field_of_a_mask_is_known_wherever_masks_are_taken_apart():
    """A new field needs its way through `&`, `parts`, `unmasked`, the page's form and repr."""
    names = {field.name for field in dataclasses.fields(Keep)}
    assert names == set(OF_EACH_FIELD), "an example of each field"
    for name, keep in OF_EACH_FIELD.items():
        assert getattr(keep, name) is not None
        assert keep & Keep() == Keep() & keep == keep
        assert functools.reduce(operator.and_, keep.parts()) == keep
        assert keep != dataclasses.replace(keep, **{name: None})
        dense = keep.dense(3, 3)
        assert (from_json(keep.to_json(), 3, 3) == dense.numpy()).all()
        unmasked, visible = (ask(range(3), (3, 3)) for ask in (keep.unmasked, keep.visible))
        assert all(dense[..., j].all() for j in unmasked)
        assert not any(dense[..., j].any() for j in range(3) if j not in visible)
        assert name == "cells" or eval(repr(keep)) == keep


def everywhere(keep, rows, L, S):
    cells = keep.tile(rows, range(S), (L, S)).expand(-1, -1, len(rows), S)
    return cells.any(2).any(0).any(0), cells.all(2).all(0).all(0)


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_what_a_mask_says_of_its_rows(L, S, data):
    """Outside of `visible` nothing is kept; `unmasked` are the columns where everything is."""
    start = data.draw(st.integers(0, L - 1))
    rows = range(start, data.draw(st.integers(start + 1, L)), data.draw(st.integers(1, 3)))
    small = st.integers(0, 9)
    parts = [causal(), window(data.draw(small), data.draw(small))]
    parts.append(padding([data.draw(st.integers(0, S)), data.draw(st.integers(0, S))]))
    parts.append(parts[0] & parts[1] & parts[2])
    parts.append(padding(starts=[data.draw(st.integers(0, S)), data.draw(st.integers(0, S))]))
    parts.append(parts[3] & parts[4])
    if S >= L:
        parts.append(prefill(S - L))
    for keep in parts:
        some, all_rows = everywhere(keep, rows, L, S)
        visible, unmasked = keep.visible(rows, (L, S)), keep.unmasked(rows, (L, S))
        assert not some[[j for j in range(S) if j not in visible]].any()
        assert list(unmasked) == all_rows.nonzero().flatten().tolist()
        between, _ = everywhere(keep, range(rows[0], rows[-1] + 1), L, S)
        assert list(visible) == between.nonzero().flatten().tolist() or keep in parts[3:6]


def test_each_field_of_a_mask_is_drawn_where_engines_are_compared():
    """All but the size of a cache: it hides nothing beside the band that comes with it."""
    keeps = [Keep() & keep for make in MASKS.values() if (keep := make((), 9, 9)) is not None]
    for name in set(OF_EACH_FIELD) - {"cached"}:
        assert any(getattr(keep, name) is not None for keep in keeps), name


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Stepping(Keep):
    """A mask with a field that nobody has heard of: it must not get lost without a word."""

    step: int | None = None


def test_a_field_that_is_not_known_is_no_mask_without_it():
    keep = Stepping(step=2)
    assert keep.unmasked(range(3), (3, 3)) == range(0)
    for use in (keep.parts, keep.to_json, keep.__repr__):
        with pytest.raises(NotImplementedError) as raised:
            use()
        assert str(raised.value) == "Keep.parts must name every field that hides something"


class SteppingAlone(Stepping):
    """The same, where somebody has thought of `parts` alone."""

    def parts(self):
        return [self]


def test_a_field_that_only_parts_knows_is_written_and_not_lost():
    keep = SteppingAlone(before=3, step=2)
    assert repr(keep) == "Keep(before=3, step=2)"
    with pytest.raises(NotImplementedError) as raised:
        keep.to_json()
    assert str(raised.value) == "Keep.to_json must know the fields of Keep(before=3, step=2)"
