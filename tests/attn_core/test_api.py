"""The kernel against the formulas, its cost in memory, and masks of every broadcast form."""

import itertools
import math

import numpy as np
import pytest
import torch

from attn_core import (
    Dropout,
    Projection,
    causal,
    padding,
    trace,
)
from attn_core.call import Call
from attn_core.engines.formulas import FORMULAS
from tests.attn_core.reference import by_loop, drawn


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


@pytest.mark.parametrize("lead", [(), (1,), (2,), (2, 2), (2, 3), (2, 2, 3)])
def test_every_broadcast_form_of_a_bool_tensor(lead):
    """As many heads as batches too, so that the sizes do not tell; alone, and joined to a rule."""
    full = (*lead, 4, 5)
    q, k = drawn(1, *lead, 4, 2), drawn(2, *lead, 5, 2)
    lower = torch.ones(4, 5).tril(1).bool()
    for axes in range(len(full) + 1):
        for ones in itertools.product((False, True), repeat=axes):
            sizes = full[len(full) - axes :]
            shape = [1 if is_one else n for is_one, n in zip(ones, sizes, strict=True)]
            cells = torch.from_numpy(np.asarray(np.random.default_rng(axes).random(shape) < 0.6))
            for keep, wanted in (
                (cells, cells),
                (causal() & cells, cells & lower),
                (cells & causal(), cells & lower),
            ):
                masked = trace(q, k, k, keep=keep).stage("masked")
                assert torch.equal(masked > -torch.inf, wanted.expand(full)), shape


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_in_a_batch_without_heads_a_joined_tensor_may_have_an_axis_for_them(batch):
    q, cells = drawn(1, batch, 3, 2), drawn(2, batch, 3, 3) < 0.3
    masked = trace(q, q, q, keep=causal() & cells[:, None]).stage("masked")
    assert torch.equal(masked > -torch.inf, cells & torch.ones(3, 3).tril().bool())


def test_a_mask_that_serves_all_heads_is_kept_once():
    of_four, of_five = drawn(1, 2, 3, 5, 4), drawn(1, 2, 2, 3, 5, 4)
    for x, shape, kept in (
        (of_four, (1, 1, 5, 5), (1, 1, 5, 5)),
        (of_four, (3, 1, 5), (1, 3, 1, 5)),
        (of_five, (3, 5, 5), (1, 3, 5, 5)),
        (of_five, (5, 5), (1, 1, 5, 5)),
    ):
        assert trace(x, x, x, keep=drawn(2, *shape) < 0.7).keep.cells.shape == kept


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
