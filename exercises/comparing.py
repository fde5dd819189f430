"""What an answer says, in whatever form, and whether it is equal: up to a few roundings, or nearly.

A right answer may be a tensor of any dtype, an array, a list, a plain number, a fraction or what a
generator yields, and may have leading axes of 1 too many: none of these says anything else. Not
taken is what leaves a choice: a text, a set, which has no order, and a dict, unless its keys are
the places 0, 1, 2, … or the names that are asked for. Nothing here raises, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from exercises.plain import ROUNDING, plain

COARSE = (torch.float16, torch.bfloat16)


class Numbers(torch.Tensor):
    """An answer's numbers in float64, and how coarsely they were rounded before.

    What is worked out from them knows it, too. unit: the step from 1 to the next number of the
    answer's dtype where that is float16 or bfloat16, else 0.
    """

    unit = 0.0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        made = super().__torch_function__(function, types, args, kwargs or {})
        parts = [part for part in args if isinstance(part, list | tuple)]
        unit = max(map(unit_of, (*args, *(entry for part in parts for entry in part))), default=0.0)
        for result in made if isinstance(made, tuple) else (made,):
            if isinstance(result, cls):
                result.unit = unit
        return made


def same(ours: Any, theirs: Any, atol: float = 1e-5) -> bool:
    """Whether an answer, `ours`, is what it should be: numbers up to a few roundings of its dtype.

    >>> same([1.0, 2.0], torch.tensor([1.0, 2.0000001])), same((1, "a"), (1, "b"))
    (True, False)
    >>> same(torch.tensor([[0.1, 0.2]]).half(), [0.1, 0.2])
    True
    """
    wanted = tensor(theirs, torch.float64)
    if wanted is not None and (got := tensor(ours, torch.float64)) is not None:
        got = without_axis(got, wanted.shape)
        if got is not None:
            return is_close(got, wanted, unit_of(ours), atol)
        if not holds_rows(theirs):  # several tensors of one shape: each may have its own axis of 1
            return False
    ours, theirs = plain(ours), plain(theirs)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    try:
        return type(ours) is type(theirs) and bool(ours == theirs)
    except Exception:  # an array of objects, say, is neither equal nor not
        return False


def is_close(got: torch.Tensor, wanted: torch.Tensor, unit: float, atol: float) -> bool:
    """Equal up to a few roundings, of float32 or of the coarser dtype whose `unit` it is."""
    if torch.equal(got, wanted):
        return True
    largest = min(float(wanted.abs().amax()), 100.0) if unit and wanted.numel() else 1.0
    rtol, atol = max(1e-4, 2 * unit), max(atol, unit / 2 * max(1.0, largest))
    return torch.allclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)


def near(got: Any, wanted: Any, places: int = 2) -> bool:
    """True if an answer holds the wanted numbers, to so many decimals at least.

    True does not count as a number.

    >>> near([0.31, 0.69], torch.tensor([0.3061, 0.6939])), near(..., torch.tensor(1.0))
    (True, False)
    """
    wanted = numbers(wanted)
    shaped = in_shape(got, wanted.shape)
    if shaped is None or is_truth(got):
        return False
    room = 0.51 * 10**-places + unit_of(shaped) * wanted.abs()
    return bool(((shaped - wanted).abs() < room).all())


def has_shape(value: Any, shape: Sequence[int]) -> bool:
    """True if a value holds numbers, in this shape.

    >>> has_shape([[1, 2, 3]], (3,)), has_shape([[1, 2, 3]], (3, 1)), has_shape("123", (3,))
    (True, False, False)
    """
    return in_shape(value, shape) is not None


def in_shape(value: Any, shape: Sequence[int]) -> torch.Tensor | None:
    """The numbers of a value in this shape, without leading axes of 1 that are too much, or None.

    >>> in_shape([[1, 2, 3]], (3,)).tolist(), in_shape([1, 2], (3,))
    ([1.0, 2.0, 3.0], None)
    """
    read = numbers(value)
    return None if read is None else without_axis(read, shape)


def without_axis(cells: torch.Tensor, shape: Sequence[int]) -> torch.Tensor | None:
    while cells.ndim > len(shape) and len(cells) == 1:
        cells = cells[0]
    return cells if cells.shape == tuple(shape) else None


def numbers(value: Any) -> Numbers | None:
    """A value as float64, or None if it holds anything but numbers."""
    cells = tensor(value, torch.float64)
    if cells is None:
        return None
    cells = cells.as_subclass(Numbers)
    cells.unit = unit_of(value)
    return cells


def number(value: Any) -> float | None:
    """The one number that a value is, or None.

    >>> number(torch.tensor(0.5)), number([1.0, 2.0])
    (0.5, None)
    """
    cells = tensor(value, torch.float64)
    return cells.item() if cells is not None and cells.numel() == 1 else None


def whole(value: Any) -> int | None:
    """The one whole number that a value is, or None. True and False are none.

    >>> whole(np.int64(3)), whole(3.0), whole(3.5), whole(True)
    (3, 3, None, None)
    """
    read = number(value)
    return int(read) if read is not None and read.is_integer() and not is_truth(value) else None


def truth(value: Any) -> bool | None:
    """True or False, if a value is one of them, or 1 or 0; else None.

    >>> truth(torch.tensor(True)), truth(np.False_), truth(0.5), truth("no")
    (True, False, None, None)
    """
    read = number(value)
    return bool(read) if read in (0, 1) else None


def parts(value: Any, names: Sequence[str]) -> tuple | None:
    """What an answer of several parts holds, in the order of their names; None if it has not all.

    >>> parts({"output": 2, "weights": 1}, ("weights", "output")), parts([1], ("weights", "output"))
    ((1, 2), None)
    """
    value = plain(value)
    if isinstance(value, dict):
        return tuple(value[name] for name in names) if {*value} == {*names} else None
    is_row = isinstance(value, list | tuple) and len(value) == len(names)
    return tuple(value) if is_row else None


def listed(value: Any) -> list | None:
    """A list of anything, also as a tuple, or as a dict whose keys are the places; else None.

    >>> listed(("a", "b")), listed({1: "b", 0: "a"}), listed({1: "a", 2: "b"}), listed("ab")
    (['a', 'b'], ['a', 'b'], ['a', 'b'], None)
    """
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if isinstance(value, dict) and value and all(type(key) is int for key in value):
        order = sorted(value)
        if order[0] in (0, 1) and order == list(range(order[0], order[0] + len(order))):
            return [value[key] for key in order]
    return list(value) if isinstance(value, list | tuple) else None


def tensor(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor | None:
    """A value as a tensor on the CPU, without its gradient; None if it is no table of numbers."""
    try:
        return table(value, dtype)
    except Exception:  # what an answer holds may raise anything
        return None


def table(value: Any, dtype: torch.dtype | None) -> torch.Tensor:
    """The same, but for what is no table of numbers, where it raises."""
    if isinstance(value, Numbers):
        value = value.as_subclass(torch.Tensor)
    value = plain(value)
    if hides_numbers(value):
        raise TypeError("some of the numbers are masked")
    if isinstance(value, torch.masked.MaskedTensor):
        value = value.get_data()
    if isinstance(value, dict):
        value = listed(value)
    if isinstance(value, list | tuple) and holds_array(value):
        value = torch.stack([table(part, dtype) for part in value])
    elif isinstance(value, np.ndarray):
        # torch takes no reversed rows or bytes and no objects, and warns of what is read-only.
        native = value.dtype.newbyteorder("=")
        value = plain(value.tolist()) if value.dtype == object else value.astype(native)
    if isinstance(value, torch.Tensor) and value.is_quantized:
        value = value.dequantize()
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        value = real(torch.as_tensor(value).detach().cpu().to_dense())
    cells = torch.as_tensor(value, dtype=dtype)
    if cells.is_complex():
        raise TypeError("a list of complex numbers")
    return cells


def hides_numbers(value: Any) -> bool:
    """Whether numbers of an array or a tensor are masked, and what they are is left open."""
    if isinstance(value, torch.masked.MaskedTensor):
        return not bool(value.get_mask().all())
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def real(value: torch.Tensor) -> torch.Tensor:
    """The real part of complex numbers that have no other; those that have raise."""
    if not value.is_complex():
        return value
    room = ROUNDING * value.real.abs().clamp(min=1)
    if not bool((value.imag.abs() <= room).all()):
        raise ValueError("a number has an imaginary part")
    return value.real


def unit_of(value: Any) -> float:
    """The largest step from 1 to the next number among the coarse dtypes of a value, or 0."""
    if isinstance(value, Numbers):
        return value.unit
    if isinstance(value, torch.Tensor):
        return torch.finfo(value.dtype).eps if value.dtype in COARSE else 0.0
    if isinstance(value, np.ndarray | np.generic):
        return float(np.finfo(np.float16).eps) if value.dtype == np.float16 else 0.0
    if isinstance(value, dict):
        value = list(value.values())
    return max(map(unit_of, value), default=0.0) if isinstance(value, list | tuple) else 0.0


def is_truth(value: Any) -> bool:
    """True for True and False, and for tables of them."""
    cells = tensor(value)
    return cells is not None and cells.dtype == torch.bool


def holds_rows(value: Any) -> bool:
    """True for several tensors, none of them a single number."""
    is_row = isinstance(value, list | tuple)
    return is_row and all(isinstance(part, torch.Tensor) and part.ndim for part in value)


def holds_array(value: Any) -> bool:
    """True for a tensor or an array, and for lists with one in them, however deep."""
    if isinstance(value, list | tuple):
        return any(map(holds_array, value))
    return isinstance(value, torch.Tensor | np.ndarray)
