"""Random attentions for the page: shapes, masks, bias, sinks, dead rows, dropout, dtypes."""

import base64
import operator
import random
from functools import reduce

import numpy as np
import torch

from attn_core import (
    Dropout,
    Projection,
    alibi,
    causal,
    padding,
    prefill,
    relative,
    toy,
    trace,
    window,
)
from attn_core.rotary import Rotary

KINDS = {"uint8": "u1", "float16": "<f2", "float32": "<f4", "float64": "<f8"}
DTYPES = (torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16)


def decoded(part):
    """The tensor that is stored in a part of a payload."""
    numbers = np.frombuffer(base64.b64decode(part["data"]), KINDS[part["dtype"]])
    return torch.from_numpy(numbers.reshape(part["shape"]).copy())


def words(changed=None, **how):
    """The record of six words that read each other, with other numbers at some places of x."""
    x = toy.journey().x.clone()
    for place, number in (changed or {}).items():
        x[place] = number
    return trace(x, x, x, **how)


def random_keep(draw, B, H, L, S):
    kinds = ["none", "causal", "window", "padding", "dense", "row", "both"]
    kind = draw.choice([*kinds, "prefill"] if S >= L else kinds)
    made = torch.Generator().manual_seed(draw.randrange(2**31))
    match kind:
        case "none":
            return None
        case "causal":
            return causal()
        case "window":
            return window(draw.randrange(4), draw.randrange(3))
        case "padding":
            sides = draw.choice([["lengths"], ["starts"], ["lengths", "starts"]])
            return padding(**{side: [draw.randrange(S + 1) for _ in range(B)] for side in sides})
        case "dense":
            shape = [draw.choice([1, size]) for size in (B, H, L, S)]
            return torch.rand(shape, generator=made) < 0.6
        case "row":
            return torch.rand(L, S, generator=made) < 0.3
        case "prefill":
            return prefill(S - L)
        case "both":
            return causal() & (torch.rand(B, 1, L, S, generator=made) < 0.7)


def settings_of(record):
    """What a trace was asked for beside q, k and v."""
    names = ("keep", "scale", "dropout", "bias", "softcap", "sinks")
    return {name: getattr(record, name) for name in names}


def random_bias(draw, B, H, L, S):
    made = torch.Generator().manual_seed(draw.randrange(2**31))
    parts = [
        alibi(torch.rand(H, generator=made)),
        relative(torch.randn(H, 2 * draw.randrange(4) + 1, generator=made)),
        torch.randn([draw.choice([1, size]) for size in (B, H, L, S)], generator=made),
    ]
    return reduce(operator.add, draw.sample(parts, draw.choice([1, 1, 3])))


def random_record(seed):
    draw = random.Random(seed)
    made = torch.Generator().manual_seed(seed)
    B, H, D, Dv = draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 9), draw.randint(1, 6)
    key_heads = draw.choice([n for n in range(1, H + 1) if H % n == 0])
    L, S = draw.randint(1, 12), draw.randint(1, 20)
    dtype = draw.choice(DTYPES)
    spread = draw.choice([0.01, 1.0, 1.0, 30.0])

    def numbers(*shape):
        return (torch.randn(shape, generator=made, dtype=torch.float64) * spread).to(dtype)

    if draw.random() < 0.3:
        q, k, v = (
            torch.randint(-4, 9, shape, generator=made).to(dtype)
            for shape in ((B, H, L, D), (B, key_heads, S, D), (B, key_heads, S, Dv))
        )
    else:
        q, k, v = numbers(B, H, L, D), numbers(B, key_heads, S, D), numbers(B, key_heads, S, Dv)
    scale = draw.choice([None, None, 1.0, 0.0, -0.7, 3.25])
    dropout = None
    if draw.random() < 0.5:
        dropout = Dropout(draw.choice([0.0, 0.1, 0.5, 0.9]), draw.randrange(2**53))
    keep = random_keep(draw, B, H, L, S)
    bias = random_bias(draw, B, H, L, S) if draw.random() < 0.4 else None
    softcap = draw.choice([None, None, 0.5, 30.0])
    sinks = torch.randn(H, generator=made) if draw.random() < 0.3 else None
    more = {"bias": bias, "softcap": softcap, "sinks": sinks}
    return trace(q, k, v, keep=keep, scale=scale, dropout=dropout, **more)


ROTATED = [None, Rotary(2, 10.0), Rotary(2, 10.0, "interleaved")]


def projected_record(seed, *, biased=True, dtype=torch.float32, rotary=None):
    """Two sequences of five tokens in two heads, with the matrices that they came from.

    rotary: rotates queries and keys; heads are then 2 wide instead of 3.
    """
    width = 3 if rotary is None else rotary.head_dim
    made = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 5, 4, generator=made).to(dtype)
    columns = 2 * width
    matrices = [torch.randn(4, columns, generator=made).to(dtype) for _ in range(3)]
    biases = None
    if biased:
        biases = tuple(torch.randn(columns, generator=made).to(dtype) for _ in range(3))
    source = Projection(x, *matrices, biases, rotary)
    return trace(*heads_of(source, width), keep=causal(), source=source)


def heads_of(source, width):
    """q, k and v of a source, two heads each."""
    rows = source.project()
    return [part.view(2, 5, 2, width).transpose(1, 2).contiguous() for part in rows]
