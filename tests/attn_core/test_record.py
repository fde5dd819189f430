"""The record: stage, tile and pooled agree, answer in the caller's rank, and refuse in words."""

import copy
import dataclasses
import math
import operator
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_core import (
    Dropout,
    Projection,
    causal,
    checks,
    padding,
    toy,
    trace,
    workings,
)
from attn_core.engines.formulas import Engine
from attn_core.modules import SelfAttention
from attn_core.views import explore
from tests.attn_core.reference import MAPS, STAGES, batches_and_heads, cases, drawn

KEEP = torch.tensor([[True] * 5, [False] * 5, [True, False, True, True, False], [True] * 5])


def small(dtype=torch.float64, **settings):
    """2 batches, 3 heads, 4 queries, 5 keys; one row of four keeps nothing."""
    q, k, v = drawn(1, 2, 3, 4, 2), drawn(2, 2, 3, 5, 2), drawn(3, 2, 3, 5, 3)
    return trace(*(t.to(dtype) for t in (q, k, v)), keep=KEEP, dropout=Dropout(0.4, 9), **settings)


def blocks(size, count):
    return [range(r * size // count, (r + 1) * size // count) for r in range(count)]


@given(cases(dtypes=(torch.float64, torch.float32)), st.data())
def test_tiles_equal_the_whole(case, data):
    record, tolerance = case.trace(), case.tolerance()
    B, H, L, S = record.shape
    assert batches_and_heads(case.q.shape[:-2]) == (B, H)
    for name in STAGES:
        width = case.v.shape[-1] if name == "output" else S
        whole = record.stage(name).reshape(B, H, L, width)
        b, h = data.draw(st.integers(0, B - 1)), data.draw(st.integers(0, H - 1))
        rows = data.draw(st.builds(range, st.integers(0, L - 1), st.just(L), st.integers(1, 3)))
        cols = data.draw(st.builds(slice, st.integers(0, width - 1), st.none(), st.integers(1, 3)))
        tile = record.tile(name, rows, cols, batch=b, head=h)
        wanted = whole[b, h][list(rows)][:, cols]
        torch.testing.assert_close(tile, wanted, rtol=0, atol=2 * tolerance[name])


@given(cases(dtypes=(torch.float64,), with_dropout=False), st.data())
def test_overviews_equal_blocks_of_the_whole(case, data):
    record = case.trace()
    B, H, L, S = record.shape
    name = data.draw(st.sampled_from(STAGES))
    width = case.v.shape[-1] if name == "output" else S
    n, m = data.draw(st.integers(1, L)), data.draw(st.integers(1, width))
    b, h = data.draw(st.integers(0, B - 1)), data.draw(st.integers(0, H - 1))
    cells = record.stage(name).reshape(B, H, L, width)[b, h]
    for how in ("mean", "max"):
        wanted = [
            [getattr(cells[rows.start : rows.stop, cols.start : cols.stop], how)()
             for cols in blocks(width, m)]
            for rows in blocks(L, n)
        ]  # fmt: skip
        overview = record.pooled(name, (n, m), how, batch=b, head=h)
        torch.testing.assert_close(overview, torch.tensor(wanted).double(), rtol=1e-12, atol=1e-12)


def test_mean_is_the_default_of_an_overview():
    record = small()
    assert torch.equal(record.pooled("weights", (2, 2)), record.pooled("weights", (2, 2), "mean"))
    assert not torch.equal(
        record.pooled("weights", (2, 2)), record.pooled("weights", (2, 2), "max")
    )


def test_overviews_of_a_map_that_is_looked_at_in_parts():
    """2,100 columns, so 1,997 rows at a time. Of 4,200 queries half see nothing, and come first."""
    q, k = drawn(1, 4200, 2).float(), drawn(2, 2100, 2).float()
    record = trace(q, k, k, keep=causal(), dropout=Dropout(0.4, 9))
    for name in STAGES:
        cells = record.stage(name).double()
        blocks = [half.chunk(2, 1) for half in cells.chunk(2)]
        for how in ("mean", "max"):
            wanted = torch.tensor([[getattr(block, how)() for block in row] for row in blocks])
            overview = record.pooled(name, (2, 2), how)
            torch.testing.assert_close(overview, wanted.float(), rtol=1e-4, atol=1e-6)


class PoolsApart(Engine):
    """An engine with overviews of its own; what it was asked for."""

    def __init__(self):
        self.asked = []

    def overview(self, *given, derive):
        self.asked.append(given)
        return super().overview(*given, derive)


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("how", ["mean", "max"])
def test_an_engine_is_asked_for_an_overview(name, how):
    record, engine = small(), PoolsApart()
    asks = dataclasses.replace(record, engine=engine)
    settings = {"how": how, "batch": 1, "head": 2}
    asked, wanted = (each.pooled(name, (2, 2), **settings) for each in (asks, record))
    assert torch.equal(asked, wanted)
    if name == "output":
        assert engine.asked == []
        return
    ((call, of_stage, place, shape, pooled_by, statistics),) = engine.asked
    assert (call, of_stage, place, shape, pooled_by) == (asks, name, (1, 2), (2, 2), how)
    if name in ("weights", "dropped"):
        for mine, other in zip(statistics, (record.row_max, record.row_sum), strict=True):
            assert torch.equal(mine, other[1:2, 2:3])
    else:
        assert statistics is None


def test_it_is_not_asked_where_gradients_or_changed_tensors_are():
    record, engine = small(), PoolsApart()
    asks = dataclasses.replace(record, engine=engine)
    asks.k.requires_grad_()
    assert asks.pooled("weights", (2, 2)).requires_grad
    with torch.no_grad():
        asks.k.add_(1.0)
        with pytest.raises(RuntimeError, match="k must stay as it was"):
            asks.pooled("weights", (2, 2))
    assert engine.asked == []


def test_an_engine_of_formulas_gives_what_is_not_known():
    """Row statistics, and the weights from them."""
    record = small()
    fresh = dataclasses.replace(record, engine=Engine(), known={})
    assert torch.equal(fresh.row_max, record.row_max)
    torch.testing.assert_close(fresh.row_sum, record.row_sum)
    torch.testing.assert_close(fresh.stage("weights"), record.stage("weights"))


def test_an_overview_of_float16_outputs_does_not_overflow():
    q = torch.zeros(40, 1, dtype=torch.float16)
    v = torch.full((40, 2), 6e4, dtype=torch.float16)
    assert trace(q, q, v).pooled("output", (1, 1)).item() == float(v[0, 0])


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 1, 3), (1, 2, 1, 3)])
def test_answers_come_in_the_callers_rank(lead):
    q, k, v = drawn(1, *lead, 4, 2), drawn(2, *lead, 5, 2), drawn(3, *lead, 5, 3)
    record = trace(q, k, v, keep=KEEP)
    for name in MAPS:
        assert record.stage(name).shape == (*lead, 4, 5)
    assert record.stage("output").shape == record.output.shape == (*lead, 4, 3)
    assert record.lse.shape == (*lead, 4)
    B, H = batches_and_heads(lead)
    assert record.shape == (B, H, 4, 5)
    assert record.q.shape == (B, H, 4, 2)
    assert record.k.shape == (B, H, 5, 2)
    assert record.v.shape == (B, H, 5, 3)
    assert record.row_max.shape == record.row_sum.shape == (B, H, 4)
    assert record.tile("output", slice(0, 1), slice(1, 3)).shape == (1, 2)
    torch.testing.assert_close(record.stage("scores"), q @ k.mT)


def test_a_row_that_keeps_nothing_is_told_from_one_whose_only_score_is_0():
    """Both have row_max 0 and row_sum 1. The mask is asked about 1,024 of 2,050 rows at a time."""
    q, k = drawn(1, 2050, 2), drawn(2, 4096, 2)
    keep = torch.ones(2050, 4096, dtype=torch.bool)
    rows = [0, 1023, 1024, 2048, 2049]
    keep[rows] = False
    keep[rows[1::2], 5], q[rows[1::2]] = True, 0.0
    lse = trace(q, k, k, keep=keep).lse
    assert lse[rows].tolist() == [-math.inf, 0.0, -math.inf, 0.0, -math.inf]
    assert lse.isinf().sum() == 3


@pytest.fixture(scope="module")
def large():
    """A map of 8,193 × 8,192 cells, one row above the limit."""
    q = drawn(1, 8193, 1).float()
    return trace(q, q[1:], q[1:])


class TestRefusal:
    @pytest.mark.parametrize("name", MAPS)
    def test_of_a_whole_stage(self, name, large):
        with pytest.raises(ValueError, match=r"^stage '\w+' must have at most .* cells") as error:
            large.stage(name)
        assert str(error.value) == (
            f"stage {name!r} must have at most 2**26 cells to be made whole, got "
            "(1, 1, 8193, 8192): take one part with tile() or an overview with pooled()"
        )

    def test_parts_overviews_and_output_are_not_refused(self, large):
        assert large.tile("weights", slice(0, 2), slice(0, 2)).shape == (2, 2)
        assert large.pooled("weights", (2, 2)).shape == (2, 2)
        assert large.stage("output").shape == (8193, 1)

    def test_of_a_tile(self, large):
        with pytest.raises(ValueError, match=r"^a tile") as error:
            large.tile("scores", slice(None), slice(None))
        assert str(error.value) == (
            "a tile must have at most 2**26 cells, got (8193, 8192): "
            "take fewer rows or columns, or an overview with pooled()"
        )

    def test_the_limit_itself_is_allowed(self, large):
        assert large.tile("scores", slice(1, None), slice(None)).shape == (8192, 8192)
        checks.check_cells("weights", (1, 1, 8192, 8192))


class TestChangedInPlace:
    ASK = (
        *[lambda r, name=name: r.stage(name) for name in STAGES],
        lambda r: r.tile("scores", slice(0, 1), slice(0, 1)),
        lambda r: r.tile("output", slice(0, 1), slice(0, 1)),
        lambda r: r.pooled("weights", (1, 1)),
        lambda r: workings(r, "scores", 0, 0, batch=0, head=0),
    )

    @pytest.mark.parametrize("which", range(3))
    @pytest.mark.parametrize("lead", [(), (2,), (2, 2)])
    def test_is_refused(self, which, lead):
        tensors = [drawn(seed, *lead, 3, 2) for seed in (1, 2, 3)]
        record = trace(*tensors)
        tensors[which][..., 0, 0] += 1
        for ask in self.ASK:
            with pytest.raises(RuntimeError) as error:
                ask(record)
            assert str(error.value) == (
                f"{'qkv'[which]} must stay as it was when it was traced, got a tensor changed in "
                "place: trace again, and write into a clone"
            )

    def test_of_a_mask(self):
        record = small()
        record.keep.cells.logical_not_()
        for ask in self.ASK:
            with pytest.raises(RuntimeError, match=r"^keep must stay as it was when it was traced"):
                ask(record)

    @pytest.mark.parametrize("name", ["q", "k", "v", "output_4d", "keep.cells", "source.x"])
    def test_of_inference_tensors(self, name):
        """The caller's may be used again; the record has copies, and notices a write into them."""
        with torch.inference_mode():
            x, w, cells = drawn(1, 2, 4, 3) * 1, torch.eye(3).double(), KEEP[:, 1:].clone()
            record = trace(
                x, x, x, keep=causal() & cells, source=Projection(x, w, w, w, (w[0] * 0,) * 3)
            )
            wanted = [record.stage(name) for name in STAGES]
            for tensor in (x, w, cells):
                tensor.zero_()
            assert all(map(torch.equal, map(record.stage, STAGES), wanted))
            assert workings(record, "scores", 1, 0, batch=0).value == wanted[0][0, 1, 0]
            operator.attrgetter(name)(record).zero_()
            with pytest.raises(RuntimeError, match=r"must stay as it was when it was traced"):
                workings(record, "output", 1, 0, batch=0), record.output

    def test_also_through_a_view_and_by_an_optimizer(self):
        q = torch.nn.Parameter(drawn(1, 3, 2))
        record = trace(q, q, q)
        q.grad = torch.ones_like(q)
        torch.optim.SGD([q], lr=0.1).step()
        with pytest.raises(RuntimeError, match=r"^q must stay"):
            record.stage("weights")
        k = drawn(1, 3, 2)
        record = trace(k.clone(), k[:, :], k.clone())
        k.zero_()
        with pytest.raises(RuntimeError, match=r"^k must stay"):
            record.stage("weights")

    def test_of_a_record_made_under_no_grad(self):
        q = drawn(1, 1, 2, 3, 2).requires_grad_()
        with torch.no_grad():
            record = trace(q, q.detach().clone(), q.detach().clone())
            q[0, 0, 0, 0] = 5
        with pytest.raises(RuntimeError, match=r"^q must stay"):
            record.stage("weights")

    def test_a_clone_is_free(self):
        q = drawn(1, 3, 2)
        record = trace(q.clone(), q.clone(), q.clone())
        wanted = record.stage("weights")
        q.zero_()
        assert torch.equal(record.stage("weights"), wanted)


class TestHandedOut:
    """What a record gives away may be written into, and no later answer is wrong by it."""

    @pytest.mark.parametrize("name", STAGES)
    @pytest.mark.parametrize("keep", [None, causal()], ids=str)
    @pytest.mark.parametrize(("T", "is_live"), [(3, False), (3, True), (300, False)])
    def test_all_answers_are_copies(self, name, keep, T, is_live):
        tensors = [drawn(seed, T, 4).requires_grad_(is_live) for seed in (1, 2, 3)]
        record, every = trace(*tensors, keep=keep), slice(0, 3)
        asks = (
            lambda: record.stage(name),
            lambda: record.tile(name, every, every),
            lambda: record.pooled(name, (3, 3)),
            lambda: record.output,
            lambda: record.lse,
            lambda: record.row_max,
            lambda: record.row_sum,
        )
        wanted = [ask().clone() for ask in asks]
        with torch.no_grad():
            for ask in asks:
                ask().fill_(7.0)
        assert all(torch.equal(ask(), was) for ask, was in zip(asks, wanted, strict=True))

    ASK_OUTPUT = (
        lambda r: r.output,
        lambda r: r.stage("output"),
        lambda r: r.tile("output", slice(0, 1), slice(0, 1)),
        lambda r: r.pooled("output", (1, 1)),
        copy.copy,
    )

    @pytest.mark.parametrize("ask", ASK_OUTPUT, ids=["output", "stage", "tile", "pooled", "copy"])
    def test_a_stored_output_that_was_written_into_is_refused(self, ask):
        record = small()
        record.output_4d.add_(1)
        with pytest.raises(RuntimeError) as error:
            ask(record)
        assert str(error.value) == (
            "output must stay as it was when it was traced, got a tensor changed in place: "
            "trace again, and write into a clone"
        )


OTHERS = {
    "q": drawn(1, 1, 1, 5, 2),
    "keep": causal(),
    "scale": 1.0,
    "dropout": Dropout(0.5, 1),
    "lead": (1, 1),
    "output_4d": drawn(1, 1, 1, 5, 2),
    "source": None,
}


class TestReplaced:
    """Another call would be answered with the output and the statistics of this one."""

    @pytest.mark.parametrize("name", OTHERS)
    def test_is_refused(self, name):
        with pytest.raises(ValueError, match=rf"^{name} must stay") as error:
            dataclasses.replace(copy.deepcopy(projected()), **{name: OTHERS[name]})
        assert str(error.value) == (
            f"{name} must stay as it was when it was traced, got another one from replace(): "
            "call trace() with it instead"
        )

    def test_without_a_change_it_is_the_record(self):
        record = small()
        twin = dataclasses.replace(record)
        assert torch.equal(twin.stage("weights"), record.stage("weights"))
        record.q.add_(1)
        for again in (twin, dataclasses.replace(record)):
            with pytest.raises(RuntimeError, match=r"^q must stay as it was"):
                again.stage("weights")


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda record: pickle.loads(pickle.dumps(record)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
class TestCopies:
    def test_answer_as_the_record(self, copied):
        record = small()
        twin = copied(record)
        for name in STAGES:
            assert torch.equal(twin.stage(name), record.stage(name))
        assert torch.equal(twin.lse, record.lse)
        assert repr(twin) == repr(record)

    def test_notice_what_changes_after_them(self, copied):
        twin = copied(small())
        twin.q.add_(1)
        with pytest.raises(RuntimeError, match=r"^q must stay as it was"):
            twin.stage("scores")

    def test_a_record_that_has_changed_gives_none(self, copied):
        record = small()
        record.k.add_(1)
        with pytest.raises(RuntimeError, match=r"^k must stay as it was"):
            copied(record)


def test_a_deep_copy_of_a_record_with_gradients_goes_without_their_graph():
    q, k, v = (drawn(seed, 4, 2).requires_grad_() for seed in (1, 2, 3))
    record = trace(q * 1, k, v)
    twin = copy.deepcopy(record)
    for name in STAGES:
        torch.testing.assert_close(twin.stage(name), record.stage(name), rtol=0, atol=0)


def projected(biases=None):
    w, x = [drawn(seed, 3, 2) for seed in (1, 2, 3)], drawn(4, 5, 3)
    source = Projection(x, *w, biases)
    return trace(*source.project(), source=source)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_has_a_source_and_watches_it(copied):
    twin = copied(projected())
    assert str(workings(twin, "scores", 1, 0)) == str(workings(projected(), "scores", 1, 0))
    twin.source.x.add_(1)
    with pytest.raises(RuntimeError, match=r"^x of source must stay as it was"):
        workings(twin, "scores", 1, 0)


class TestChangedSource:
    BIASES = tuple(drawn(seed, 2) for seed in (5, 6, 7))

    @pytest.mark.parametrize(
        "ask",
        [lambda r: workings(r, "scores", 1, 0), lambda r: explore(r).html, copy.copy],
        ids=["workings", "explorer", "copy"],
    )
    @pytest.mark.parametrize("which", ["x", "w_query", "w_key", "w_value", "biases[1]"])
    def test_is_refused_where_the_arithmetic_goes_down_to_it(self, which, ask):
        record = projected(tuple(bias.clone() for bias in self.BIASES))
        source = record.source
        (source.biases[1] if which == "biases[1]" else getattr(source, which)).add_(1)
        with pytest.raises(RuntimeError) as error:
            ask(record)
        assert str(error.value) == (
            f"{which} of source must stay as it was when it was traced, got a tensor changed in "
            "place: trace again, and write into a clone"
        )

    def test_leaves_the_stages(self):
        record = projected()
        wanted = record.stage("weights").clone()
        record.source.w_query.add_(1)
        assert torch.equal(record.stage("weights"), wanted)

    def test_through_a_training_step(self):
        head = SelfAttention(3, 2)
        record = head.trace(drawn(1, 5, 3).float())
        record.output.sum().backward()
        torch.optim.SGD(head.parameters(), lr=1.0).step()
        with pytest.raises(RuntimeError, match=r"^w_(query|key|value) of source must stay"):
            workings(record, "scores", 1, 0)


@pytest.mark.parametrize("live", ["q", "k", "qk"])
def test_lse_has_gradients(live):
    """∂lse/∂masked are the weights; a row that keeps nothing has none."""
    q, k, v = (drawn(seed, 4, 2).requires_grad_(name in live) for seed, name in enumerate("qkv"))
    keep = torch.tensor([[False] * 4, [True] * 4, [True, False, True, True], [True] * 4])
    lse = trace(q, k, v, keep=keep, scale=0.7).lse
    assert lse[0] == -torch.inf
    inputs = [tensor for tensor in (q, k) if tensor.requires_grad]
    mine = torch.autograd.grad(lse[1:].square().sum(), inputs)
    scores = (q @ k.T * 0.7).masked_fill(~keep, -torch.inf)[1:]
    wanted = torch.autograd.grad(torch.logsumexp(scores, -1).square().sum(), inputs)
    for gradient, other in zip(mine, wanted, strict=True):
        torch.testing.assert_close(gradient, other)


def test_lse_with_gradients_is_refused_where_the_map_is_too_large():
    x = drawn(1, 8193, 1).float()
    assert trace(x, x, x).lse.shape == (8193,)
    with pytest.raises(ValueError, match=r"^stage 'masked' must have at most"):
        _ = trace(x.clone().requires_grad_(), x, x).lse


def test_inference_tensors_work():
    with torch.inference_mode():
        q = drawn(1, 3, 2) * 1
        inside = trace(q, q, q, keep=causal())
        for name in STAGES:
            inside.stage(name)
    outside = trace(q, q, q, keep=causal())
    for name in STAGES:
        assert torch.equal(inside.stage(name), outside.stage(name))
    assert torch.equal(inside.tile("weights", slice(0, 2), slice(0, 2)),
                       outside.stage("weights")[:2, :2])  # fmt: skip
    assert torch.equal(inside.lse, outside.lse)


def test_inference_tensors_that_are_added_work():
    with torch.inference_mode():
        added = {"bias": drawn(4, 4, 5) + 0, "sinks": drawn(5, 3) + 0}
        record = small(**added)
    wanted = small(**{name: tensor.clone() for name, tensor in added.items()})
    assert torch.equal(record.bias.table, wanted.bias.table)
    assert torch.equal(record.sinks, wanted.sinks)
    assert not any(tensor.is_inference() for tensor in record.added().values())
    torch.testing.assert_close(record.stage("weights"), wanted.stage("weights"))


def test_ordinary_tensors_in_inference_mode_work():
    q = drawn(1, 2, 3, 4, 2).requires_grad_()
    wanted = trace(q, q, q).stage("weights").detach()
    with torch.inference_mode():
        record = trace(q, q, q)
        torch.testing.assert_close(record.stage("weights"), wanted)
    torch.testing.assert_close(record.stage("weights"), wanted)


def test_a_record_is_frozen_and_says_little():
    record = trace(*[toy.journey().x] * 3, keep=padding([4]), scale=0.5, dropout=Dropout(0.5, 7))
    assert repr(record) == (
        "AttentionTrace(B=1, H=1, L=6, S=6, D=3, Dv=3, scale=0.5, keep=padding([4]), "
        "dropout=Dropout(p=0.5, seed=7), torch.float32)"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.scale = 1.0
    assert record != trace(*[toy.journey().x] * 3)
    assert record == record


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_a_tile_of_an_output_with_gradients_has_its_dropout_and_its_dtype(dtype):
    x = torch.linspace(-2, 2, 2 * 3 * 7 * 4).view(2, 3, 7, 4).to(dtype)
    record = trace(x.clone().requires_grad_(), x.flip(-1), x, dropout=Dropout(0.5, 3))
    tile = record.tile("output", slice(2, 6), slice(1, 3), batch=1, head=2)
    assert tile.dtype == dtype
    assert tile.grad_fn is not None
    torch.testing.assert_close(tile, record.output[1, 2, 2:6, 1:3])


def test_a_tile_with_gradients_has_the_mask_of_its_batch_and_its_head():
    x = torch.linspace(-2, 2, 2 * 3 * 7 * 4).view(2, 3, 7, 4)
    cells = torch.arange(3 * 7 * 7).view(1, 3, 7, 7) % 5 > 0
    keep = padding([4, 6]) & cells
    dead, live = (trace(q, x, x, keep=keep) for q in (x, x.clone().requires_grad_()))
    for batch, head in ((0, 1), (1, 2)):
        place = {"batch": batch, "head": head}
        tiles = (
            record.tile("masked", slice(0, 7), slice(0, 7), **place) for record in (live, dead)
        )
        torch.testing.assert_close(*(tile.detach() for tile in tiles))


@pytest.mark.parametrize("live", ["q", "k", "v"])
@pytest.mark.parametrize("name", STAGES)
def test_gradients_when_one_input_alone_asks(live, name):
    tensors = {n: drawn(i, 3, 2) for i, n in enumerate("qkv")}
    tensors[live].requires_grad_()
    q, k, v = tensors.values()
    weights = torch.softmax(q @ k.mT / math.sqrt(2), -1)
    wanted = {
        "scores": q @ k.mT,
        "scaled": q @ k.mT / math.sqrt(2),
        "masked": q @ k.mT / math.sqrt(2),
        "weights": weights,
        "dropped": weights,
        "output": weights @ v,
    }[name]
    cells = trace(q, k, v).tile(name, slice(0, 3), slice(0, 2))
    wanted = wanted[:, :2]
    assert cells.requires_grad == wanted.requires_grad
    if wanted.requires_grad:
        pull = drawn(9, 3, 2)
        mine, theirs = (
            torch.autograd.grad((t * pull).sum(), tensors[live])[0] for t in (cells, wanted)
        )
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)
