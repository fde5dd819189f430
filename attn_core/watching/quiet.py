"""No watcher takes what a watcher itself computes for an attention of the model."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.overrides import enable_reentrant_dispatch

QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


class quietly:
    """Nothing that is computed inside is seen: dispatch modes ask QUIET, and let it pass.

    They are not switched off, which would also take their operations from tensors of a class that
    computes by dispatch.
    """

    # Not by contextmanager, which costs each operation of a model twice as much.
    def __enter__(self) -> None:
        self.before = QUIET.set(True)
        self.function = torch._C.DisableTorchFunction()
        self.function.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.function.__exit__(*error)
        QUIET.reset(self.before)


@contextmanager
def above_autograd() -> Iterator[None]:
    """In a dispatch mode autograd is over; what is computed inside here has gradients again."""
    with enable_reentrant_dispatch(), torch._C._DisableTorchDispatch():
        yield
