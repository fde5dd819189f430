"""The border: all that crosses the sandbox's wall, in both directions, as one schema.

A message is a line of JSON. msgspec reads it straight into the types below and refuses whatever
else it is, so a line that was read is a message of this page. Its depth, its size and the number of
its parts are bounded, numbers that JSON has no word for are spelled, and nothing in it is code.
Never pickle: to read a pickle is to run its author's code.

    >>> decode(encode({"rows": (1, 2.5), "missing": float("nan")}))
    {'rows': (1, 2.5), 'missing': nan}

The same text runs inside and outside. What comes from inside is the student's word, which may be
forged: it can say what the answers are, and nothing else.
"""

from __future__ import annotations

import math
import numbers
import types
from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
import numpy
import torch

LINE = 2 * 2**20  # bytes of a message
DEEPEST = 16  # a list in a list in a list …, and axes of a tensor
MOST = 100_000  # parts of a value
KEYS = 1000  # entries of a dict or a set
LONGEST = 50_000  # characters of a text
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS)
WIDEST = 2**63
IN_ORDER = (Iterator, KeysView, ValuesView, Sequence)  # as a generator, or a deque
PLACE = "\x1e"  # stands in what is printed where a picture was shown
DEEP, LONG = "a nest too deep or too large", "a text too long"
HUGE, LARGE = "a whole number too large", "an array too large, or of no numbers"
FORGED, RAISES = "no value that can be read", "a value that raises an error"
MASKED, NESTED = "numbers of which some are masked", "a nested tensor"
NOTHING, STRANGE = "a tensor on the meta device, without numbers", "a tensor of another kind"
REASONS = (DEEP, LONG, HUGE, LARGE, FORGED, RAISES, MASKED, NESTED, NOTHING, STRANGE)

Whole = Annotated[int, msgspec.Meta(ge=-WIDEST, le=WIDEST - 1)]
Axis = Annotated[int, msgspec.Meta(ge=0, le=LINE)]
Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
Name = Annotated[str, msgspec.Meta(max_length=100)]


class Unreadable(ValueError):
    """What is no value of the kinds that can be handed over."""


class Message(msgspec.Struct, tag_field="is", forbid_unknown_fields=True, frozen=True):
    """One kind of message or of value; its name stands in the field "is"."""


# Values.


class Blank(Message, tag="..."):
    """`...`, which stands where a starter leaves a gap."""


class Spelled(Message, tag="float"):
    """A float that JSON has no number for."""

    value: Literal["nan", "inf", "-inf"]


class Complex(Message, tag="complex"):
    real: float | Spelled
    imag: float | Spelled


class Several(Message, tag="several"):
    kind: Literal["list", "tuple", "set", "frozenset"]
    parts: list[Value]


class Pairs(Message, tag="dict"):
    pairs: Annotated[list[tuple[Value, Value]], msgspec.Meta(max_length=KEYS)]


class Range(Message, tag="range"):
    start: Whole
    stop: Whole
    step: Whole


class Numbers(Message, tag="numbers"):
    """A tensor or an array: its bytes, which JSON holds in base64."""

    kind: Literal["tensor", "array"]
    dtype: Literal[DTYPES]
    shape: Annotated[list[Axis], msgspec.Meta(max_length=DEEPEST)]
    data: bytes


class Other(Message, tag="other"):
    """A value that is not handed over, and what it is instead."""

    type: Name

    @property
    def said(self) -> str:
        """What it is, in our words."""
        return self.type if self.type in REASONS else "a value of another kind"


Value = (
    None | bool | Whole | float | Text
    | Blank | Spelled | Complex | Several | Pairs | Range | Numbers | Other
)  # fmt: skip


class Function(Message, tag="function"):
    """A function of the grader's that an answer may call, by its number."""

    number: int


class Record(Message, tag="record"):
    """An object with these attributes."""

    fields: dict[str, Value]


Given = Value | Function | Record

# From the grader to the runner, and back.


class Cell(Message, tag="cell"):
    """Run this."""

    source: str


class Keep(Message, tag="keep"):
    """Keep this moment in a snapshot, which speaks on the link of this number."""

    link: int
    names: list[str]


class Ready(Message, tag="ready"):
    """The runner has started; what follows is the student's."""


class Picture(Message, tag="picture"):
    png: bytes


class Ran(Message, tag="ran"):
    """A cell has ended: with this error, or with none."""

    error: Name


# From a snapshot to the grader, and back.

Kind = Literal["missing", "value", "function"]


class Found(Message, tag="found"):
    """What stands under the names that were asked for, in their order."""

    kinds: Annotated[list[Kind], msgspec.Meta(max_length=100)]
    values: Annotated[list[Value], msgspec.Meta(max_length=100)]


class Call(Message, tag="call"):
    name: str
    arguments: list[Given]


class Said(Message, tag="said"):
    """What a call gave, and what it has left of its arguments."""

    value: Value
    arguments: Annotated[list[Value], msgspec.Meta(max_length=100)]


class Raised(Message, tag="raised"):
    error: Name


class Back(Message, tag="back"):
    """The answer calls a function that it was given."""

    number: Annotated[int, msgspec.Meta(ge=0, le=100)]
    arguments: Annotated[list[Value], msgspec.Meta(max_length=20)]


class Reply(Message, tag="reply"):
    value: Value


class Refused(Message, tag="refused"):
    """The function that was called back raised this."""

    why: str


FROM_RUNNER = msgspec.json.Decoder(Ready | Picture | Ran)
FROM_SNAPSHOT = msgspec.json.Decoder(Found | Said | Raised | Back)
TO_RUNNER = msgspec.json.Decoder(Cell | Keep)
TO_SNAPSHOT = msgspec.json.Decoder(Call | Reply | Refused)


def line(message: Message) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def read(decoder: msgspec.json.Decoder, text: bytes) -> Message:
    """The message that a line holds; raises Unreadable if it holds none."""
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Unreadable("no message of the border") from None


class Room:
    """Counts the parts of one value; raises Unreadable where they are too many, or too deep."""

    def __init__(self) -> None:
        self.left = MOST

    def take(self, depth: int) -> None:
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise Unreadable(DEEP)


def encode(value, function=None) -> Given:
    """A value as the border takes it; what it does not take, as `Other`.

    function: gives a function its number, by which the other side calls it back.
    """
    try:
        return encoded(value, function, 0, Room())
    except Unreadable as error:
        return Other(str(error))


def encoded(value, function, depth: int, room: Room) -> Given:
    room.take(depth)

    def parts(values) -> list[Value]:
        return [encoded(part, None, depth + 1, room) for part in values]

    if value is None or type(value) in (bool, float, int, str):
        return plain(value)
    if value is ...:
        return Blank()
    if isinstance(value, torch.Tensor):
        return of_tensor(value)
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
        return Other(MASKED)
    if isinstance(value, numpy.ndarray | numpy.generic) or hasattr(type(value), "__array__"):
        array = numpy.asarray(value)
        if array.dtype.char in "gG":  # wider than what torch has
            array = array.astype("complex128" if array.dtype.kind == "c" else "float64")
        if array.dtype.name in DTYPES:
            return of_array(array)
        return encoded(array.tolist(), None, depth + 1, room)  # of fractions, say
    if isinstance(value, str | int):
        return plain(str(value) if isinstance(value, str) else int(value))
    if isinstance(value, numbers.Real | Decimal):
        return plain(float(value))
    if isinstance(value, numbers.Complex):
        return Complex(plain(float(value.real)), plain(float(value.imag)))
    for kind in (list, tuple, set, frozenset):  # and torch's named tuples
        if isinstance(value, kind):
            return Several(kind.__name__, parts(value))
    if isinstance(value, Mapping) and len(value) <= KEYS:
        return Pairs([tuple(parts(pair)) for pair in value.items()])
    if isinstance(value, range):
        ends = (value.start, value.stop, value.step)
        return Range(*ends) if all(-WIDEST <= end < WIDEST for end in ends) else Other("range")
    if isinstance(value, IN_ORDER) and not isinstance(value, bytes | bytearray):
        return Several("list", parts(value))
    if "_made" in getattr(value, "__dict__", ()):  # an exercise's Handed: what it made
        return encoded(value._made, function, depth, room)
    if hasattr(type(value), "__float__"):
        return plain(float(value))
    if function is not None and callable(value):
        return Function(function(value))
    if function is not None and type(value) is types.SimpleNamespace:
        return Record(dict(zip(vars(value), parts(vars(value).values()), strict=True)))
    return Other(type(value).__name__[:100])


def plain(value: bool | int | float | str | None) -> Value:
    if isinstance(value, str):
        text = value.encode(errors="replace").decode()  # half a character is none
        return text if len(text) <= LONGEST else Other(LONG)
    if isinstance(value, int) and not -WIDEST <= value < WIDEST:
        return Other(HUGE)
    if isinstance(value, float) and not math.isfinite(value):
        return Spelled(str(value))
    return value


def of_tensor(value: torch.Tensor) -> Value:
    if isinstance(value, torch.masked.MaskedTensor):
        return of_tensor(value.get_data()) if bool(value.get_mask().all()) else Other(MASKED)
    if value.is_nested:
        return Other(NESTED)
    if value.is_meta:
        return Other(NOTHING)
    if is_large(value.shape, value.itemsize):
        return Other(LARGE)
    try:
        return of_numbers_in(value.dequantize() if value.is_quantized else value)
    except (RuntimeError, TypeError):  # of a library's own, say
        return Other(STRANGE)


def is_large(shape: Sequence[int], size: int) -> bool:
    """Whether it is more than a message of `Numbers` says. size: bytes of one number."""
    return len(shape) > DEEPEST or max([math.prod(shape) * size, *shape]) > LINE // 2


def of_numbers_in(value: torch.Tensor) -> Numbers:
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES:  # numbers of four or eight bits, say
        name = "complex64" if value.is_complex() else "float64"
        value = value.to(getattr(torch, name))
    dense = value.detach().cpu().to_dense().resolve_conj().resolve_neg().contiguous()
    data = dense.flatten().view(torch.uint8).numpy().tobytes()
    return Numbers("tensor", name, list(value.shape), data)


def of_array(value: numpy.ndarray) -> Value:
    if is_large(value.shape, value.itemsize):
        return Other(LARGE)
    native = value.astype(value.dtype.newbyteorder("="), copy=False)
    data = numpy.ascontiguousarray(native).tobytes()
    return Numbers("array", value.dtype.name, list(value.shape), data)


def decode(value: Given, function=None):
    """The value again; raises Unreadable. `function(number)` makes what calls back."""
    return decoded(value, function, 0, Room())


def decoded(value: Given, function, depth: int, room: Room):
    room.take(depth)

    def parts(values) -> list:
        return [decoded(part, None, depth + 1, room) for part in values]

    match value:
        case Blank():
            return ...
        case Spelled():
            return float(value.value)
        case Complex():
            return complex(*parts((value.real, value.imag)))
        case Several(kind="list"):
            return parts(value.parts)
        case Several(kind="tuple"):
            return tuple(parts(value.parts))
        case Several() if len(value.parts) <= KEYS:
            return hashed(set if value.kind == "set" else frozenset, parts(value.parts))
        case Pairs():
            return hashed(dict, [parts(pair) for pair in value.pairs])
        case Range() if value.step:
            return of_range(range(value.start, value.stop, value.step))
        case Numbers():
            return of_numbers(value)
        case Record():
            return types.SimpleNamespace(
                **dict(zip(value.fields, parts(value.fields.values()), strict=True))
            )
        case Function() if function is not None:
            return function(value.number)
        case Other():
            return value
        case Message():
            raise Unreadable("no value")
    return value


def hashed(build, parts: list):
    try:
        return build(parts)
    except TypeError:
        raise Unreadable("a set or a dict of what has no hash") from None


def of_range(value: range) -> range:
    if value[MOST:]:  # len() fails where there are very many
        raise Unreadable("a range too long")
    return value


def of_numbers(value: Numbers) -> torch.Tensor | numpy.ndarray:
    dtype, count = getattr(torch, value.dtype), math.prod(value.shape)
    if count * dtype.itemsize != len(value.data):
        raise Unreadable("an array whose bytes do not fit its shape")
    if math.prod(filter(None, value.shape)) > LINE:  # of nothing, and yet too large for torch
        raise Unreadable("an array of a shape too large")
    if value.kind == "array" and dtype is torch.bfloat16:
        raise Unreadable("an array of numbers that NumPy has not")
    if dtype is torch.bool and value.data.strip(b"\0\1"):
        raise Unreadable("an array of truths that are none")
    data = bytearray(value.data)
    flat = torch.frombuffer(data, dtype=dtype) if count else torch.empty(0, dtype=dtype)
    tensor = flat.reshape(value.shape)
    return tensor if value.kind == "tensor" else tensor.numpy()
