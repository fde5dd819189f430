"""What an answer's function says when it is asked, whatever it does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from exercises.comparing import numbers, parts, same
from exercises.plain import plain


class RecordedFunction:
    """A function of an answer that never raises, and remembers what it was asked and said.

    >>> asked = RecordedFunction(lambda x: 1 / x)
    >>> asked(2), asked(0)
    (0.5, None)
    >>> asked.said, asked.error
    ([0.5, 'ZeroDivisionError'], ZeroDivisionError('division by zero'))

    It gets copies of what it is asked with, so that a function that writes into its input can
    neither change what the right answer is worked out from, nor lose anything by it.

    >>> table, asked = [1.0, 2.0], RecordedFunction(list.clear)
    >>> asked(table), table, asked.changed
    (None, [1.0, 2.0], True)

    parts: the names of what it gives, in order, if that is several things; they may come by name.

    What is no function, as a name that is missing, answers None. Interrupting still interrupts.
    """

    def __init__(self, function: Any, parts: tuple[str, ...] = ()) -> None:
        self.parts = parts
        self.function: Callable | None = function if callable(function) else None
        self.said: list[Any] = []
        self.error: Exception | None = None  # the first one
        self.changed = False  # whether it has written into an input

    def __call__(self, *arguments: Any) -> Any:
        if self.function is None:
            self.said.append(None)
            return None
        copies = [copied(argument) for argument in arguments]
        try:
            value = plain(self.function(*copies))
        except Exception as error:
            self.error = self.error or error
            self.said.append(type(error).__name__)
            return None
        if isinstance(value, dict):
            value = parts(value, self.parts) or value
        pairs = zip(copies, arguments, strict=True)
        self.changed |= any(ours is not theirs and not same(ours, theirs) for ours, theirs in pairs)
        self.said.append(kept(value))
        return value


def copied(value: Any) -> Any:
    """A value of its own; what cannot be copied is handed on as it is."""
    try:
        return copy.deepcopy(value)
    except Exception:  # a tensor with a gradient, or a generator
        return value.clone() if isinstance(value, torch.Tensor) else value


def kept(value: Any) -> Any:
    """A copy that no later change reaches; of what cannot be copied its numbers, or its type."""
    try:
        return copy.deepcopy(value)
    except Exception:  # a tensor with a gradient, say
        cells = numbers(value)
        return type(value).__name__ if cells is None else cells.clone()


class Handed:
    """An input that is no number: a function, say, that an answer is to call.

    >>> double = Handed("def times(n):\\n    return lambda x: n * x", "times", 2)
    >>> double(21)
    42

    code: defines the function `make`; what `make(*arguments)` gives is the input. It is kept as
    source, so that grading can make the same thing again in the process where the answer runs.
    """

    def __init__(self, code: str, make: str, *arguments: Any) -> None:
        self._code, self._make, self._arguments = code, make, arguments
        names: dict[str, Any] = {}
        exec(compile(code, f"<{make}>", "exec"), names)
        self._made = names[make](*arguments)

    def __call__(self, *arguments: Any) -> Any:
        return self._made(*arguments)

    def __deepcopy__(self, memo: dict) -> Handed:
        return self  # as a function is: what it was made of is out of an answer's reach

    def __repr__(self) -> str:
        return f"{self._make}{self._arguments!r}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_made":
            raise AttributeError(name)
        return getattr(self._made, name)
