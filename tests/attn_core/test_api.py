"""The kernel against the formulas, its cost in memory, and masks of every broadcast form."""

import itertools
import math

import numpy as np
import pytest
import torch

from attn_core import (
    Dropout,
    Projection,
    attention,
    causal,
    padding,
    prefill,
    toy,
    trace,
)
from attn_core.call import Call
from attn_core.engines.formulas import FORMULAS
from tests.attn_core.reference import STAGES, by_loop, drawn


def test_forward_gives_output_and_row_statistics_without_gradient():
    q, k, v = (drawn(seed, 1, 2, 3, 4).requires_grad_() for seed in (1, 2, 3))
    output, (row_max, row_sum) = FORMULAS.forward(Call.of(q, k, v, causal(), 0.5, Dropout(0.3, 1)))
    keep = torch.ones(1, 2, 3, 3, dtype=torch.bool).tril()
    wanted = by_loop(q, k, v, keep, 0.5, (0.3, 1))
    torch.testing.assert_close(output.detach(), wanted["output"])
    torch.testing.assert_close(row_max, wanted["row_max"])
    torch.testing.assert_close(row_sum, wanted["row_sum"])
    assert output.requires_grad
    assert not row_max.requires_grad
    assert not row_sum.requires_grad


@pytest.mark.parametrize(("T", "are_known"), [(256, True), (257, False)])
def test_row_statistics_come_with_a_short_record_and_when_asked_of_a_long_one(T, are_known):
    """2**16 cells are still made whole, and their row statistics are on the way."""
    q = drawn(1, T, 3)
    with torch.no_grad():
        record = trace(q, q, q)
    assert bool(record.known) is are_known
    masked = record.stage("masked")
    torch.testing.assert_close(record.row_max[0, 0], masked.amax(-1))
    row_sum = torch.exp(masked - masked.amax(-1, keepdim=True)).sum(-1)
    torch.testing.assert_close(record.row_sum[0, 0], row_sum)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 2, 3)])
def test_every_broadcast_form_of_a_bool_tensor(lead):
    full = (*lead, 4, 5)
    q, k = drawn(1, *lead, 4, 2), drawn(2, *lead, 5, 2)
    for axes in range(len(full) + 1):
        for ones in itertools.product((False, True), repeat=axes):
            sizes = full[len(full) - axes :]
            shape = [1 if is_one else n for is_one, n in zip(ones, sizes, strict=True)]
            cells = np.asarray(np.random.default_rng(axes).random(shape) < 0.6)
            keep = torch.from_numpy(cells)
            masked = trace(q, k, k, keep=keep).stage("masked")
            assert torch.equal(masked > -torch.inf, keep.expand(full)), shape


def test_a_mask_joined_with_a_tensor_stands_on_the_records_axes():
    q = drawn(1, 2, 3, 4, 2)
    keep = torch.from_numpy(np.random.default_rng(1).random((2, 3, 4, 4)) < 0.6)
    record = trace(q, q, q, keep=causal() & keep & padding([4, 2]))
    wanted = keep & torch.ones(4, 4).tril().bool()
    wanted[1, ..., 2:] = False
    assert torch.equal(record.stage("masked") > -torch.inf, wanted)


def test_a_joined_tensor_of_heads_is_none_of_batches():
    """As many heads as batches, so that the sizes do not tell."""
    q = drawn(1, 2, 2, 3, 2)
    keep = torch.from_numpy(np.random.default_rng(1).random((2, 3, 3)) < 0.6)
    wanted = (keep & torch.ones(3, 3).tril().bool()).expand(2, 2, 3, 3)
    assert torch.equal(trace(q, q, q, keep=causal() & keep).stage("masked") > -torch.inf, wanted)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_in_a_batch_without_heads_a_joined_tensor_may_have_its_axes(batch):
    q = drawn(1, batch, 3, 2)
    keep = torch.from_numpy(np.random.default_rng(1).random((batch, 3, 3)) < 0.6)
    wanted = keep & torch.ones(3, 3).tril().bool()
    for joined in (causal() & keep, keep & causal(), causal() & keep[:, None]):
        cells = trace(q, q, q, keep=joined).stage("masked")
        assert torch.equal(cells > -torch.inf, wanted)
    assert trace(q, q, q, keep=causal()).keep == causal()


def test_a_mask_that_serves_all_heads_is_kept_once():
    of_four, of_five = drawn(1, 2, 3, 5, 4), drawn(1, 2, 2, 3, 5, 4)
    for x, shape, kept in (
        (of_four, (1, 1, 5, 5), (1, 1, 5, 5)),
        (of_four, (3, 1, 5), (1, 3, 1, 5)),
        (of_five, (3, 5, 5), (1, 3, 5, 5)),
        (of_five, (5, 5), (1, 1, 5, 5)),
    ):
        assert trace(x, x, x, keep=drawn(2, *shape) < 0.7).keep.cells.shape == kept


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 2, 3)])
def test_structured_masks_in_every_rank(lead):
    q, k = drawn(1, *lead, 3, 2), drawn(2, *lead, 5, 2)
    batches = int(np.prod(lead[:-1] if len(lead) > 1 else lead))
    lengths = [(2 * b) % 6 for b in range(batches)]
    record = trace(q, k, k, keep=prefill(2) & padding(lengths))
    assert record.shape[0] == batches
    allowed = torch.arange(5) < torch.tensor(lengths)[:, None, None]
    wanted = allowed[:, None] & torch.ones(3, 5).tril(2).bool()
    cells = record.stage("masked").reshape(batches, -1, 3, 5)
    assert torch.equal(cells > -torch.inf, wanted.expand_as(cells))


def test_cached_decoding_equals_the_whole():
    """The last rows of a causal map are those that prefill gives for the new queries."""
    q, k, v = (drawn(seed, 6, 4) for seed in (1, 2, 3))
    whole = trace(q, k, v, keep=causal())
    new = trace(q[4:], k, v, keep=prefill(4))
    for name in STAGES:
        torch.testing.assert_close(new.stage(name), whole.stage(name)[4:])
    tail = trace(q[5:], k, v, keep=causal())
    torch.testing.assert_close(tail.output, whole.output[5:])


def test_padding_changes_nothing_for_what_is_kept():
    q, k, v = (drawn(seed, 2, 3, 5, 4) for seed in (1, 2, 3))
    output = attention(q, k, v, keep=padding([2, 5]))
    torch.testing.assert_close(output[0], attention(q[0], k[0, :, :2], v[0, :, :2]))
    torch.testing.assert_close(output[1], attention(q[1], k[1], v[1]))


def test_one_token_one_key_one_number():
    number = torch.tensor([[2.0]])
    record = trace(number, number, number)
    assert [record.stage(name).item() for name in STAGES] == [4, 4, 4, 1, 1, 2]


def test_scale_0_gives_equal_weights_and_a_negative_one_turns_the_order_round():
    q, k, v = (drawn(seed, 3, 4) for seed in (1, 2, 3))
    record = trace(q, k, v, scale=0.0)
    assert (record.stage("weights") == 1 / 3).all()
    torch.testing.assert_close(record.output, v.mean(0).expand(3, 4))
    up, down = (trace(q, k, v, scale=s).stage("weights") for s in (0.7, -0.7))
    assert torch.equal(up.argsort(-1), down.argsort(-1).flip(-1))


def test_a_source_travels_with_the_record():
    toys = toy.three_tokens()
    source = Projection(toys.x, toys.w_query, toys.w_key, toys.w_value)
    q, k, v = source.project()
    assert trace(q, k, v, source=source).source is source
    assert trace(q, k, v).source is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_source_may_be_off_by_a_rounding_but_not_by_more(dtype):
    x, *matrices = drawn(1, 4, 6), drawn(2, 6, 3), drawn(3, 6, 3), drawn(4, 6, 3)
    exact = [(x.to(dtype).double() @ w.to(dtype).double()).to(dtype) for w in matrices]
    source = Projection(x.to(dtype), *(w.to(dtype) for w in matrices))
    trace(*exact, source=source)
    exact[1] = exact[1] + 0.5
    with pytest.raises(
        ValueError, match=r"^source must give k, got numbers that are off by 0\.\d+$"
    ):
        trace(*exact, source=source)


def projection(*lead, biases=True):
    """A source of 2 heads, q and k 3 wide, v 4 wide."""
    matrices = drawn(2, 5, 6), drawn(3, 5, 6), drawn(4, 5, 8)
    offsets = (drawn(5, 6), drawn(6, 6), drawn(7, 8)) if biases else None
    return Projection(drawn(1, *lead, 4, 5), *matrices, offsets)


def split(rows):
    """[*, T, H·D] → [*, H, T, D] for 2 heads."""
    return torch.stack(rows.chunk(2, -1), -3)


def test_autocast_makes_no_right_source_wrong():
    x, w = drawn(1, 4, 3).float(), drawn(2, 3, 3).float()
    source = Projection(x, w, w, w)
    q, k, v = source.project()
    with torch.autocast("cpu", torch.bfloat16):
        assert trace(q, k, v, source=source).source is source


def test_a_projection_adds_its_biases():
    source = projection(3)
    without = projection(3, biases=False).project()
    for made, plain, bias in zip(source.project(), without, source.biases, strict=True):
        torch.testing.assert_close(made - plain, bias.expand_as(made))


@pytest.mark.parametrize("lead", [(1,), (3,), (2, 3)])
@pytest.mark.parametrize("biases", [False, True])
def test_a_source_of_several_heads_in_every_rank(lead, biases):
    source = projection(*lead, biases=biases)
    q, k, v = map(split, source.project())
    assert trace(q, k, v, source=source).source is source
    for n, name in enumerate("qkv"):
        wrong = [q, k, v]
        wrong[n] = wrong[n].flip(-3)
        with pytest.raises(ValueError, match=rf"^source must give {name}, got numbers"):
            trace(*wrong, source=source)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
@pytest.mark.parametrize("name", "qkv")
@pytest.mark.parametrize("lead", [(), (2,), (1, 2), (2, 1, 1)], ids=str)
@pytest.mark.parametrize("T", [5, 300])
def test_nothing_hides_what_is_not_finite(T, lead, name, value):
    """Short and long calls name its place in the caller's rank, whatever a mask keeps."""
    place = (*(size - 1 for size in lead), T - 1, 0)
    tensors = {other: drawn(seed, *lead, T, 3) for seed, other in enumerate("qkv")}
    tensors[name][place] = value
    batches = max(1, math.prod(lead[:-1] if len(lead) > 1 else lead))
    hidden = torch.ones(T, T, dtype=torch.bool)
    hidden[-1], hidden[:, -1] = False, False
    for settings in (
        {},
        {"keep": causal()},
        {"keep": padding([T - 1] * batches)},
        {"keep": hidden},
        {"dropout": Dropout(0.99, 1)},
        {"scale": 0.0},
    ):
        with pytest.raises(ValueError, match=rf"^{name} must be finite, got {value} at ") as error:
            trace(*tensors.values(), **settings)
        assert str(error.value).endswith(str(place))


def test_a_sum_that_overflows_is_no_error():
    """The sums of a short call tell too little here, and each number is looked at."""
    q, k = torch.full((4, 1), 1.7e19), torch.full((4, 1), 1.7e19)
    v = torch.full((4, 2), 3e38)
    record = trace(q, k, v, scale=1.0)
    assert (record.stage("scores") == record.stage("scaled")).all()
    assert record.output.isfinite().all()
    torch.testing.assert_close(record.output, v)
