"""What a launch needs: a mask as numbers, dropout as numbers, sizes of tiles."""

import math
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from attn_core.dropout import Dropout
from attn_core.engines.tiles import WIDEST
from attn_core.masks import Keep

# The interpreter computes tl.dot of bfloat16 wrongly: there, tiles are float32.
INTERPRETED = os.environ.get("TRITON_INTERPRET", "").lower() in {"1", "true", "yes", "on", "y"}


FAR = 2**31


@dataclass(frozen=True)
class Plan:
    """A mask as the kernels take it: a band around the diagonal, lengths, and cells."""

    before: int
    after: int
    lengths: Tensor | None
    cells: Tensor | None

    def arguments(self, like: Tensor, size: tuple[int, int]) -> tuple[dict, dict]:
        """What a launch for a map of `size` (L, S) needs of it, and what it is compiled for."""
        far = sum(size)
        names = ("stride_b", "stride_h", "stride_l", "stride_s")
        strides = [0, 0, 0, 0]
        if self.cells is not None:
            # An axis of size 1 serves all.
            axes = zip(self.cells.shape, self.cells.stride(), strict=True)
            strides = [stride if axis > 1 else 0 for axis, stride in axes]
        running = {
            "dense": like if self.cells is None else self.cells.view(torch.uint8),
            "lengths": like if self.lengths is None else self.lengths,
            "before": min(self.before, far),
            "after": min(self.after, far),
            **dict(zip(names, strides, strict=True)),
        }
        compiled = {
            "banded": min(self.before, self.after) < far,
            "padded_keys": self.lengths is not None,
            "has_dense": self.cells is not None,
        }
        return running, compiled


def plan(keep: Keep | None, device: torch.device) -> Plan:
    """The band, the lengths and the cells that a mask comes down to.

    >>> from attn_core import causal, window
    >>> plan(causal() & window(2, 1), torch.device("cpu"))
    Plan(before=2, after=0, lengths=None, cells=None)
    """
    if keep is None:
        return Plan(FAR, FAR, None, None)
    lengths = None
    if keep.lengths is not None:
        lengths = torch.tensor(keep.lengths, dtype=torch.int64, device=device)
    before = FAR if keep.before is None else keep.before
    after = FAR if keep.after is None else keep.after
    return Plan(before, after, lengths, keep.cells)


def current(device: torch.device) -> AbstractContextManager:
    """Triton launches on torch's current GPU: that of the tensors, among several."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def bits(dropout: Dropout | None) -> dict:
    """Dropout as numbers: `Dropout.words` and `Dropout.decide` say what they mean."""
    if dropout is None:
        return {"seed": 0, "threshold": 0, "survivor_scale": 1.0}
    threshold = math.floor(dropout.p * 2**32)
    return {"seed": dropout.seed, "threshold": threshold, "survivor_scale": 1 / (1 - dropout.p)}


def width(size: int) -> int:
    """A power of two, at least 16, as tl.dot wants it.

    >>> width(5), width(64)
    (16, 64)
    """
    return max(16, triton.next_power_of_2(size))


@dataclass(frozen=True)
class Tiling:
    """Queries and keys of a tile, the warps that share it, and how many tiles are on their way."""

    M: int
    N: int
    num_warps: int
    num_stages: int


# By the widest head: no more shared memory than the 99 KB that every multiprocessor since compute
# capability 8.0 has, and registers for all, or nearly all; a test compiles and counts.
HALF = {64: Tiling(128, 64, 8, 3), 128: Tiling(128, 64, 8, 2), WIDEST: Tiling(64, 32, 8, 2)}
FLOAT32 = {64: Tiling(32, 32, 4, 2), 128: Tiling(32, 32, 8, 2), WIDEST: Tiling(32, 16, 8, 2)}


def tiling(dtype: torch.dtype, widest: int) -> Tiling:
    """For heads up to WIDEST wide.

    >>> tiling(torch.float16, 80)
    Tiling(M=128, N=64, num_warps=8, num_stages=2)
    """
    choices = HALF if dtype.itemsize == 2 else FLOAT32
    return next(choices[size] for size in choices if widest <= size)
