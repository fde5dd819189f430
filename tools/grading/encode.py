"""Values as JSON and back, with no code in them: the only thing that crosses the sandbox's wall.

The same text runs on both sides, so it stands on the standard library alone; torch and numpy are
imported where a value needs them. Never pickle: to read a pickle is to run its author's code.

    >>> decode(encode({"rows": (1, 2.5), "look": range(3)}))
    {'rows': (1, 2.5), 'look': range(0, 3)}
"""

import base64
import types

DEEPEST = 20
LARGEST = 2**24  # numbers in an array
PLAIN = (bool, int, float, str)
FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
KINDS = ("bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS)


class Unreadable(ValueError):
    """What is no value of the kinds that can be handed over."""


class Other:
    """Stands for a value that could not be handed over."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<{self.name}>"


def encode(value, function=None, depth=0):
    """A value as JSON: {"a kind": its parts}. What is of no known kind keeps its type's name.

    function: gives a function its number, by which the other side calls it back.
    """
    kind = type(value)
    if depth > DEEPEST:
        return {"other": "a nest too deep"}
    if value is None or kind in PLAIN:
        return value
    if value is ...:
        return {"blank": True}

    def parts(values):
        return [encode(part, function, depth + 1) for part in values]

    if kind is list:
        return parts(value)
    if kind in (set, frozenset):
        return {kind.__name__: parts(value)}
    if isinstance(value, tuple):  # torch's named tuples too
        return {"tuple": parts(value)}
    if kind is dict:
        return {"dict": [parts(pair) for pair in value.items()]}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind is types.SimpleNamespace:
        return {"record": [[name, *parts([one])] for name, one in vars(value).items()]}
    if "_made" in getattr(value, "__dict__", ()):  # an exercise's Handed: what it made
        return encode(value._made, function, depth)
    array = encode_array(value)
    if array is None and callable(value) and function is not None:
        return {"function": function(value)}
    return {"other": kind.__name__} if array is None else array


def encode_array(value):
    """A tensor or an array as its dtype, its shape and its bytes; None if it is neither."""
    import numpy
    import torch

    if isinstance(value, torch.Tensor):
        kind = "tensor"
        value = value.detach().cpu().resolve_conj().resolve_neg()
        value = (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    elif isinstance(value, numpy.ndarray | numpy.generic):
        kind = "array"
    else:
        return None
    if value.dtype.name not in KINDS or value.size > LARGEST:
        return {"other": f"an array of {value.size} × {value.dtype.name}"}
    data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
    return {kind: [value.dtype.name, list(value.shape), data]}


def decode(json, function=None):
    """The value again. `function(number)` makes what calls back to the other side."""
    if json is None or type(json) in PLAIN:
        return json
    try:
        if type(json) is list:
            return [decode(part, function) for part in json]
        ((kind, parts),) = json.items()
        if kind == "blank":
            return ...
        if kind in ("tuple", "set", "frozenset"):
            build = {"tuple": tuple, "set": set, "frozenset": frozenset}[kind]
            return build(decode(part, function) for part in parts)
        if kind == "dict":
            return {decode(k, function): decode(v, function) for k, v in parts}
        if kind == "range":
            return range(*(int(part) for part in parts))
        if kind == "record":
            return types.SimpleNamespace(**{str(k): decode(v, function) for k, v in parts})
        if kind in ("tensor", "array"):
            return decode_array(kind, *parts)
        if kind == "function" and function is not None:
            return function(int(parts))
        if kind == "other":
            return Other(str(parts)[:80])
    except Unreadable:
        raise
    except (AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a value that can be read: {type(error).__name__}") from None
    raise Unreadable("not a value that can be read")


def decode_array(kind, dtype, shape, data):
    import numpy
    import torch

    if dtype not in KINDS or any(type(n) is not int or not 0 <= n <= LARGEST for n in shape):
        raise Unreadable("an array of something else than numbers")
    bits = base64.b64decode(data, validate=True)
    array = numpy.frombuffer(bits, dtype=numpy.dtype(dtype)).reshape(shape).copy()
    return torch.from_numpy(array) if kind == "tensor" else array
