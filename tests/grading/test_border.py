"""Values cross the border as JSON of one schema: what comes out is what went in, and never code."""

from __future__ import annotations

import itertools
import json
import pickle
from array import array
from collections import deque
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import msgspec
import numpy as np
import pytest
import torch

from grading.inside import border
from grading.inside.border import FROM_SNAPSHOT, Other, Said, Unreadable, decode, encode


def crossed(value):
    """A value after its way through the border."""
    text = border.line(Said(encode(value), []))
    return decode(border.read(FROM_SNAPSHOT, text).value)


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
    frozenset({"a"}),
    range(2, 9, 3),
    range(9, 2, -1),
    1 + 2j,
    float("inf"),
    float("-inf"),
    ...,
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
    torch.ones(2, dtype=torch.bfloat16) / 3,
    torch.ones(2, dtype=torch.float16) / 3,
    torch.tensor([1 + 2j]).conj(),
    torch.eye(2).to_sparse(),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_plain_values_return(value):
    assert crossed(value) == value
    assert type(crossed(value)) is type(value)


@pytest.mark.parametrize("value", ARRAYS, ids=str)
def test_tensors_return(value):
    back = crossed(value)
    assert back.dtype == value.dtype
    assert torch.equal(back.nan_to_num(7), value.detach().to_dense().nan_to_num(7))
    if value.dtype != torch.bfloat16 and not value.is_sparse:
        array = crossed(value.detach().resolve_conj().numpy())
        assert isinstance(array, np.ndarray)
        assert array.shape == tuple(value.shape)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "float8_e4m3fn"])
def test_numbers_of_any_type_are_taken(dtype):
    value = torch.tensor([1.0, 3.0]).to(getattr(torch, dtype))
    assert crossed(value).tolist() == [1, 3]


class Half:
    def __float__(self):
        return 0.5


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (Fraction(1, 4), 0.25),
        (Decimal("0.1"), 0.1),
        (np.float64(2), 2.0),
        (np.int8(2), 2),
        ((n for n in (1, 2)), [1, 2]),
        (map(str, (1, 2)), ["1", "2"]),
        ({"a": 1}.keys(), ["a"]),
        (deque([1, Fraction(1, 2)]), [1, 0.5]),
        (array("d", [0.5]), [0.5]),
        (MappingProxyType({0: 0.5}), {0: 0.5}),
        ([torch.Size([2])], [(2,)]),
        (Half(), 0.5),
        (np.array([Fraction(1, 2), 3]), [0.5, 3]),
        (np.longdouble(0.5), 0.5),
        (np.array([2**63], dtype=np.uint64), [Other("a whole number too large")]),
        ("half \ud800 a character", "half ? a character"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_kin_of_a_plain_value_is_taken_as_one(value, arrives):
    assert crossed(value) == arrives


def test_nan_is_spelled():
    assert crossed([float("nan")])[0] != crossed([float("nan")])[0]
    assert b"NaN" not in border.line(Said(encode(float("nan")), []))


def nested(depth: int) -> list:
    return [] if depth == 0 else [nested(depth - 1)]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (object(), "a value of another kind"),
        (nested(50), "a nest too deep"),
        ([0] * 200_000, "a nest too deep or too large"),
        (itertools.count(), "a nest too deep or too large"),
        (torch.zeros(10**6), "an array too large"),
        (np.zeros(10**6), "an array too large"),
        (torch.zeros((1,) * 17), "an array too large"),
        (np.zeros((2**22, 0)), "an array too large"),
        ("a" * 10**6, "a text too long"),
        (2**70, "a whole number too large"),
        ({n: n for n in range(5000)}, "a value of another kind"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_value_or_too_much_is_said(value, why):
    other = crossed(value)
    assert isinstance(other, Other)
    assert why in other.said


def test_a_nest_that_holds_itself_ends():
    value: list = []
    value += [value] * 10
    assert isinstance(crossed(value), Other)


def said(value: str) -> bytes:
    return b'{"is":"said","arguments":[],"value":' + value.encode() + b"}"


def numbers(**changed) -> str:
    good = {"is": "numbers", "kind": "tensor", "dtype": "float32", "shape": [1], "data": "AAAAAA=="}
    return json.dumps(good | changed)


def several(*parts: str) -> str:
    return f'{{"is":"several","kind":"list","parts":[{",".join(parts)}]}}'


FORGED = [
    numbers(dtype="load"),
    numbers(dtype="object"),
    numbers(dtype="bfloat16", kind="array", data="AAA="),
    numbers(dtype="bool", data="Bw=="),
    numbers(shape=[-1]),
    numbers(shape=[2**40]),
    numbers(shape=[2]),
    numbers(shape=[1.5]),
    numbers(shape=[1] * 40),
    numbers(shape=[2**21] * 15 + [0], data=""),
    numbers(data="no base64"),
    numbers(more=1),
    '{"is":"numbers","kind":"tensor"}',
    '{"is":"range","start":1,"stop":2,"step":0}',
    '{"is":"range","start":0,"stop":1000000000000,"step":1}',
    '{"is":"range","start":-9223372036854775808,"stop":9223372036854775807,"step":1}',
    '{"is":"range","start":Infinity,"stop":1,"step":1}',
    '{"is":"range","start":"1","stop":2,"step":1}',
    '{"is":"float","value":"1e999"}',
    '{"is":"complex","real":[],"imag":1}',
    '{"is":"dict","pairs":[[1]]}',
    f'{{"is":"dict","pairs":[[{several()},1]]}}',
    '{"is":"several","kind":"set","parts":[{"is":"several","kind":"list","parts":[]}]}',
    '{"is":"several","kind":"set","parts":' + json.dumps([0] * 5000) + "}",
    '{"is":"several","kind":"list","parts":3}',
    '{"is":"several","kind":"set","parts":[{"is":"dict","pairs":[]}]}',
    '{"is":"function","number":1}',
    '{"is":"record","fields":{}}',
    '{"is":"said","value":1,"arguments":[]}',
    '{"is":"pickle","data":"' + pickle.dumps(1).hex() + '"}',
    '{"is":1}',
    "{}",
    "[1]",
    "NaN",
    "1e999",
    "9" * 40,
    '"\\ud800"',
    '"' + "a" * 60_000 + '"',
    several(*["0"] * 150_000),
    '{"is":"several","kind":"list","parts":[' * 30 + "]}" * 30,
    '{"is":"several","kind":"list","parts":[' * 50_000,
]


@pytest.mark.parametrize("forged", FORGED, ids=lambda text: text[:50])
def test_what_is_forged_is_refused(forged):
    with pytest.raises(Unreadable):
        decode(border.read(FROM_SNAPSHOT, said(forged)).value)


@pytest.mark.parametrize(
    "line",
    [b"", b"null", b"[]", b"1", b"\xff\xfe", b'{"is":"call"}', b'{"is":"found"}', b"{" * 10**6],
    ids=lambda line: str(line[:20]),
)
def test_a_line_that_is_no_message_is_refused(line):
    with pytest.raises(Unreadable):
        border.read(FROM_SNAPSHOT, line)


def test_no_function_and_no_object_comes_out():
    """The kinds of messages and values that a student's process can send, and no others."""
    kinds = set(msgspec.json.schema(FROM_SNAPSHOT.type)["$defs"])
    assert kinds == {
        *("Found", "Said", "Raised", "Back"),
        *("Blank", "Spelled", "Complex", "Several", "Pairs", "Range", "Numbers", "Other"),
    }
