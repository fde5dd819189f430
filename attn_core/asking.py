"""Which part of a stage somebody asks for: checked, and as ranges."""

from collections.abc import Sequence
from numbers import Integral
from typing import Protocol

from torch import Tensor

from attn_core.bias import Part
from attn_core.call import Call
from attn_core.checks import brief, check_index, check_tile, check_whole


class Stages(Protocol):
    """What a record answers, forward and back."""

    def stage(self, name: str) -> Tensor: ...

    def tile(
        self, name: str, rows: slice | range, cols: slice | range, *, batch: int = 0, head: int = 0
    ) -> Tensor: ...


def asked(
    record: Stages,
    name: str,
    rows: slice | range | None,
    cols: slice | range | None,
    batch: int | None,
    head: int | None,
) -> Tensor:
    """A tile of a stage, or all of it where nothing says which part."""
    if rows is None and cols is None and batch is None and head is None:
        return record.stage(name)
    rows, cols = (slice(None) if part is None else part for part in (rows, cols))
    return record.tile(name, rows, cols, batch=batch or 0, head=head or 0)


def tile_of_head(
    call: Call, stage: str, rows: slice | range, cols: slice | range, batch: int, head: int
) -> Part:
    """Some rows and columns of one head's stage, not too many."""
    b, h = one_head(call, batch, head)
    rows = check_range("rows", rows, call.size[0])
    cols = check_range("cols", cols, call.columns(stage))
    check_tile(rows, cols)
    return b, h, rows, cols


def one_head(call: Call, batch: int, head: int) -> tuple[range, range]:
    b = check_index("batch", batch, call.shape[0])
    h = check_index("head", head, call.shape[1])
    return range(b, b + 1), range(h, h + 1)


def check_range(name: str, part: slice | range, size: int) -> range:
    """The indices of a slice or range of an axis of this size; at least one, rising, inside it."""
    if isinstance(part, slice):
        for end in (part.start, part.stop, part.step):
            if end is not None and not isinstance(end, Integral):
                raise TypeError(f"{name} must be a slice of whole numbers, got {part}")
        indices = range(*part.indices(size)) if part.step != 0 else range(0, 0, -1)
    elif isinstance(part, range):
        indices = part
    else:
        raise TypeError(f"{name} must be a slice or a range, got {type(part).__name__}")
    if indices.step < 0:
        raise ValueError(f"{name} must have a step of at least 1, got {part}")
    if len(indices) == 0:
        raise ValueError(f"{name} must name at least one of {size}, got {part}")
    if min(indices) < 0 or max(indices) >= size:
        raise ValueError(f"{name} must lie between 0 and {size - 1}, got {part}")
    return indices


def check_overview(shape: Sequence[int], how: str, rows: int, cols: int) -> tuple[int, int]:
    if how not in ("mean", "max"):
        raise ValueError(f"how must be 'mean' or 'max', got {brief(how)}")
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise TypeError(f"shape must be two whole numbers, got {brief(shape)}")
    if len(shape) != 2:
        raise ValueError(f"shape must be two whole numbers, got {len(shape)} of them")
    sizes = []
    for name, size, most in (("rows", shape[0], rows), ("columns", shape[1], cols)):
        sizes.append(check_whole(f"{name} of shape", size, least=1))
        if size > most:
            raise ValueError(f"{name} of shape must be at most {most}, got {size}")
    return sizes[0], sizes[1]
