"""The changed inputs of a live explorer as a text: what the page takes, and its sentences."""

import math
import re

import numpy as np

from attn_core.digits import as_float32
from attn_core.views.payload import numbers_in

EDIT = re.compile(r"(\w+)\.([\d.]+):(.*)", re.ASCII | re.DOTALL)
DECIMAL = r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)"
NUMBER = re.compile(f"{DECIMAL}(?:/{DECIMAL})?", re.ASCII | re.IGNORECASE)
SIDES = ("query", "key", "value")


def number_in(text: str) -> float | None:
    """A number as the page reads it: ASCII digits, no underscores; a fraction, a typographic minus.

    >>> number_in(" -0.5"), number_in("1e3"), number_in("−1/4"), number_in("３"), number_in("1_0")
    (-0.5, 1000.0, -0.25, None, None)
    """
    found = NUMBER.fullmatch(re.sub("[−–]", "-", text.strip()))
    if not found:
        return None
    with np.errstate(all="ignore"):  # by zero as in the page: infinite, or no number
        value = float(np.divide(float(found[1]), float(found[2] or 1)))
    return None if math.isnan(value) else value


def check_edits(payload: dict, text: str) -> None:
    """Raises the page's sentence about the first change that can't be made."""
    inputs, tokens = inputs_of(payload), tokens_of(payload)
    for edit in filter(None, text.split(",")):
        found = EDIT.fullmatch(edit)
        name, places, value = found.groups() if found else (edit, "", "")
        if name not in (*inputs, *tokens):
            raise ValueError(f"edits must be one of {', '.join([*inputs, *tokens])}, got {name}")
        place = [int(n or 0) for n in places.split(".")]
        value = value.replace("%2C", ",").replace("%25", "%")
        if name in inputs:
            check_number(payload, name, place, inputs[name], value)
        else:
            check_token(tokens[name], place[0], value)


def inputs_of(payload: dict) -> dict[str, dict]:
    """The arrays that a reader may change; without a source x stands for equal q, k, v."""
    source = payload["source"]
    if source is not None:
        names = ["x", *(f"{kind}_{side}" for side in SIDES for kind in "wb")]
        return {name: source[name] for name in names if source[name] is not None}
    sides = {name: payload[name] for name in "qkv"}
    q, *others = (numbers_in(side) for side in sides.values())
    if q.shape[1] > 1 or not all(np.array_equal(q, other) for other in others):
        return sides
    (batch, _, *shape), dtype = q.shape, payload["q"]["dtype"]
    return {"x": {"shape": [batch, *shape], "dtype": dtype}}


def tokens_of(payload: dict) -> dict[str, tuple[str, list]]:
    """The names of token lists; of `tokens`, which are both, the page names the queries."""
    queries, keys = payload["tokens"]["queries"], payload["tokens"]["keys"]
    if queries == keys:
        return {"tokens": ("queries", queries)}
    return {"queries": ("queries", queries), "keys": ("keys", keys)}


def check_token(tokens: tuple[str, list], position: int, text: str) -> None:
    if not text:
        raise ValueError("a token must not be empty")
    if position >= len(tokens[1]):
        raise ValueError(f"{tokens[0]} has no token {position}")


def check_number(payload: dict, name: str, place: list[int], array: dict, text: str) -> None:
    shape, dtype = array["shape"], array["dtype"]
    if len(place) != len(shape) or any(n >= size for n, size in zip(place, shape, strict=True)):
        raise ValueError(f"there is no number {name}[{', '.join(map(str, place))}]")
    value = number_in(text)
    if value is None or not fits(value, dtype):
        must = "a number" if value is None else f"a number that fits {dtype}"
        where = named(payload, name, place, array)
        raise ValueError(f"{where} must be {must}, got {text or 'nothing'}")


def fits(value: float, dtype: str) -> bool:
    try:
        return bool(np.isfinite(value if dtype == "float64" else as_float32(value)))
    except OverflowError:
        return False


def named(payload: dict, name: str, place: list[int], array: dict) -> str:
    """As the text of the chapter has it: x[2, 1], without axes of size 1."""
    leads = payload["q"]["shape"][: len(place) - 2] if len(place) > 2 else []
    heads = array.get("heads")
    shown = [heads[n] if heads and axis == 1 else n for axis, n in enumerate(place)]
    last = len(place) - 2
    kept = [str(n) for axis, n in enumerate(shown) if axis >= last or leads[axis] > 1]
    return f"{name}[{', '.join(kept)}]"
