"""Observers, which are told of each attention that `attention` computes while they are open."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

from attn_core.call import Call

Compute = Callable[[], Tensor]
Observer = Callable[[Call, Compute], Tensor]  # computes the output, and may look at it

OBSERVERS: ContextVar[tuple[Observer, ...]] = ContextVar("OBSERVERS", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """While it is open, `observer` computes each attention of this thread."""
    before = OBSERVERS.set((*OBSERVERS.get(), observer))
    try:
        yield
    finally:
        OBSERVERS.reset(before)


def observed(call: Call, compute: Compute) -> Tensor:
    """What `compute` gives, through all observers; the innermost is asked last."""
    for observer in OBSERVERS.get():
        compute = bound(observer, call, compute)
    return compute()


def bound(observer: Observer, call: Call, compute: Compute) -> Compute:
    return lambda: observer(call, compute)
