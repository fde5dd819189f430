"""What an answer says, in whatever form, and whether it is equal: up to a few roundings, or nearly.

A right answer may be a tensor of another dtype, a NumPy array, a list or a plain number. Nothing
here raises, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def same(ours: Any, theirs: Any, atol: float = 1e-5) -> bool:
    """Equal, numbers up to a few roundings; a tensor, an array and nested lists are the same.

    >>> same([1.0, 2.0], torch.tensor([1.0, 2.0000001])), same((1, "a"), (1, "b"))
    (True, False)
    """
    pair = numbers(ours), numbers(theirs)
    if pair[0] is not None and pair[1] is not None:
        fits = pair[0].shape == pair[1].shape
        return fits and torch.allclose(*pair, rtol=1e-4, atol=atol, equal_nan=True)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    try:
        return type(ours) is type(theirs) and bool(ours == theirs)
    except Exception:  # an array of objects, say, is neither equal nor not
        return False


def near(got: Any, wanted: Any, places: int = 2) -> bool:
    """True if an answer holds the wanted numbers, to so many decimals at least. True is no number.

    >>> near([0.31, 0.69], torch.tensor([0.3061, 0.6939])), near(..., torch.tensor(1.0))
    (True, False)
    """
    wanted = numbers(wanted)
    if not has_shape(got, wanted.shape) or is_truth(got):
        return False
    return bool(((numbers(got) - wanted).abs() < 0.51 * 10**-places).all())


def has_shape(value: Any, shape: Sequence[int]) -> bool:
    """True if a value holds numbers, in this shape.

    >>> has_shape([[1, 2, 3]], (1, 3)), has_shape("123", (3,))
    (True, False)
    """
    found = numbers(value)
    return found is not None and found.shape == tuple(shape)


def numbers(value: Any) -> torch.Tensor | None:
    """A value as float64, or None if it holds anything but numbers."""
    return tensor(value, torch.float64)


def number(value: Any) -> float | None:
    """The one number that a value is, or None.

    >>> number(torch.tensor(0.5)), number([1.0, 2.0])
    (0.5, None)
    """
    found = numbers(value)
    return found.item() if found is not None and found.numel() == 1 else None


def whole(value: Any) -> int | None:
    """The one whole number that a value is, or None. True and False are none.

    >>> whole(np.int64(3)), whole(3.0), whole(3.5), whole(True)
    (3, 3, None, None)
    """
    found = number(value)
    return int(found) if found is not None and found.is_integer() and not is_truth(value) else None


def truth(value: Any) -> bool | None:
    """True or False, if a value is one of them, or 1 or 0; else None.

    >>> truth(torch.tensor(True)), truth(np.False_), truth(0.5), truth("no")
    (True, False, None, None)
    """
    found = number(value)
    return bool(found) if found in (0, 1) else None


def tensor(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor | None:
    """A value as a tensor on the CPU, without its gradient; None if it is no table of numbers."""
    try:
        if isinstance(value, list | tuple) and holds_array(value):
            value = torch.stack([tensor(part, dtype) for part in value])
        elif isinstance(value, np.ndarray):
            value = value.copy()  # torch takes no reversed rows, and warns of what is read-only
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().to_dense()
            dtype = None if value.is_complex() else dtype
        found = torch.as_tensor(value, dtype=dtype)
    except Exception:  # what an answer holds may raise anything
        return None
    return None if found.is_complex() else found


def is_truth(value: Any) -> bool:
    """True for True and False, and for tables of them."""
    found = tensor(value)
    return found is not None and found.dtype == torch.bool


def holds_array(value: Any) -> bool:
    """True for a tensor or an array, and for lists with one in them, however deep."""
    if isinstance(value, list | tuple):
        return any(map(holds_array, value))
    return isinstance(value, torch.Tensor | np.ndarray)
