"""No watcher takes what a watcher itself computes for an attention of the model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch._C import (
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)
from torch.overrides import enable_reentrant_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


class Watching(TorchDispatchMode):
    """A mode of a watcher, which has nothing to see while a watcher computes."""

    def aside(self, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What a function gives, unseen by this mode, unless another one lies above it."""
        if innermost() is not self:
            return func(*args, **kwargs)
        _pop_torch_dispatch_stack(None)
        try:
            return func(*args, **kwargs)
        finally:
            _push_on_torch_dispatch_stack(self)


def innermost() -> TorchDispatchMode | None:
    """The mode that sees an operation first."""
    count = _len_torch_dispatch_stack()
    return _get_dispatch_stack_at(count - 1) if count else None


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
        while isinstance(mode := innermost(), Watching):
            _pop_torch_dispatch_stack(None)
            self.aside.append(mode)

    def __exit__(self, *error: Any) -> None:
        while self.aside:
            _push_on_torch_dispatch_stack(self.aside.pop())
        self.function.__exit__(*error)
        QUIET.reset(self.before)


@contextmanager
def above_autograd() -> Iterator[None]:
    """In a dispatch mode autograd is over; what is computed inside here has gradients again."""
    with enable_reentrant_dispatch(), torch._C._DisableTorchDispatch():
        yield
