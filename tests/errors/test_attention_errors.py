"""Bad input: one clear sentence each, of the right type, from `checks` and not from deep inside.

Without the shape checker of the other tests, which would speak before attn_core does.
"""

import math
from dataclasses import replace
from pathlib import Path

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
    sweep,
    trace,
    window,
    workings,
)


def t(*shape, **options):
    return torch.full(shape, 0.5, **options)


Q = t(2, 3, 4, 5)
K = t(2, 3, 6, 5)
V = t(2, 3, 6, 7)


def refused(ask, kind, message):
    """`ask` raises exactly this kind and this sentence, and no other error on the way."""
    with pytest.raises(kind) as error:
        ask()
    assert type(error.value) is kind
    assert str(error.value) == message
    assert "\n" not in message
    assert error.value.__cause__ is None
    assert error.value.__context__ is None or error.value.__suppress_context__
    where = Path(str(error.traceback[-1].path))
    assert "attn_core" in where.parts, where


def with_value(tensor, index, value):
    tensor = tensor.clone()
    tensor[index] = value
    return tensor


def whole(*shape):
    return torch.ones(shape, dtype=torch.int64)


def keeping(*shape, **options):
    return torch.ones(shape, dtype=torch.bool, **options)


FLOATS = "must be float16, bfloat16, float32 or float64, got"
TENSORS = {
    "q list": (([[1.0]], K, V), TypeError, "q must be a torch tensor, got list"),
    "q None": ((None, K, V), TypeError, "q must be a torch tensor, got NoneType"),
    "k array": ((Q, np.ones((2, 2)), V), TypeError, "k must be a torch tensor, got ndarray"),
    "v float": ((Q, K, 1.0), TypeError, "v must be a torch tensor, got float"),
    "q int64": ((whole(3, 2), K, V), TypeError, f"q {FLOATS} torch.int64"),
    "k bool": ((Q, keeping(3, 2), V), TypeError, f"k {FLOATS} torch.bool"),
    "v complex": ((Q, K, t(3, 2) * 1j), TypeError, f"v {FLOATS} torch.complex64"),
    "q float8": ((Q.to(torch.float8_e4m3fn), K, V), TypeError, f"q {FLOATS} torch.float8_e4m3fn"),
    "q one axis": (
        (t(3), K, V), ValueError, "q must have at least 2 axes [T, D], got (3,)",
    ),
    "v no axis": (
        (Q, K, t()), ValueError, "v must have at least 2 axes [T, D], got ()",
    ),
    "q empty": ((t(0, 2), K, V), ValueError, "q must have no empty axis, got (0, 2)"),
    "k empty": ((t(3, 2), t(3, 0), V), ValueError, "k must have no empty axis, got (3, 0)"),
    "batch empty": ((t(0, 3, 2),) * 3, ValueError, "q must have no empty axis, got (0, 3, 2)"),
    "q meta": ((t(3, 2, device="meta"), K, V), ValueError, "q must be on cpu or cuda, got meta"),
    "k meta": ((Q, t(3, 2, device="meta"), V), ValueError, "k must be on cpu or cuda, got meta"),
    "q sparse": (
        (t(3, 2).to_sparse(), K, V), TypeError,
        "q must be a dense tensor, got one of layout torch.sparse_coo",
    ),
    "k dtype": (
        (Q, K.double(), V), TypeError, "k must have q's dtype torch.float32, got torch.float64",
    ),
    "v dtype": (
        (Q, K, V.half()), TypeError, "v must have q's dtype torch.float32, got torch.float16",
    ),
    "k rank": (
        (Q, K[0], V), ValueError,
        "k must have as many axes as q (2, 3, 4, 5), got (3, 6, 5)",
    ),
    "v rank": (
        (Q, K, V[0, 0]), ValueError, "v must have as many axes as q (2, 3, 4, 5), got (6, 7)",
    ),
    "k heads": (
        (t(2, 4, 4, 5), K, V), ValueError,
        "k must have q's leading axes (2, 4), got (2, 3, 6, 5)",
    ),
    "k of grouped heads": (
        (t(2, 8, 4, 5), K[:, :2], V[:, :2]), ValueError,
        "k must have q's leading axes (2, 8), got (2, 2, 6, 5): "
        "repeat each head, k.repeat_interleave(4, dim=-3)",
    ),
    "k of grouped heads in five axes": (
        (t(2, 9, 8, 4, 5), *[t(2, 9, 4, 6, 5)] * 2), ValueError,
        "k must have q's leading axes (2, 9, 8), got (2, 9, 4, 6, 5): "
        "repeat each head, k.repeat_interleave(2, dim=-3)",
    ),
    "k of other batches in five axes": (
        (t(2, 3, 8, 4, 5), *[t(2, 1, 4, 6, 5)] * 2), ValueError,
        "k must have q's leading axes (2, 3, 8), got (2, 1, 4, 6, 5)",
    ),
    "k of other samples in five axes": (
        (t(2, 3, 8, 4, 5), *[t(1, 3, 4, 6, 5)] * 2), ValueError,
        "k must have q's leading axes (2, 3, 8), got (1, 3, 4, 6, 5)",
    ),
    "k of heads that share unequally": (
        (t(2, 8, 4, 5), *[t(2, 3, 6, 5)] * 2), ValueError,
        "k must have q's leading axes (2, 8), got (2, 3, 6, 5)",
    ),
    "k of fewer batches": (
        (t(8, 4, 5), *[t(2, 6, 5)] * 2), ValueError,
        "k must have q's leading axes (8,), got (2, 6, 5)",
    ),
    "v of one head": (
        (Q, K, V[:, :1]), ValueError,
        "v must have q's leading axes (2, 3), got (2, 1, 6, 7): "
        "repeat each head, v.repeat_interleave(3, dim=-3)",
    ),
    "more heads than queries": (
        (Q[:, :1], K, V), ValueError, "k must have q's leading axes (2, 1), got (2, 3, 6, 5)",
    ),
    "v batch": (
        (Q, K, V[:1]), ValueError, "v must have q's leading axes (2, 3), got (1, 3, 6, 7)",
    ),
    "k width": ((t(4, 5), t(6, 4), t(6, 7)), ValueError, "k must have q's width 5, got (6, 4)"),
    "k width of heads": (
        (Q, t(2, 3, 6, 4), V), ValueError, "k must have q's width 5, got (2, 3, 6, 4)",
    ),
    "v rows": (
        (t(4, 5), t(6, 5), t(4, 7)), ValueError,
        "v must have one row for each of the 6 keys, got (4, 7)",
    ),
    **{
        f"{name} {value}": (
            tuple(
                with_value(tensor, (1, 2, 3, 4), value) if name == other else tensor
                for other, tensor in zip("qkv", (Q, K, V), strict=True)
            ),
            ValueError,
            f"{name} must be finite, got {value} at (1, 2, 3, 4)",
        )
        for name in "qkv"
        for value in (math.nan, math.inf, -math.inf)
    },
    "scores too large": (
        (t(2, 1) * 1e20, t(2, 1) * 1e20, t(2, 1)), ValueError,
        "q, k and scale must give scores below 3.4e+38, the largest torch.float32, "
        "got numbers up to 5e+19 and 5e+19 and scale 1",
    ),
    "scores too small": (
        (t(2, 1) * 1e20, t(2, 1) * -1e20, t(2, 1)), ValueError,
        "q, k and scale must give scores below 3.4e+38, the largest torch.float32, "
        "got numbers up to 5e+19 and 5e+19 and scale 1",
    ),
    "scores too large for float64": (
        (t(2, 1).double() * 1e200,) * 3, ValueError,
        "q, k and scale must give scores below 1.8e+308, the largest torch.float64, "
        "got numbers up to 5e+199 and 5e+199 and scale 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tensors", "kind", "message"), TENSORS.values(), ids=TENSORS)
@pytest.mark.parametrize("call", [attention, trace])
def test_tensors(call, tensors, kind, message):
    refused(lambda: call(*tensors), kind, message)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors():
    q = torch.nested.nested_tensor([t(2, 3), t(4, 3)])
    message = "q must be a dense tensor, got one of layout nested"
    refused(lambda: attention(q, q, q), TypeError, message)


@pytest.mark.parametrize("keep", [padding([1, 1]), keeping(4, 6).tril()], ids=["rule", "tensor"])
@pytest.mark.parametrize("name", "qk")
def test_a_mask_hides_no_nan(keep, name):
    """Behind the mask it would come out again in the scores and in the gradients."""
    q = with_value(Q, (1, 2, 3, 4), math.nan) if name == "q" else Q
    k = with_value(K, (1, 2, 5, 4), math.nan) if name == "k" else K
    where = (1, 2, 3, 4) if name == "q" else (1, 2, 5, 4)
    message = f"{name} must be finite, got nan at {where}"
    refused(lambda: attention(q, k, V, keep=keep), ValueError, message)


@pytest.mark.parametrize("tokens", [8, 300])
def test_an_output_beyond_its_dtype(tokens):
    q = torch.zeros(tokens, 1, dtype=torch.float16)
    v = torch.full((tokens, 1), 6e4, dtype=torch.float16)
    message = "v must give a finite output, got an overflow in torch.float16"
    attention(q, q, v)
    refused(lambda: attention(q, q, v, dropout=Dropout(0.5, 1)), ValueError, message)


@pytest.mark.parametrize("tokens", [1, 300])
@pytest.mark.parametrize("call", [attention, trace])
def test_an_output_that_dropout_alone_takes_beyond_its_dtype(call, tokens):
    """The first key takes all, and it alone has a value."""
    q = torch.full((tokens, 1), 8.0, dtype=torch.float16)
    k, v = torch.zeros_like(q), torch.zeros_like(q)
    k[0], v[0] = 8.0, 1.5e4
    message = "v must give a finite output, got an overflow in torch.float16"
    call(q, k, v)  # without dropout it is finite; under the seed 7 some first weight survives
    refused(lambda: call(q, k, v, dropout=Dropout(0.9, 7)), ValueError, message)


BOOL = "keep must be a bool tensor (True = keep), got"
MASK = "keep must be a bool tensor (True = keep), a mask such as causal(), or None, got"
KEEPS = {
    "float tensor": (t(4, 6), TypeError, f"{BOOL} torch.float32"),
    "int tensor": (whole(4, 6), TypeError, f"{BOOL} torch.int64"),
    "not called": (causal, TypeError, f"{MASK} function"),
    "list": ([[True]], TypeError, f"{MASK} list"),
    "True": (True, TypeError, f"{MASK} bool"),
    "text": ("causal", TypeError, f"{MASK} str"),
    "shape": (
        keeping(6, 5), ValueError, "keep must broadcast to (2, 3, 4, 6), got (6, 5)",
    ),
    "transposed": (
        keeping(6, 4), ValueError, "keep must broadcast to (2, 3, 4, 6), got (6, 4)",
    ),
    "heads": (
        keeping(2, 2, 4, 6), ValueError, "keep must broadcast to (2, 3, 4, 6), got (2, 2, 4, 6)",
    ),
    "a table a sentence": (
        keeping(2, 4, 6), ValueError, "keep must broadcast to (2, 3, 4, 6), got (2, 4, 6): "
        "pass keep[:, None] for one mask a sentence",
    ),
    "a row a sentence": (
        keeping(2, 6), ValueError, "keep must broadcast to (2, 3, 4, 6), got (2, 6): "
        "pass keep[:, None, None] for one mask a sentence",
    ),
    "a column a sentence": (
        keeping(2, 4, 5), ValueError, "keep must broadcast to (2, 3, 4, 6), got (2, 4, 5)",
    ),
    "more axes": (
        keeping(1, 2, 3, 4, 6), ValueError,
        "keep must broadcast to (2, 3, 4, 6), got (1, 2, 3, 4, 6)",
    ),
    "empty": (keeping(4, 0), ValueError, "keep must broadcast to (2, 3, 4, 6), got (4, 0)"),
    "device": (
        keeping(4, 6, device="meta"), ValueError, "keep must be on q's device cpu, got meta",
    ),
    "joined shape": (
        causal() & keeping(5, 6), ValueError,
        "keep must broadcast to (2, 3, 4, 6), got (5, 6)",
    ),
    "sparse": (
        keeping(4, 6).to_sparse(), TypeError,
        "keep must be a dense tensor, got one of layout torch.sparse_coo",
    ),
    "joined axes": (
        causal() & keeping(1, 2, 3, 4, 6), ValueError,
        "keep must broadcast to (2, 3, 4, 6), got (1, 2, 3, 4, 6)",
    ),
    "joined device": (
        causal() & keeping(4, 6, device="meta"), ValueError,
        "keep must be on q's device cpu, got meta",
    ),
    "lengths too few": (
        padding([3]), ValueError,
        "lengths must name one length for each of the 2 sequences, got 1",
    ),
    "lengths too many": (
        padding([3, 4, 5]), ValueError,
        "lengths must name one length for each of the 2 sequences, got 3",
    ),
    "lengths too long": (
        padding([3, 7]), ValueError, "lengths must be at most the 6 keys, got 7",
    ),
    "joined lengths": (
        causal() & padding([3, 7]), ValueError, "lengths must be at most the 6 keys, got 7",
    ),
    "prefill": (
        prefill(3), ValueError, "prefill(3) over 4 queries must have 7 keys, got 6",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("keep", "kind", "message"), KEEPS.values(), ids=KEEPS)
def test_keep(keep, kind, message):
    refused(lambda: attention(Q, K, V, keep=keep), kind, message)


def test_keep_of_a_batch_without_heads():
    message = "keep must broadcast to (2, 4, 6), got (2, 3, 4, 6)"
    refused(lambda: trace(Q[:, 0], K[:, 0], V[:, 0], keep=keeping(2, 3, 4, 6)), ValueError, message)


def test_keep_of_more_leading_axes():
    q = t(2, 1, 3, 4, 5)
    for keep in (keeping(3, 1, 3, 4, 4), causal() & keeping(3, 1, 3, 4, 4)):
        message = "keep must broadcast to (2, 1, 3, 4, 4), got (3, 1, 3, 4, 4)"
        refused(lambda keep=keep: attention(q, q, q, keep=keep), ValueError, message)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_keep():
    keep = torch.nested.nested_tensor([keeping(4, 6)])
    message = "keep must be a dense tensor, got one of layout nested"
    for ask in (lambda: attention(Q, K, V, keep=keep), lambda: causal() & keep):
        refused(ask, TypeError, message)


def test_joining_a_mask_with_a_sparse_tensor():
    message = "keep must be a dense tensor, got one of layout torch.sparse_coo"
    refused(lambda: causal() & keeping(4, 6).to_sparse(), TypeError, message)


@pytest.mark.parametrize("T", [3, 300])
def test_samples_of_vmap_where_one_answer_is_wanted(T):
    x, cells = t(2, 1, T, 2), keeping(2, T, T)
    message = (
        "{} must be the same for all samples of torch.vmap, got one for each: "
        "call it once, on the whole batch"
    )
    asks = {
        "keep": lambda x, cells: attention(x, x, x, keep=cells),
        "q": lambda x, cells: trace(x, x, x).output,
        "k": lambda x, cells: trace(t(1, T, 2), x, x).output,
        "v": lambda x, cells: sweep(t(1, T, 2), t(1, T, 2), x).output,
    }
    for name, ask in asks.items():
        refused(lambda ask=ask: torch.vmap(ask)(x, cells), ValueError, message.format(name))
    joined = torch.func.grad(lambda x, cells: attention(x, x, x, keep=causal() & cells).sum())
    refused(lambda: torch.vmap(joined)(x, cells), ValueError, message.format("keep"))


@pytest.mark.parametrize("T", [2, 200, 300, 700])
@pytest.mark.parametrize("call", [attention, trace])
def test_scores_are_judged_by_themselves_in_short_calls_and_long_ones(call, T):
    """Their sizes alone would forbid 1e20; on orthogonal axes each score is 0."""
    q, k = torch.eye(2)[[0] * T] * 1e20, torch.eye(2)[[1] * T] * 1e20
    answer = call(q, k, k)
    torch.testing.assert_close(
        answer if call is attention else answer.output, k, rtol=1e-4, atol=0.0
    )
    k[T - 1, 0] = 1e20
    message = (
        "q, k and scale must give scores below 3.4e+38, the largest torch.float32, "
        "got numbers up to 1e+20 and 1e+20 and scale 0.7071"
    )
    refused(lambda: call(q, k, k), ValueError, message)


def test_joining_a_mask_with_a_float_tensor():
    refused(lambda: causal() & t(4, 6), TypeError, f"{BOOL} torch.float32")


WHOLE = "must be a whole number, got"
MAKERS = {
    "window text": (lambda: window("2"), TypeError, f"before {WHOLE} '2'"),
    "window float": (lambda: window(2.0), TypeError, f"before {WHOLE} 2.0"),
    "window bool": (lambda: window(True), TypeError, f"before {WHOLE} True"),
    "window None": (lambda: window(2, None), TypeError, f"after {WHOLE} None"),
    "window negative": (lambda: window(-1), ValueError, "before must be at least 0, got -1"),
    "window after": (lambda: window(1, -2), ValueError, "after must be at least 0, got -2"),
    "window huge": (
        lambda: window(2**53), ValueError, f"before must be below 2**53, got {2**53}",
    ),
    "prefill negative": (lambda: prefill(-1), ValueError, "cached must be at least 0, got -1"),
    "prefill tensor": (lambda: prefill(torch.tensor(2)), TypeError, f"cached {WHOLE} a Tensor"),
    "lengths number": (
        lambda: padding(3), TypeError, "lengths must be a list of whole numbers, got int",
    ),
    "lengths text": (
        lambda: padding("34"), TypeError, "lengths must be a list of whole numbers, got str",
    ),
    "lengths set": (
        lambda: padding({3, 4}), TypeError, "lengths must be a list of whole numbers, got set",
    ),
    "lengths empty": (
        lambda: padding([]), ValueError,
        "lengths must name at least one sequence, got an empty list",
    ),
    "lengths empty tensor": (
        lambda: padding(whole(0)), ValueError,
        "lengths must name at least one sequence, got an empty list",
    ),
    "lengths negative": (
        lambda: padding([3, -1]), ValueError, "lengths[1] must be at least 0, got -1",
    ),
    "lengths float": (lambda: padding([3, 2.0]), TypeError, f"lengths[1] {WHOLE} 2.0"),
    "lengths bool": (lambda: padding([True]), TypeError, f"lengths[0] {WHOLE} True"),
    "lengths nested": (lambda: padding([[3]]), TypeError, f"lengths[0] {WHOLE} a list"),
    **{
        f"lengths {name} tensor": (
            lambda lengths=lengths: padding(lengths), ValueError,
            "lengths must be one whole number for each sequence, "
            f"got a {lengths.dtype} tensor of shape {tuple(lengths.shape)}",
        )
        for name, lengths in {
            "float": t(2), "bool": keeping(2), "complex": t(2) * 1j, "2-D": whole(2, 1),
            "0-D": whole(),
        }.items()
    },
    "joined lengths": (
        lambda: padding([1, 2]) & padding([3]), ValueError,
        "the number of lengths must be the same in masks that are joined, got 2 and 1",
    ),
    "joined caches": (
        lambda: prefill(1) & prefill(2), ValueError,
        "cached must be the same in masks that are joined, got 1 and 2",
    ),
    "joined shapes": (
        lambda: causal() & keeping(2, 3) & keeping(2, 4), ValueError,
        "keep must broadcast to the shape of the mask that it joins, (2, 3), got (2, 4)",
    ),
    "joined devices": (
        lambda: causal() & keeping(2, 3) & keeping(2, 3, device="meta"), ValueError,
        "keep must be on the device cpu here, got meta",
    ),
    "p text": (lambda: Dropout("0.5", 1), TypeError, "p must be a number, got str"),
    "p bool": (lambda: Dropout(False, 1), TypeError, "p must be a number, got bool"),
    "p None": (lambda: Dropout(None, 1), TypeError, "p must be a number, got NoneType"),
    "p tensor": (lambda: Dropout(t(), 1), TypeError, "p must be a number, got Tensor"),
    "p complex": (lambda: Dropout(0.5j, 1), TypeError, "p must be a number, got complex"),
    "p 1": (lambda: Dropout(1.0, 1), ValueError, "p must be at least 0 and below 1, got 1.0"),
    "p negative": (
        lambda: Dropout(-0.1, 1), ValueError, "p must be at least 0 and below 1, got -0.1",
    ),
    "p nan": (
        lambda: Dropout(math.nan, 1), ValueError, "p must be at least 0 and below 1, got nan",
    ),
    "p inf": (
        lambda: Dropout(math.inf, 1), ValueError, "p must be at least 0 and below 1, got inf",
    ),
    "seed float": (lambda: Dropout(0.5, 1.0), TypeError, f"seed {WHOLE} 1.0"),
    "seed bool": (lambda: Dropout(0.5, True), TypeError, f"seed {WHOLE} True"),
    "seed None": (lambda: Dropout(0.5, None), TypeError, f"seed {WHOLE} None"),
    "seed tensor": (lambda: Dropout(0.5, whole()), TypeError, f"seed {WHOLE} a Tensor"),
    "seed negative": (lambda: Dropout(0.5, -1), ValueError, "seed must be at least 0, got -1"),
    "seed large": (
        lambda: Dropout(0.5, 2**53), ValueError, f"seed must be below 2**53, got {2**53}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "message"), MAKERS.values(), ids=MAKERS)
def test_makers(make, kind, message):
    refused(make, kind, message)


SETTINGS = {
    "scale text": ({"scale": "1"}, TypeError, "scale must be a number or None, got str"),
    "scale bool": ({"scale": True}, TypeError, "scale must be a number or None, got bool"),
    "scale tensor": ({"scale": t()}, TypeError, "scale must be a number or None, got Tensor"),
    "scale complex": ({"scale": 1j}, TypeError, "scale must be a number or None, got complex"),
    "scale nan": ({"scale": math.nan}, ValueError, "scale must be finite, got nan"),
    "scale inf": ({"scale": math.inf}, ValueError, "scale must be finite, got inf"),
    "scale -inf": ({"scale": -math.inf}, ValueError, "scale must be finite, got -inf"),
    "scale beyond": ({"scale": 10**400}, ValueError, "scale must be finite, got inf"),
    "scale overflow": (
        {"scale": -1e39}, ValueError, "scale must be finite in torch.float32, got -1e+39",
    ),
    "scores overflow": (
        {"scale": -3e38}, ValueError,
        "q, k and scale must give scores below 3.4e+38, the largest torch.float32, "
        "got numbers up to 0.5 and 0.5 and scale -3e+38",
    ),
    "dropout float": (
        {"dropout": 0.1}, TypeError, "dropout must be a Dropout or None, got float",
    ),
    "dropout module": (
        {"dropout": torch.nn.Dropout(0.1)}, TypeError,
        "dropout must be a Dropout or None, got Dropout",
    ),
    "dropout class": (
        {"dropout": Dropout}, TypeError, "dropout must be a Dropout or None, got type",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "kind", "message"), SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("call", [attention, trace])
def test_settings(call, settings, kind, message):
    refused(lambda: call(Q, K, V, **settings), kind, message)


def test_numbers_of_numpy_and_whole_numbers_for_floats_are_welcome():
    wanted = trace(Q, K, V, scale=0.5, dropout=Dropout(0.0, 3), keep=window(2))
    record = trace(
        Q, K, V, scale=np.float32(0.5), dropout=Dropout(0, np.int64(3)), keep=window(np.int32(2))
    )
    assert type(record.scale) is type(record.dropout.p) is float
    assert type(record.dropout.seed) is type(record.keep.before) is int
    assert record.dropout == wanted.dropout
    assert record.keep == wanted.keep == window(2)
    assert torch.equal(record.stage("dropped"), wanted.stage("dropped"))
    assert torch.equal(record.tile("scores", range(1), slice(np.int64(0), 2), batch=np.int64(1)),
                       wanted.tile("scores", range(1), slice(0, 2), batch=1))  # fmt: skip
    assert trace(Q, K, V, scale=1).scale == 1.0
    lengths = list(np.array([1, 2]))
    assert padding(lengths) == padding([1, 2])


RECORD = trace(Q, K, V)
STAGE = "stage must be one of scores, scaled, masked, weights, dropped, output, got"
PARTS = {
    "stage": (lambda r: r.stage("attention"), ValueError, f"{STAGE} 'attention'"),
    "stage None": (lambda r: r.stage(None), ValueError, f"{STAGE} None"),
    "stage tensor": (lambda r: r.stage(t(2)), ValueError, f"{STAGE} a Tensor"),
    "tile stage": (
        lambda r: r.tile("Weights", slice(1), slice(1)), ValueError, f"{STAGE} 'Weights'",
    ),
    "pooled stage": (lambda r: r.pooled("q", (1, 1)), ValueError, f"{STAGE} 'q'"),
    "workings stage": (lambda r: workings(r, "lse", 0, 0), ValueError, f"{STAGE} 'lse'"),
    "rows number": (
        lambda r: r.tile("scores", 1, slice(1)), TypeError,
        "rows must be a slice or a range, got int",
    ),
    "cols list": (
        lambda r: r.tile("scores", slice(1), [1, 2]), TypeError,
        "cols must be a slice or a range, got list",
    ),
    "rows empty": (
        lambda r: r.tile("scores", slice(4, 9), slice(1)), ValueError,
        "rows must name at least one of 4, got slice(4, 9, None)",
    ),
    "rows of floats": (
        lambda r: r.tile("scores", slice(0.0, 2.0), slice(1)), TypeError,
        "rows must be a slice of whole numbers, got slice(0.0, 2.0, None)",
    ),
    "rows backwards": (
        lambda r: r.tile("scores", slice(None, None, -1), slice(1)), ValueError,
        "rows must have a step of at least 1, got slice(None, None, -1)",
    ),
    "cols backwards": (
        lambda r: r.tile("scores", slice(1), range(3, 0, -1)), ValueError,
        "cols must have a step of at least 1, got range(3, 0, -1)",
    ),
    "step 0": (
        lambda r: r.tile("scores", slice(0, 3, 0), slice(1)), ValueError,
        "rows must have a step of at least 1, got slice(0, 3, 0)",
    ),
    "rows beyond": (
        lambda r: r.tile("scores", range(2, 5), slice(1)), ValueError,
        "rows must lie between 0 and 3, got range(2, 5)",
    ),
    "rows before": (
        lambda r: r.tile("scores", range(-1, 2), slice(1)), ValueError,
        "rows must lie between 0 and 3, got range(-1, 2)",
    ),
    "cols beyond": (
        lambda r: r.tile("scores", slice(1), range(7)), ValueError,
        "cols must lie between 0 and 5, got range(0, 7)",
    ),
    "value cols beyond": (
        lambda r: r.tile("output", slice(1), range(8)), ValueError,
        "cols must lie between 0 and 6, got range(0, 8)",
    ),
    "batch": (
        lambda r: r.tile("scores", slice(1), slice(1), batch=2), ValueError,
        "batch must be at least 0 and below 2, got 2",
    ),
    "head": (
        lambda r: r.tile("scores", slice(1), slice(1), head=-1), ValueError,
        "head must be at least 0 and below 3, got -1",
    ),
    "head text": (
        lambda r: r.pooled("scores", (1, 1), head="0"), TypeError, f"head {WHOLE} '0'",
    ),
    "head bool": (
        lambda r: r.pooled("scores", (1, 1), head=True), TypeError, f"head {WHOLE} True",
    ),
    "pooled batch": (
        lambda r: r.pooled("scores", (1, 1), batch=9), ValueError,
        "batch must be at least 0 and below 2, got 9",
    ),
    "how": (
        lambda r: r.pooled("scores", (1, 1), "sum"), ValueError,
        "how must be 'mean' or 'max', got 'sum'",
    ),
    "shape number": (
        lambda r: r.pooled("scores", 2), TypeError, "shape must be two whole numbers, got 2",
    ),
    "shape long": (
        lambda r: r.pooled("scores", (2, 2, 2)), ValueError,
        "shape must be two whole numbers, got 3 of them",
    ),
    "shape floats": (
        lambda r: r.pooled("scores", (2.0, 2)), TypeError, f"rows of shape {WHOLE} 2.0",
    ),
    "shape zero": (
        lambda r: r.pooled("scores", (2, 0)), ValueError,
        "columns of shape must be at least 1, got 0",
    ),
    "shape rows": (
        lambda r: r.pooled("scores", (5, 2)), ValueError,
        "rows of shape must be at most 4, got 5",
    ),
    "shape columns": (
        lambda r: r.pooled("scores", (2, 7)), ValueError,
        "columns of shape must be at most 6, got 7",
    ),
    "workings row": (
        lambda r: workings(r, "scores", 4, 0), ValueError,
        "row must be at least 0 and below 4, got 4",
    ),
    "workings row negative": (
        lambda r: workings(r, "scores", -1, 0), ValueError,
        "row must be at least 0 and below 4, got -1",
    ),
    "workings col": (
        lambda r: workings(r, "scores", 0, 6), ValueError,
        "col must be at least 0 and below 6, got 6",
    ),
    "workings value col": (
        lambda r: workings(r, "output", 0, 7), ValueError,
        "col must be at least 0 and below 7, got 7",
    ),
    "workings col float": (
        lambda r: workings(r, "scores", 0, 1.0), TypeError, f"col {WHOLE} 1.0",
    ),
    "workings batch": (
        lambda r: workings(r, "scores", 0, 0, batch=2), ValueError,
        "batch must be at least 0 and below 2, got 2",
    ),
    "workings head": (
        lambda r: workings(r, "scores", 0, 0, head=3), ValueError,
        "head must be at least 0 and below 3, got 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "kind", "message"), PARTS.values(), ids=PARTS)
def test_parts_of_a_record(ask, kind, message):
    refused(lambda: ask(RECORD), kind, message)


def test_the_last_value_column_can_be_had():
    assert workings(RECORD, "output", 3, 6, batch=1, head=2).value == pytest.approx(0.5)
    assert RECORD.tile("output", slice(3, 4), slice(6, 7)).item() == 0.5


@pytest.mark.parametrize("which", range(3))
def test_a_record_whose_tensors_were_changed_in_place(which):
    tensors = [t(3, 2), t(3, 2), t(3, 2)]
    record = trace(*tensors)
    tensors[which].mul_(2)
    message = (
        f"{'qkv'[which]} must stay as it was when it was traced, got a tensor changed in place: "
        "trace again, and write into a clone"
    )
    for ask in (
        lambda: record.stage("scores"),
        lambda: record.stage("output"),
        lambda: record.tile("weights", slice(1), slice(1)),
        lambda: record.pooled("weights", (1, 1)),
        lambda: workings(record, "scores", 0, 0),
    ):
        refused(ask, RuntimeError, message)


X = t(4, 5)
W = t(5, 3)


def source(x=X, w_query=W, w_key=W, w_value=W, biases=None):
    made = t(4, 3) * 0 + 1.25
    return lambda: trace(made, made, made, source=Projection(x, w_query, w_key, w_value, biases))


SOURCES = {
    "not one": (
        lambda: trace(X, X, X, source=(X, W, W, W)), TypeError,
        "source must be a Projection or None, got tuple",
    ),
    "x list": (source(x=[[1.0]]), TypeError, "x of source must be a torch tensor, got a list"),
    "x one axis": (
        source(x=t(5)), ValueError, "x of source must have at least 2 axes [T, E], got (5,)",
    ),
    "x dtype": (
        source(x=X.double()), TypeError,
        "x of source must have q's dtype torch.float32, got torch.float64",
    ),
    "w_key dtype": (
        source(w_key=W.half()), TypeError,
        "w_key of source must have q's dtype torch.float32, got torch.float16",
    ),
    "w_value device": (
        source(w_value=W.to("meta")), ValueError,
        "w_value of source must be on q's device cpu, got meta",
    ),
    "w_key None": (source(w_key=None), TypeError,
        "w_key of source must be a torch tensor, got None"),
    "w_query transposed": (
        source(w_query=W.T), ValueError,
        "w_query of source must have the shape (5, columns), got (3, 5)",
    ),
    "w_key axes": (
        source(w_key=W[None]), ValueError,
        "w_key of source must have the shape (5, columns), got (1, 5, 3)",
    ),
    "biases two": (
        source(biases=(t(3), t(3))), TypeError,
        "biases of source must be three tensors or None, got a tuple",
    ),
    "biases None": (
        source(biases=(t(3), None, t(3))), TypeError,
        "biases[1] of source must be a torch tensor, got None",
    ),
    "biases shape": (
        source(biases=(t(3), t(3), t(1))), ValueError,
        "biases[2] of source must have the shape (3,), got (1,)",
    ),
    "columns": (
        source(w_value=t(5, 4)), ValueError,
        "source must give v of shape (1, 4, 3), got (1, 4, 4)",
    ),
    "rows": (
        source(x=t(6, 5)), ValueError, "source must give q of shape (1, 4, 3), got (1, 6, 3)",
    ),
    "other numbers": (
        source(w_key=W * 2), ValueError, "source must give k, got numbers that are off by 1.2",
    ),
    "nan": (
        source(w_value=W * math.nan), ValueError,
        "source must give v, got numbers that are off by nan",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "message"), SOURCES.values(), ids=SOURCES)
def test_source(make, kind, message):
    refused(make, kind, message)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"x": 3}, TypeError, "x of source must be a torch tensor, got 3"),
        ({"biases": 3}, TypeError, "biases of source must be three tensors or None, got 3"),
        ({"x": X + 1}, ValueError, "source must give q, got numbers that are off by 2.5"),
    ],
    ids=["x", "biases", "numbers"],
)
def test_autocast_hides_no_source_that_does_not_fit(changes, kind, message):
    right = Projection(X, W, W, W)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        qkv = right.project()
        refused(lambda: trace(*qkv, source=replace(right, **changes)), kind, message)


def test_the_source_of_these_tests_is_right_otherwise():
    assert source()().source is not None
    zeros = t(3) * 0
    assert source(biases=(zeros, zeros, zeros))().source is not None
