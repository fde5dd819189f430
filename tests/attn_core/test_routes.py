"""Each engine gives what the six formulas give: numbers, gradients and bits, wherever a tile ends.

The formulas on whole maps, which test_stages.py compares with plain loops, are what the others are
compared with. Sizes are the real ones, on both sides of the places at which maps are cut.
"""

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from torch.utils.flop_counter import FlopCounterMode

from attn_core import Bias, Dropout, attention, causal, padding, prefill, trace, window
from attn_core.api import recorded
from attn_core.call import Call
from attn_core.engines import tiles, torch_sdpa
from attn_core.engines.formulas import FORMULAS
from attn_core.engines.tiled import TILED
from attn_core.engines.torch_sdpa import TORCH_SDPA
from tests.attn_core.reference import DTYPES, cases, drawn

# Of a call with the leading axes `lead`, L queries and S keys: what makes its mask.
MASKS: dict[str, Callable] = {
    "none": lambda lead, L, S: None,
    "causal": lambda lead, L, S: causal(),
    "window": lambda lead, L, S: window(7, 2),
    "far window": lambda lead, L, S: window(0, 0) & causal(),
    "wide window": lambda lead, L, S: window(S // 2, 5),
    "padding": lambda lead, L, S: padding([S // 3, S]),
    "empty sequence": lambda lead, L, S: padding([0, S]),
    "causal and padding": lambda lead, L, S: causal() & padding([S - S // 4, 0]),
    "joined": lambda lead, L, S: causal() & padding([S, S // 2]) & window(S // 4 + 20),
    "cells": lambda lead, L, S: drawn(L, *lead, L, S) < -0.5,
    "cells, empty rows": lambda lead, L, S: drawn(7, *lead, L, S) > 2.5,
    "cells of keys": lambda lead, L, S: torch.arange(S) % 4 != 2,
    "cells of one head": lambda lead, L, S: drawn(5, L, S) < 0.4,
    "left padding": lambda lead, L, S: padding(starts=[S // 3, S]),
    "causal and left padding": lambda lead, L, S: (
        causal() & padding([S, S - 1], starts=[S // 2, 0])
    ),
    "joined cells": lambda lead, L, S: causal() & (drawn(S, L, S) < 0.3),
}
LEADS = [(2,), (2, 3), (1, 2, 1)]  # two sequences, with heads and without
# Beside 32, 64, 128 and 256 rows of a tile, as the lengths 512, 1,024 and 8,192 choose among them,
# and beside blocks of 2,048 keys: heads, too, are parted where a block is full.
SIZES = [
    (1, 5), (65, 11), (63, 70), (130, 560), (513, 150), (1025, 100), (8193, 9),
    (33, 2047), (64, 2048), (65, 2049), (129, 4097),
]  # fmt: skip
ROUTES = {
    "tiles": (TILED, None),
    "tiles with dropout": (TILED, Dropout(0.3, 5)),
    "torch's own": (TORCH_SDPA, None),
}
every_route = pytest.mark.parametrize(("engine", "dropout"), ROUTES.values(), ids=ROUTES)


def qkv(lead, L, S, dtype=torch.float64, width=3):
    return [drawn(i, *lead, n, width).to(dtype) for i, n in ((1, L), (2, S), (3, S))]


def close(got, wanted, most, what):
    error = (got.double() - wanted).abs().max()
    assert error <= most, f"{what}: off by {error:.2g}, and at most {most:.2g}"


def routes(size, name):
    """Tiles for each mask of each size, and another route for two thirds of them."""
    others = [["tiles with dropout"], ["torch's own"], []]
    return ["tiles", *others[(SIZES.index(size) + 2 * list(MASKS).index(name)) % 3]]


@pytest.mark.parametrize(
    # Quick: each mask and each size on each route. Deep: all masks of all sizes on all routes.
    "are_others",
    [pytest.param(False, id="some"), pytest.param(True, id="others", marks=pytest.mark.deep)],
)
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_number_is_that_of_the_formulas_in_float64(size, name, are_others):
    """In each dtype and rank in turn; how far a rounding of a score, a sum, and v's dtype go."""
    turn = SIZES.index(size) + list(MASKS).index(name)
    lead, dtype = LEADS[turn % 3], DTYPES[turn % 4]
    scale = (0.6, -0.8, 0.6, 0.0, 0.6)[turn % 5]
    q, k, v = qkv(lead, *size, dtype)
    keep, formulas = MASKS[name](lead, *size), {}
    for route in [each for each in ROUTES if (each in routes(size, name)) != are_others]:
        engine, dropout = ROUTES[route]
        how = keep, scale, dropout
        if dropout not in formulas:
            call = Call.of(q.double(), k.double(), v.double(), *how)
            formulas[dropout] = recorded(call, FORMULAS)
        compare(recorded(Call.of(q, k, v, *how), engine), formulas[dropout], route)


def compare(record, exact, route):
    q, k, v, dtype = exact.q, exact.k, exact.v, record.q.dtype
    eps = torch.finfo(record.float_type).eps
    score = q.shape[-1] * float(q.abs().max() * k.abs().max()) * abs(record.scale)
    relative = 8 * (q.shape[-1] * score + k.shape[-2] + 8) * eps
    value = float(v.abs().max()) / (1 - (record.dropout.p if record.dropout else 0.0))
    near = (relative + torch.finfo(dtype).eps) * value
    close(record.output, exact.output, near, f"{route}: output")
    close(record.row_max, exact.row_max, relative * max(1.0, score), f"{route}: row_max")
    close(record.row_sum / exact.row_sum, 1.0, relative, f"{route}: row_sum")
    weights, wanted = record.stage("weights"), exact.stage("weights")
    close(weights, wanted, relative, f"{route}: weights")
    assert torch.equal(weights == 0, wanted == 0), route
    _, heads, L, S = record.shape[:4]
    place = {"batch": 1, "head": heads - 1}
    rows, cols = range(0, L, 3), range(S // 2, S)
    few = record.tile("weights", rows, cols, **place)
    close(few, exact.tile("weights", rows, cols, **place), relative, f"{route}: a tile")
    assert record.output.dtype == dtype
    assert {record.row_max.dtype, record.row_sum.dtype, weights.dtype} == {record.float_type}


@settings(max_examples=150)
@given(cases(dtypes=(torch.float64,), most=12, with_added=True))
def test_random_calls(case):
    """All ranks, joined masks, widths, scales and dropout, in the smallest of tiles."""
    call = Call.of(case.q, case.k, case.v, **case.settings())
    exact = recorded(call, FORMULAS)
    for engine in (TILED, TORCH_SDPA) if torch_sdpa.serves(call) else (TILED,):
        record = recorded(call, engine)
        assert torch.equal(record.row_max == 0, exact.row_max == 0)
        for mine, other in (
            (record.row_max, exact.row_max),
            (record.row_sum, exact.row_sum),
            (record.output, exact.output),
            (record.stage("weights"), exact.stage("weights")),
        ):
            torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-12)


def gradients(engine, inputs, how, pull):
    record = recorded(Call.of(*inputs, *how), engine)
    assert not record.row_max.requires_grad
    live = [tensor for tensor in inputs if tensor.requires_grad]
    return torch.autograd.grad(record.output, live, pull.to(record.output.dtype))


BACK = [
    ("tiles", (70, 70)), ("tiles", (33, 2049)), ("tiles with dropout", (70, 70)),
    ("torch's own", (520, 520)), ("torch's own", (520, 300)), ("torch's own", (130, 560)),
]  # fmt: skip


def backward():
    """Of the two maps that are not square, each mask has one; the other is deep."""
    for (route, size), (turn, name) in product(BACK, enumerate(MASKS)):
        is_more = size == ((520, 300), (130, 560))[turn % 2]
        yield pytest.param(route, size, name, marks=pytest.mark.deep if is_more else ())


@pytest.mark.gate
@pytest.mark.parametrize(("route", "size", "name"), [*backward()], ids=str)
def test_gradients_are_those_of_the_formulas(route, size, name):
    engine, dropout = ROUTES[route]
    lead, scale = (2, 2), (0.7, -0.8, 0.0)[(sum(size) + list(MASKS).index(name)) % 3]
    how, pull = (MASKS[name](lead, *size), scale, dropout), drawn(9, *lead, size[0], 3)
    inputs = [tensor.requires_grad_() for tensor in qkv(lead, *size)]
    pulled, wanted = (gradients(each, inputs, how, pull) for each in (engine, FORMULAS))
    for mine, other in zip(pulled, wanted, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-11)
    for live, wanted in enumerate(pulled):
        alone = [each.detach().requires_grad_(n == live) for n, each in enumerate(inputs)]
        assert torch.equal(gradients(engine, alone, how, pull)[0], wanted)


# What today's models add, of two heads; each with the tensors that may ask for a gradient.
ADDED: dict[str, Callable] = {
    "a table": lambda L, S: {"bias": drawn(5, 2, 1, L, S)},
    "a row for all": lambda L, S: {"bias": drawn(5, 2, 1, S)},
    "slopes": lambda L, S: {"slopes": drawn(5, 2)},
    "by distance": lambda L, S: {"relative": drawn(5, 2, 17)},
    "softcap": lambda L, S: {"softcap": 0.8},
    "sinks": lambda L, S: {"sinks": drawn(5, 2)},
    "all": lambda L, S: {
        "bias": drawn(5, 2, 2, L, S), "slopes": drawn(6, 2), "softcap": 2.0, "sinks": drawn(7, 2)
    },
}  # fmt: skip


def call_of(qkv, added, keep, dropout=None):
    """A call with what is added; slopes and relative are parts of the bias."""
    settings = dict(added)
    rules = {name: settings.pop(name) for name in ("slopes", "relative") if name in settings}
    if rules:
        settings["bias"] = Bias(**rules) + settings["bias"] if "bias" in settings else Bias(**rules)
    return Call.of(*qkv, keep, 0.7, dropout, **settings)


@pytest.mark.gate
@pytest.mark.parametrize(
    "keep", [None, causal(), causal() & padding([290, 0]), window(7, 2)], ids=str
)
@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize(
    ("route", "L"),
    [("tiles", 70), ("tiles with dropout", 70), ("torch's own", 520), ("torch's own", 300)],
)
@pytest.mark.parametrize("heads", [2, 1], ids=["heads", "one head of keys"])
def test_what_is_added_on_each_route_and_its_gradients(heads, route, L, name, keep):
    """torch's own route gives a bias no gradient: there it is a constant."""
    engine, dropout = ROUTES[route]
    added = ADDED[name](L, 300)
    tensors = [] if engine is TORCH_SDPA else [x for x in added.values() if torch.is_tensor(x)]
    q, k, v = qkv((2, 2), L, 300)
    inputs = [each.requires_grad_() for each in (q, k[:, :heads], v[:, :heads], *tensors)]
    call = call_of(inputs[:3], added, keep, dropout)
    assert torch_sdpa.serves(call) == (engine is TORCH_SDPA and call.softcap is None)
    engine = engine if torch_sdpa.serves(call) else TILED
    runs = []
    for each in (engine, FORMULAS):
        record = recorded(call, each)
        pulled = torch.autograd.grad(record.output, inputs, drawn(9, 2, 2, L, 3))
        few = record.tile("weights", range(3, 50), range(5, 60), head=1).square().sum()
        live = [inputs[0], *tensors]
        pulled += torch.autograd.grad(few, live, allow_unused=True, materialize_grads=True)
        with torch.no_grad():
            runs.append([record.output, record.lse, record.stage("weights"), *pulled])
    for mine, other in zip(*runs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("is_fast", [True, pytest.param(False, marks=pytest.mark.deep)])
@every_route
@pytest.mark.parametrize("live", ["qkv", "qv", "k"])
def test_second_derivatives(live, engine, dropout, is_fast):
    """Also where the gradient that comes in is a constant, which hides a missing graph."""
    inputs = [drawn(i, 2, 1, 7, 2).requires_grad_(name in live) for i, name in enumerate("qkv")]

    def output(*three):
        return recorded(Call.of(*three, causal() & padding([0, 6]), None, dropout), engine).output

    torch.manual_seed(0)  # fast mode draws a direction
    assert torch.autograd.gradgradcheck(output, inputs, fast_mode=is_fast)
    first = torch.autograd.grad(
        output(*inputs).sum(), [t for t in inputs if t.requires_grad], create_graph=True
    )
    assert first[0].requires_grad


@pytest.mark.parametrize("is_fast", [True, pytest.param(False, marks=pytest.mark.deep)])
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_second_derivatives_of_what_is_added(is_fast):
    """And forward mode, of grouped heads."""
    added = ADDED["all"](5, 5)
    names = [name for name, x in added.items() if torch.is_tensor(x)]
    q, k, v = qkv((2, 2), 5, 5)
    inputs = [each.requires_grad_() for each in (q, k[:, :1], v[:, :1], *map(added.get, names))]

    def output(engine, q, k, v, *tensors):
        call = call_of((q, k, v), added | dict(zip(names, tensors, strict=True)), causal())
        return recorded(call, engine).output

    torch.manual_seed(0)  # fast mode draws a direction
    assert torch.autograd.gradgradcheck(partial(output, TILED), inputs, fast_mode=is_fast)
    steps = tuple(drawn(n, *each.shape) for n, each in enumerate(inputs))
    ours, formulas = (
        torch.func.jvp(partial(output, engine), tuple(inputs), steps)[1]
        for engine in (TILED, FORMULAS)
    )
    torch.testing.assert_close(ours, formulas)


@every_route
@pytest.mark.parametrize("name", ["none", "causal", "joined", "cells, empty rows"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_float32_and_rounded_once(dtype, name, engine, dropout):
    lead, size = (2,), (130, 300)
    narrow = [tensor.requires_grad_() for tensor in qkv(lead, *size, dtype)]
    wide = [tensor.detach().float().requires_grad_() for tensor in narrow]
    how, pull = (MASKS[name](lead, *size), None, dropout), drawn(9, *lead, 130, 3).to(dtype)
    runs = []
    for inputs in (narrow, wide):
        output = recorded(Call.of(*inputs, *how), engine).output
        runs.append([output, *torch.autograd.grad(output, inputs, pull.to(output.dtype))])
    for mine, other in zip(*runs, strict=True):
        assert mine.dtype == dtype
        assert torch.equal(mine, other.to(dtype))


@every_route
def test_autocast_lowers_nothing(engine, dropout):
    """Nor what is asked for later, nor second derivatives."""

    def run(is_lowered):
        q, k, v = (each.requires_grad_() for each in qkv((2, 2), 300, 300, torch.float32))
        with torch.autocast("cpu", torch.bfloat16, enabled=is_lowered):
            record = recorded(Call.of(q, k, v, causal(), None, dropout), engine)
            loss = record.output.square().sum()
            of_q = torch.autograd.grad(loss, q, create_graph=True)[0]
            cells = record.output, record.lse, record.stage("weights"), of_q
            return *cells, *torch.autograd.grad(of_q.square().sum(), (q, k, v))

    for mine, wanted in zip(run(True), run(False), strict=True):
        assert mine.dtype == torch.float32
        torch.testing.assert_close(mine, wanted, rtol=1e-5, atol=1e-6)


@every_route
def test_a_record_computes_row_statistics_for_the_head_that_is_looked_at(engine, dropout):
    q = drawn(1, 2, 3, 300, 4)
    known = recorded(Call.of(q, q, q, causal(), None, dropout), engine).known
    assert len(known) == (engine is TILED), "a pass over tiles knows those of all heads"
    record = recorded(Call.of(q, q, q, causal()), TORCH_SDPA)
    with FlopCounterMode(display=False) as counter:
        few = record.tile("weights", range(3, 7), range(5), batch=1, head=2)
    assert counter.get_total_flops() < 2 * 300 * 300 * 2 * 4
    assert list(record.known) == [(range(1, 2), range(2, 3))]
    torch.testing.assert_close(few, record.stage("weights")[1, 2, 3:7, :5])
    kept = record.known[range(1, 2), range(2, 3)]
    assert record.tile("weights", range(7), range(5), batch=1, head=2) is not None
    assert record.known[range(1, 2), range(2, 3)] is kept
    torch.testing.assert_close(record.row_sum[1:, 2:], kept[1])


def test_row_statistics_of_numbers_that_have_changed_are_refused():
    q = drawn(1, 300, 4)
    record = trace(q, q, q)
    q[0] = 1
    for ask in (lambda: record.row_max, lambda: record.stage("weights")):
        with pytest.raises(RuntimeError, match=r"^q must stay as it was when it was traced"):
            ask()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("keep", [None, causal(), prefill(0)], ids=str)
def test_attention_gives_the_output_of_the_record(keep, dtype):
    q, k, v = qkv((2, 2), 300, 300, dtype)
    assert torch.equal(attention(q, k, v, keep=keep), trace(q, k, v, keep=keep).output)


CHOSEN = {
    "small": ((256, 128), {}, FORMULAS),
    "a cell too many": ((257, 257), {"keep": causal()}, TORCH_SDPA),
    "no mask": ((130, 514), {}, TORCH_SDPA),
    "a band": ((513, 513), {"keep": window(5)}, TORCH_SDPA),
    "another triangle": ((130, 514), {"keep": causal()}, TORCH_SDPA),
    "a scale of 0": ((513, 513), {"keep": causal(), "scale": 0.0}, TORCH_SDPA),
    "a scale below 0": ((513, 513), {"scale": -1.0}, TORCH_SDPA),
    "dropout": ((300, 300), {"dropout": Dropout(0.2, 3)}, TILED),
    "narrow values": ((300, 300), {"width": 3}, TILED),
}


@pytest.mark.parametrize("live", [False, True], ids=["plain", "live"])
@pytest.mark.parametrize(("size", "how", "engine"), CHOSEN.values(), ids=CHOSEN)
def test_which_engine_computes(size, how, engine, live):
    """Gradients or not: each has its way back."""
    how = dict(how)
    sizes = (size[0], 4), (size[1], 4), (size[1], how.pop("width", 4))
    q, k, v = (drawn(seed, 1, 2, *size).requires_grad_(live) for seed, size in enumerate(sizes, 1))
    assert trace(q, k, v, **how).engine is engine


@pytest.mark.parametrize(
    ("sizes", "dropout", "shape"),
    [
        ((1, 1, 20, 9), None, (1, 1, 20)),
        ((1, 1, 512, 9), None, (1, 1, 32)),
        ((1, 1, 513, 9), None, (1, 1, 64)),
        ((1, 1, 1024, 9), None, (1, 1, 64)),
        ((1, 1, 1025, 9), None, (1, 1, 128)),
        ((1, 1, 8192, 9), None, (1, 1, 128)),
        ((1, 1, 8193, 9), None, (1, 1, 256)),
        ((1, 1, 8193, 9), Dropout(0.5, 1), (1, 1, 128)),
        ((2, 400, 64, 32), None, (1, 256, 32)),
        ((2, 200, 64, 32), Dropout(0.5, 1), (1, 8, 64)),
        ((1, 1, 512, 9), Dropout(0.5, 1), (1, 1, 64)),
        ((200, 3, 64, 32), None, (85, 3, 32)),
        ((1, 8, 64, 4096), None, (1, 4, 32)),
        ((2, 2, 8193, 2048), None, (1, 1, 256)),
    ],
    ids=str,
)
def test_how_much_a_tile_holds(sizes, dropout, shape):
    """Rows by the length of the map, and as many heads and batches as keep a block in the cache."""
    B, H, L, S = sizes
    q, k = torch.zeros(B, H, L, 1), torch.zeros(B, H, S, 1)
    first, *_ = tiles.cut(Call(q, k, k, None, 1.0, dropout, ()))
    assert tuple(map(len, first)) == shape


@pytest.mark.parametrize(
    ("sizes", "dropout", "shape"),
    [
        ((1, 1, 9000, 9000), None, (1, 1, 2048)),
        ((2, 12, 2048, 2048), None, (1, 4, 2048)),
        ((2, 3, 512, 512), None, (2, 3, 512)),
        ((2, 12, 2048, 2048), Dropout(0.1, 1), (1, 4, 2048)),
    ],
    ids=str,
)
def test_a_tile_on_a_gpu_holds_more(sizes, dropout, shape):
    """On torch's device without memory, which is no CPU either."""
    B, H, L, S = sizes
    q, k = torch.zeros(B, H, L, 1, device="meta"), torch.zeros(B, H, S, 1, device="meta")
    first, *_ = tiles.cut(Call(q, k, k, None, 1.0, dropout, ()))
    assert tuple(map(len, first)) == shape


class TestTorchsOwnOnAGpu:
    """Asked of it on torch's device without memory, which is no CPU either."""

    @pytest.fixture(params=["flash", "efficient", None])
    def backend(self, request, monkeypatch):
        """The one that answers, and what it was asked."""
        asked = []

        def answers(is_it):
            return lambda asked_for: asked.append(asked_for) or is_it

        for name in ("flash", "efficient"):
            is_it = name == request.param
            monkeypatch.setattr(torch_sdpa, f"can_use_{name}_attention", answers(is_it))
        return request.param, asked

    @staticmethod
    def knows(keep=None, size=(1, 2, 600, 600), scale=1.0):
        B, H, L, S = size
        q, k = torch.zeros(B, H, L, 1, device="meta"), torch.zeros(B, H, S, 1, device="meta")
        return torch_sdpa.serves_gpu(Call(q, k, k, keep, scale, None, ()))

    @pytest.mark.parametrize("keep", [None, causal()], ids=str)
    def test_serves_where_it_has_tiles(self, keep, backend):
        name, asked = backend
        assert self.knows(keep) == (name is not None)
        last = asked[-1]
        assert (last.is_causal, last.dropout, last.attn_mask) == (keep is not None, 0.0, None)
        assert last.query.shape == (1, 2, 600, 1)
        assert not last.enable_gqa

    @pytest.mark.parametrize(("size", "fits"), [(65_535, True), (65_536, False)])
    def test_serves_as_many_heads_and_batches_as_one_launch_takes(self, size, fits, backend):
        fits = fits and backend[0] is not None
        assert self.knows(size=(size, 1, 3, 3)) == fits
        assert self.knows(size=(1, size, 3, 3)) == fits
        assert self.knows(size=(1, 1, size, size)) == (backend[0] is not None)

    def test_serves_a_causal_mask_of_a_square_alone(self, backend):
        assert self.knows(causal()) == (backend[0] is not None)
        assert not self.knows(window(0), size=(1, 2, 600, 600))
        assert not self.knows(causal(), size=(1, 2, 600, 700))

    def test_serves_the_smallest_scale_that_is_not_rounded_away(self, backend):
        tiny = torch.finfo(torch.float32).tiny
        assert self.knows(scale=tiny) == (backend[0] is not None)
        assert not self.knows(scale=tiny / 2)

    @pytest.mark.parametrize("scale", [0.0, -1.0])
    @pytest.mark.parametrize("keep", [None, causal()], ids=str)
    def test_serves_no_scale_that_is_not_above_0(self, keep, scale, backend):
        assert not self.knows(keep, scale=scale)
