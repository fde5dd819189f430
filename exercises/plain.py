"""A value in an unusual form, as the plain one that it stands for: a number, a list, a dict."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Any

DEEPEST = 20
MOST = 10**6  # of what a generator yields: it may have no end
ROUNDING = 1e-6  # of what an imaginary part may be, and still be none
IN_ORDER = (Iterator, KeysView, ValuesView, Sequence)  # as a generator, or a deque


def plain(value: Any, depth: int = 0) -> Any:
    """A value without what is unusual in its form. What is of no known form stays as it is.

    >>> from decimal import Decimal
    >>> from fractions import Fraction
    >>> plain([Fraction(1, 4), Decimal("0.5"), 0.75 + 0j])
    [0.25, 0.5, 0.75]
    >>> plain(n / 2 for n in range(3)), plain(map(abs, (-1, 2))), plain({"a": 1, "b": 2}.values())
    ([0.0, 0.5, 1.0], [1, 2], [1, 2])
    >>> plain({2, 1}), plain("0.5"), plain(1j)  # no order, a text, no real number
    ({1, 2}, '0.5', 1j)

    A generator is read to its end. Nothing is raised, whatever the value does.
    """
    try:
        if isinstance(value, bool | int | float | str | bytes | bytearray) or depth > DEEPEST:
            return value
        if type(value) is complex:
            is_real = abs(value.imag) <= ROUNDING * max(1.0, abs(value.real))
            return value.real if is_real else value
        if type(value) in (list, tuple):
            return type(value)(plain(part, depth + 1) for part in value)
        if isinstance(value, IN_ORDER):
            return [plain(part, depth + 1) for part in islice(value, MOST)]
        if isinstance(value, Mapping):
            return {key: plain(part, depth + 1) for key, part in value.items()}
        if not hasattr(value, "shape") and hasattr(type(value), "__float__"):
            return float(value)
    except Exception:  # what an answer holds may raise anything
        return value
    return value
