"""What the watcher itself computes is no attention of the model, to no watcher of this thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch.overrides import enable_reentrant_dispatch

QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Nothing that is computed inside is seen, and no mode slows it down."""
    before = QUIET.set(True)
    try:
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            yield
    finally:
        QUIET.reset(before)


@contextmanager
def above_autograd() -> Iterator[None]:
    """In a dispatch mode autograd is over; what is computed inside here has gradients again."""
    with enable_reentrant_dispatch(), torch._C._DisableTorchDispatch():
        yield
