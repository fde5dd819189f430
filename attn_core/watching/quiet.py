"""No watcher takes what a watcher itself computes for an attention of the model."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.overrides import enable_reentrant_dispatch
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _get_current_dispatch_mode,
    _pop_mode,
    _push_mode,
)

QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


class Watching(TorchDispatchMode):
    """A mode of a watcher, which has nothing to see while a watcher computes."""


class quietly:
    """Nothing that is computed inside is seen.

    Watchers' modes are put aside, where each operation would cost ten times as much; one that lies
    below a mode of somebody else asks QUIET, and lets it pass. Modes in general are not switched
    off, which would also take their operations from tensors of a class that computes by dispatch.
    """

    # Not by contextmanager, which costs each operation of a model twice as much.
    def __enter__(self) -> None:
        self.before = QUIET.set(True)
        self.function = torch._C.DisableTorchFunction()
        self.function.__enter__()
        self.aside: list[Watching] = []
        while isinstance(mode := _get_current_dispatch_mode(), Watching):
            _pop_mode()
            self.aside.append(mode)

    def __exit__(self, *error: Any) -> None:
        while self.aside:
            _push_mode(self.aside.pop())
        self.function.__exit__(*error)
        QUIET.reset(self.before)


@contextmanager
def above_autograd() -> Iterator[None]:
    """In a dispatch mode autograd is over; what is computed inside here has gradients again."""
    with enable_reentrant_dispatch(), torch._C._DisableTorchDispatch():
        yield
