"""What an answer's function says when it is asked, whatever it does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from exercises.comparing import numbers


class Heard:
    """A function of an answer that never raises, and remembers what it was asked and said.

    >>> heard = Heard(lambda x: 1 / x)
    >>> heard(2), heard(0)
    (0.5, None)
    >>> heard.said, heard.error
    ([0.5, 'ZeroDivisionError'], ZeroDivisionError('division by zero'))

    What is no function, as a name that is missing, answers None. Interrupting still interrupts.
    """

    def __init__(self, function: Any) -> None:
        self.function: Callable | None = function if callable(function) else None
        self.said: list[Any] = []
        self.error: Exception | None = None  # the first one

    def __call__(self, *arguments: Any) -> Any:
        if self.function is None:
            self.said.append(None)
            return None
        try:
            value = self.function(*arguments)
        except Exception as error:
            self.error = self.error or error
            self.said.append(type(error).__name__)
            return None
        self.said.append(kept(value))
        return value


def kept(value: Any) -> Any:
    """A copy that no later change reaches; of what cannot be copied its numbers, or its type."""
    try:
        return copy.deepcopy(value)
    except Exception:  # a generator, say, or a tensor with a gradient
        found = numbers(value)
        return type(value).__name__ if found is None else found.clone()


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

    def __repr__(self) -> str:
        return f"{self._make}{self._arguments!r}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_made":
            raise AttributeError(name)
        return getattr(self._made, name)
