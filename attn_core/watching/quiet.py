"""What the watcher itself computes is no attention of the model, to no watcher of this thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Nothing that is computed inside is seen."""
    before = QUIET.set(True)
    try:
        yield
    finally:
        QUIET.reset(before)
