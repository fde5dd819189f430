"""What torch.compile and torch.export find: a pass runs as it stands, between their graphs."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

Arguments = ParamSpec("Arguments")
Got = TypeVar("Got")

EAGER: dict[Callable, Callable] = {}  # a function: the same, closed to torch.compile


def between_graphs(function: Callable[Arguments, Got]) -> Callable[Arguments, Got]:
    """The function; torch.compile breaks its graph there and calls it as it stands.

    A loop over tiles would be unrolled, and the whole map made.
    """

    @wraps(function)
    def as_it_stands(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Got:
        if torch.compiler.is_dynamo_compiling() and not is_exporting():
            return closed(function)(*args, **kwargs)
        return function(*args, **kwargs)

    return as_it_stands


def is_exporting() -> bool:
    """Whether torch.export follows a call, whose tensors hold no numbers."""
    is_compiling, in_dynamo = torch.compiler.is_compiling(), torch.compiler.is_dynamo_compiling()
    said = getattr(torch.compiler, "is_exporting", bool)  # torch 2.5 has no such function
    return said() or (is_compiling and not in_dynamo)


def closed(function: Callable) -> Callable:
    # Not on import: torch.compiler.disable loads the whole compiler.
    if function not in EAGER:
        EAGER[function] = torch.compiler.disable(function)
    return EAGER[function]
