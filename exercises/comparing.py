"""Whether two answers are equal: up to a few roundings, or to two decimals."""

from __future__ import annotations

from typing import Any

import torch


def same(ours: Any, theirs: Any) -> bool:
    """Equal, numbers up to a few roundings; a tensor, an array and nested lists are the same.

    >>> same([1.0, 2.0], torch.tensor([1.0, 2.0000001])), same((1, "a"), (1, "b"))
    (True, False)
    """
    pair = numbers(ours), numbers(theirs)
    if pair[0] is not None and pair[1] is not None:
        fits = pair[0].shape == pair[1].shape
        return fits and torch.allclose(*pair, rtol=1e-4, atol=1e-5, equal_nan=True)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def numbers(value: Any) -> torch.Tensor | None:
    """A value as float64, or None if it holds anything but numbers."""
    if value is None or value is ... or isinstance(value, str):
        return None
    try:
        return torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return None


def near(got: Any, wanted: Any) -> bool:
    """True if an answer holds the wanted numbers, to two decimals at least.

    >>> near([0.31, 0.69], torch.tensor([0.3061, 0.6939])), near(..., torch.tensor(1.0))
    (True, False)
    """
    got, wanted = numbers(got), torch.as_tensor(wanted, dtype=torch.float64)
    if got is None or got.shape != wanted.shape:
        return False
    return bool(((got - wanted).abs() < 0.0051).all())
