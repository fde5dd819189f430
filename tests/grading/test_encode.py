"""Values cross the sandbox's wall as JSON: what comes out is what went in, and never code."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import torch

from tools.grading.encode import Other, Unreadable, decode, encode

VALUES = [
    None,
    True,
    -3,
    1.5,
    "爱学习 \\ \u2028",
    [1, [2.0, "a"]],
    (1, (2,)),
    {"a": 1, 2: (3,)},
    {1, 2},
    range(2, 9, 3),
]
ARRAYS = [
    torch.arange(6).reshape(2, 3) / 7,
    torch.arange(3, dtype=torch.float64).exp(),
    torch.arange(6).view(2, 3).T,
    torch.tensor([True, False]),
    torch.tensor(2.5),
    torch.empty(0, 3),
    torch.ones(2, requires_grad=True),
    torch.tensor([float("nan"), float("inf")]),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_plain_values_return(value):
    assert decode(json.loads(json.dumps(encode(value)))) == value


@pytest.mark.parametrize("value", ARRAYS, ids=str)
def test_tensors_return(value):
    back = decode(json.loads(json.dumps(encode(value))))
    assert back.dtype == value.dtype
    assert torch.equal(back.nan_to_num(7), value.detach().nan_to_num(7))
    array = decode(json.loads(json.dumps(encode(value.detach().numpy()))))
    assert isinstance(array, np.ndarray)
    assert array.shape == tuple(value.shape)


def test_what_is_no_value_keeps_its_types_name():
    assert isinstance(decode(encode(object())), Other)
    assert isinstance(decode(encode(np.array([object()]))), Other)
    nested: list = []
    nested.append(nested)
    assert encode(nested)


@pytest.mark.parametrize(
    "forged",
    [
        {"tensor": ["load", [1], "AAAA"]},
        {"tensor": ["object", [1], "AAAAAAAAAAA="]},
        {"tensor": ["float32", [-1], "AAAAAA=="]},
        {"tensor": ["float32", [2**40], "AAAAAA=="]},
        {"tensor": ["float32", [1], "no base64"]},
        {"array": ["float32", [1]]},
        {"tuple": 3},
        {"dict": [[[1], 2]]},
        {"range": [1, 2, 0]},
        {"function": 1},
        {"two": 1, "kinds": 2},
        {"pickle": pickle.dumps(1).hex()},
        {},
    ],
    ids=str,
)
def test_what_is_forged_is_refused(forged):
    with pytest.raises(Unreadable):
        decode(forged)
