"""Calls whose maps are too large to be made whole: what tiles, dtypes, autocast may not change."""

import pytest
import torch

from attn_core import Dropout, attention, causal, padding, trace, window
from attn_core.call import Call
from attn_core.engines import formulas, tiled, tiles, torch_sdpa
from tests.attn_core.reference import drawn

T = 300  # one map of T×T is above what is made whole
LONG = [
    pytest.param({"keep": causal()}, id="torch's own pass"),
    pytest.param({"keep": causal(), "dropout": Dropout(0.2, 3)}, id="ours"),
]


def qkv(dtype=torch.float32, heads=2, width=8):
    return [drawn(seed, 2, heads, T, width).to(dtype) for seed in (1, 2, 3)]


def of_whole_maps(q, k, v, keep, scale=None):
    """The weights and the output of boolean cells [.., T, T], by torch, in float64."""
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    scores = (q.double() @ k.double().mT * scale).masked_fill(~keep, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights, weights @ v.double()


@pytest.mark.parametrize("settings", LONG)
def test_float16_is_computed_in_float32_and_rounded_once(settings):
    q, k, v = qkv(torch.float16)
    found = attention(q, k, v, **settings)
    assert found.dtype == torch.float16
    wide = attention(q.float(), k.float(), v.float(), **settings)
    assert torch.equal(found, wide.half())


@pytest.mark.parametrize("settings", LONG)
def test_row_statistics_have_no_gradient_and_keep_float32(settings):
    q, k, v = (tensor.requires_grad_() for tensor in qkv(torch.float16))
    record = trace(q, k, v, **settings)
    for found in (record.row_max, record.row_sum):
        assert not found.requires_grad
        assert found.dtype == torch.float32
    assert record.tile("output", range(3), range(2)).dtype == torch.float16


@pytest.mark.parametrize("settings", LONG)
def test_gradients_of_float16_are_summed_in_float32(settings):
    narrow = [tensor.requires_grad_() for tensor in qkv(torch.float16)]
    wide = [tensor.detach().float().requires_grad_() for tensor in narrow]
    pull = drawn(4, 2, 2, T, 8).half()
    for inputs in (narrow, wide):
        trace(*inputs, **settings).output.backward(pull.to(inputs[0].dtype))
    for mine, other in zip(narrow, wide, strict=True):
        assert mine.grad.dtype == torch.float16
        assert torch.equal(mine.grad, other.grad.half())


@pytest.mark.parametrize("settings", LONG)
def test_second_derivatives_know_the_mask_and_the_dropout(settings, monkeypatch):
    def second():
        inputs = [drawn(seed, 6, 2).requires_grad_() for seed in (1, 2, 3)]
        (of_q,) = torch.autograd.grad(
            (trace(*inputs, **settings).output ** 2).sum(), inputs[0], create_graph=True
        )
        return torch.autograd.grad((of_q**2).sum(), inputs)

    by_whole_maps = second()
    monkeypatch.setattr(formulas, "SMALL", 0)
    for found, wanted in zip(second(), by_whole_maps, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("settings", LONG)
@pytest.mark.parametrize("which", range(3))
def test_the_gradient_of_one_input_is_that_of_all_three(which, settings):
    """To the last bit: both come from the same pass over tiles."""

    def gradient(live):
        inputs = [tensor.requires_grad_(i in live) for i, tensor in enumerate(qkv())]
        (trace(*inputs, **settings).output ** 2).sum().backward()
        return inputs[which].grad

    assert torch.equal(gradient([which]), gradient(range(3)))


@pytest.mark.parametrize("settings", LONG)
def test_autocast_lowers_no_long_call(settings, monkeypatch):
    def run(is_lowered):
        q, k, v = (tensor.requires_grad_() for tensor in qkv())
        with torch.autocast("cpu", torch.bfloat16, enabled=is_lowered):
            record = trace(q, k, v, **settings)
            found = record.output, record.row_max, record.row_sum, record.stage("weights")
            gradients = torch.autograd.grad((record.output**2).sum(), (q, k, v))
        return *found, *gradients

    lowered, plain = run(True), run(False)
    monkeypatch.setattr(formulas, "SMALL", 2**30)
    for other in (plain, run(False)):
        for mine, wanted in zip(lowered, other, strict=True):
            torch.testing.assert_close(mine, wanted, rtol=1e-4, atol=1e-4)


def test_autocast_lowers_no_row_statistics_that_are_asked_for_later():
    q, k, v = qkv()
    record = trace(q, k, v)
    with torch.autocast("cpu", torch.bfloat16):
        found = record.lse
    wanted = (q.double() @ k.double().mT * 8**-0.5).logsumexp(-1)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cells", [1, tiles.CELLS], ids=["one head at a time", "all heads"])
def test_each_head_has_the_mask_of_its_own(cells, monkeypatch):
    """And a row of one of them keeps nothing."""
    monkeypatch.setattr(tiles, "CELLS", cells)
    q, k, v = qkv(heads=3)
    keep = drawn(5, 2, 3, T, T) < 0.4
    keep[1, 2, 7] = False
    record = trace(q, k, v, keep=keep)
    weights, output = of_whole_maps(q, k, v, keep)
    for found, wanted in ((record.output, output), (record.stage("weights"), weights)):
        torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-5)
    assert (record.row_max[1, 2, 7], record.row_sum[1, 2, 7]) == (0, 1)
    for is_live in (False, True):
        record = trace(q.requires_grad_(is_live), k, v, keep=keep)
        for b, h in ((0, 1), (1, 2)):
            found = record.tile("weights", range(T), range(T), batch=b, head=h)
            torch.testing.assert_close(found.double(), weights[b, h], rtol=1e-4, atol=1e-5)
            hidden = record.tile("masked", range(T), range(T), batch=b, head=h) == -torch.inf
            assert torch.equal(hidden, ~keep[b, h])


@pytest.mark.parametrize("call", [attention, trace])
@pytest.mark.parametrize("length", [3, T])
def test_a_number_that_is_none_is_named_in_the_callers_rank(call, length):
    q, k, v = drawn(1, 3, length, 2)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        before = tensor[2, 1].clone()
        tensor[2, 1] = torch.nan
        with pytest.raises(ValueError, match=rf"^{name} must be finite, got nan at \(2, 1\)$"):
            call(q, k, v)
        tensor[2, 1] = before


def test_an_output_that_dropout_takes_beyond_its_dtype():
    """Each query gives all its weight to the first key; where that survives, it is multiplied."""
    q = torch.ones(T, 1, dtype=torch.float16)
    k, v = torch.zeros_like(q), torch.zeros_like(q)
    k[0], v[0] = 100, 1.5e4
    assert attention(q, k, v, keep=padding([T])).isfinite().all()
    with pytest.raises(ValueError, match=r"^v must give a finite output"):
        attention(q, k, v, dropout=Dropout(0.9, 7))


def test_weights_go_on_after_tiles_that_see_nothing():
    """2,000 queries and 40 keys: the keys are the last, so only the last 40 rows see any."""
    q, k = drawn(1, 2000, 8).float(), drawn(2, 40, 8).float()
    keep = torch.ones(2000, 40, dtype=torch.bool).tril(40 - 2000)
    wanted = of_whole_maps(q, k, k, keep)[0]
    found = trace(q, k, k, keep=causal()).stage("weights")
    torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-6)
    assert (found[:-40] == 0).all()


def test_one_head_costs_the_tiles_of_one_head(monkeypatch):
    q, k, v = qkv(heads=3)
    record = trace(q, k, v, keep=causal())
    made = []

    class Noted(tiles.Tile):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append((self.batches, self.head_range))

    monkeypatch.setattr(tiles, "Tile", Noted)
    few = record.tile("weights", range(2), range(5), batch=0, head=1)
    assert few.shape == (2, 5)
    assert set(made) == {(range(1), range(1, 2))}
    assert [found.shape for found in record.known[range(1), range(1, 2)]] == [(1, 1, T)] * 2


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
    assert next(tiles.tiles(Call(q, k, k, None, 1.0, dropout, ()))).shape == shape


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
    assert next(tiles.tiles(Call(q, k, k, None, 1.0, dropout, ()))).shape == shape


PATHS = {
    "small": ((256, 128), {}, "formulas"),
    "few keys": ((257, 257), {"keep": causal()}, "torch's own"),
    "no mask": ((130, 514), {}, "torch's own"),
    "a band": ((513, 513), {"keep": window(5)}, "torch's own"),
    "another triangle": ((130, 514), {"keep": causal()}, "torch's own"),
    "a scale of 0": ((513, 513), {"keep": causal(), "scale": 0.0}, "torch's own"),
    "a scale below 0": ((513, 513), {"scale": -1.0}, "torch's own"),
    "the least scale": ((513, 513), {"scale": 2.0**-126}, "torch's own"),
    "dropout": ((300, 300), {"dropout": Dropout(0.2, 3)}, "tiles"),
    "narrow values": ((300, 300), {"width": 3}, "tiles"),
}


@pytest.fixture
def passes(monkeypatch):
    """The names of the passes that have computed, in turn."""
    noted = []

    def note(engine, method, name):
        compute = getattr(engine, method)

        def noting(*given):
            noted.append(name)
            return compute(*given)

        monkeypatch.setattr(engine, method, noting)

    note(formulas.FORMULAS, "forward", "formulas")
    note(tiled.TILED, "one_pass", "tiles")
    note(torch_sdpa.TORCH_SDPA, "one_pass", "torch's own")
    return noted


@pytest.mark.parametrize(("size", "settings", "wanted"), PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("live", [None, 0, 1, 2])
def test_which_pass_computes(size, settings, wanted, live, passes):
    """Gradients or not: each pass has its way back."""
    settings = dict(settings)
    sizes = (size[0], 4), (size[1], 4), (size[1], settings.pop("width", 4))
    q, k, v = (drawn(seed, 1, 2, *size) for seed, size in enumerate(sizes, 1))
    if live is not None:
        (q, k, v)[live].requires_grad_()
    record, found = trace(q, k, v, **settings), attention(q, k, v, **settings)
    assert passes == [wanted, wanted]
    if "dropout" not in settings:
        cells = torch.ones(1, 1, *size, dtype=torch.bool)
        cells = cells if record.keep is None else record.keep.dense(*size)
        exact = of_whole_maps(q, k, v, cells, record.scale)[1]
        torch.testing.assert_close(record.output, exact)
        torch.testing.assert_close(found, exact)


class TestTorchsOwnOnAGpu:
    """Asked of it on torch's device without memory, which is no CPU either."""

    @pytest.fixture(params=["flash", "efficient"])
    def backend(self, request, monkeypatch):
        """The one that answers, and what it was asked."""
        asked = []

        def answers(is_it):
            return lambda asked_for: asked.append(asked_for) or is_it

        for name in ("flash", "efficient"):
            is_it = name == request.param
            monkeypatch.setattr(torch_sdpa, f"can_use_{name}_attention", answers(is_it))
        return asked

    @staticmethod
    def knows(keep=None, size=(1, 2, 600, 600), scale=1.0):
        B, H, L, S = size
        q, k = torch.zeros(B, H, L, 1, device="meta"), torch.zeros(B, H, S, 1, device="meta")
        return torch_sdpa.serves_gpu(Call(q, k, k, keep, scale, None, ()))

    @pytest.mark.parametrize("keep", [None, causal()], ids=str)
    def test_serves_where_it_has_tiles(self, keep, backend):
        assert self.knows(keep)
        last = backend[-1]
        assert (last.is_causal, last.dropout, last.attn_mask) == (keep is not None, 0.0, None)
        assert last.query.shape == (1, 2, 600, 1)
        assert not last.enable_gqa

    def test_serves_no_map_that_it_would_make_whole(self, monkeypatch):
        for name in ("flash", "efficient"):
            monkeypatch.setattr(torch_sdpa, f"can_use_{name}_attention", lambda asked: False)
        assert not self.knows()

    @pytest.mark.parametrize(("size", "fits"), [(65_535, True), (65_536, False)])
    def test_serves_as_many_heads_and_batches_as_one_launch_takes(self, size, fits, backend):
        assert self.knows(size=(size, 1, 3, 3)) == fits
        assert self.knows(size=(1, size, 3, 3)) == fits
        assert self.knows(size=(1, 1, size, size))

    @pytest.mark.parametrize("scale", [0.0, -1.0])
    @pytest.mark.parametrize("keep", [None, causal()], ids=str)
    def test_serves_no_scale_that_is_not_above_0(self, keep, scale, backend):
        assert not self.knows(keep, scale=scale)


def test_autocast_lowers_no_second_derivatives():
    def gradient(is_lowered):
        inputs = [tensor.requires_grad_() for tensor in qkv()]
        with torch.autocast("cpu", torch.bfloat16, enabled=is_lowered):
            output = trace(*inputs).output
            return torch.autograd.grad((output**2).sum(), inputs[0], create_graph=True)[0]

    torch.testing.assert_close(gradient(True), gradient(False), rtol=1e-6, atol=1e-7)


def test_a_function_of_a_long_call_has_its_gradient():
    q, k, v = qkv()

    def loss(q):
        return attention(q, k, v, keep=causal()).square().sum()

    live = q.clone().requires_grad_()
    wanted = torch.autograd.grad(loss(live), live)[0]
    torch.testing.assert_close(torch.func.grad(loss)(q), wanted)
