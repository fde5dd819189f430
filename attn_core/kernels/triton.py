"""The same one pass on a GPU: a program for each tile of rows, and nothing L×S in memory.

`attend` is the loop of cpu.py, written for one tile of queries: it meets the keys tile by tile and
keeps, for each row, the largest masked score so far, the sum of exponentials under it, and the
output so far; when a larger score comes, sum and output shrink by the same factor. Dao,
"FlashAttention-2" (2023), algorithm 1; Milakov and Gimelshein, "Online normalizer calculation for
softmax" (2018). `overview` sums or compares the cells of a map that is never stored. Both meet only
the keys that the mask's band lets their rows see. Dropout's bits are those of dropout.py.

`trace` does not choose it yet: it is tested in Triton's interpreter and compiles for GPUs, but has
not run on one.
"""

import math
import os
from dataclasses import dataclass
from functools import reduce

import torch
import triton
import triton.language as tl
from torch import Tensor

from attn_core.checks import STAGES
from attn_core.dropout import Dropout
from attn_core.masks import Causal, Dense, Keep, Padding, Window, parts_of

# The interpreter computes tl.dot of bfloat16 wrongly: there, tiles are float32.
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


@triton.jit
def rows_of(start, rows, size, width: tl.constexpr, padded: tl.constexpr, as_float32: tl.constexpr):
    """Rows of a matrix [size, width], zeros beyond its ends."""
    columns = tl.arange(0, padded)
    inside = (rows[:, None] < size) & (columns[None, :] < width)
    cells = tl.load(start + rows[:, None].to(tl.int64) * width + columns[None, :], inside, 0.0)
    return cells.to(tl.float32) if as_float32 else cells


@triton.jit
def kept(
    dense, lengths, batch, head, rows, cols, L, S, before, after,
    stride_b, stride_h, stride_l, stride_s,
    banded: tl.constexpr, padded_keys: tl.constexpr, has_dense: tl.constexpr,
):  # fmt: skip
    """True where a query sees a key: the band, the lengths and the cells of the mask."""
    keep = (rows[:, None] < L) & (cols[None, :] < S)
    if banded:
        position = rows[:, None] + (S - L)
        keep &= (position - before <= cols[None, :]) & (cols[None, :] <= position + after)
    if padded_keys:
        keep &= cols[None, :] < tl.load(lengths + batch)
    if has_dense:
        start = dense + batch.to(tl.int64) * stride_b + head.to(tl.int64) * stride_h
        place = rows[:, None].to(tl.int64) * stride_l + cols[None, :].to(tl.int64) * stride_s
        keep &= tl.load(start + place, keep, 0) != 0
    return keep


@triton.jit
def survivors(seed, threshold, batch, head, rows, first_column, M: tl.constexpr, N: tl.constexpr):
    """Which cells of a tile survive dropout; its first column is a multiple of 4."""
    blocks = (first_column // 4 + tl.arange(0, N // 4)).to(tl.uint32)
    zero = tl.zeros((M, N // 4), tl.uint32)
    w0, w1, w2, w3 = tl.philox(
        seed,
        zero + blocks[None, :],
        zero + rows[:, None].to(tl.uint32),
        zero + head.to(tl.uint32),
        zero + batch.to(tl.uint32),
    )
    words = tl.join(tl.join(w0, w2), tl.join(w1, w3)).reshape(M, N)
    return words.to(tl.int64) >= threshold


@triton.jit
def seen(first_row, last_row, L, S, before, after, lengths, batch,
         banded: tl.constexpr, padded_keys: tl.constexpr):  # fmt: skip
    """From which to which key some row of a tile may see."""
    start, stop = 0, S
    if banded:
        start = tl.maximum(start, first_row + (S - L) - before)
        stop = tl.minimum(stop, last_row + (S - L) + after + 1)
    if padded_keys:
        stop = tl.minimum(stop, tl.load(lengths + batch).to(tl.int32))
    return start, stop


@triton.jit
def attend(
    q, k, v, output, row_max, row_sum, dense, lengths,
    H, L, S, scale, before, after, stride_b, stride_h, stride_l, stride_s,
    seed, threshold, survivor_scale,
    D: tl.constexpr, Dv: tl.constexpr, D_PAD: tl.constexpr, DV_PAD: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, banded: tl.constexpr, padded_keys: tl.constexpr,
    has_dense: tl.constexpr, drops: tl.constexpr, as_float32: tl.constexpr,
):  # fmt: skip
    """One tile of rows of one head: its output, its row_max and its row_sum."""
    pair = tl.program_id(1)
    batch, head = pair // H, pair % H
    first = tl.program_id(0) * M
    rows = first + tl.arange(0, M)
    base = pair.to(tl.int64)
    queries = rows_of(q + base * L * D, rows, L, D, D_PAD, as_float32)
    most = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    mixed = tl.zeros((M, DV_PAD), tl.float32)
    last = tl.minimum(first + M, L) - 1
    start, stop = seen(first, last, L, S, before, after, lengths, batch, banded, padded_keys)
    for column in range(start // N * N, stop, N):
        cols = column + tl.arange(0, N)
        keys = rows_of(k + base * S * D, cols, S, D, D_PAD, as_float32)
        masked = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        keep = kept(dense, lengths, batch, head, rows, cols, L, S, before, after,
                    stride_b, stride_h, stride_l, stride_s,
                    banded, padded_keys, has_dense)  # fmt: skip
        masked = tl.where(keep, masked, float("-inf"))
        now = tl.maximum(most, tl.max(masked, 1))
        # A row that has seen nothing yet: −inf − 0 is still −inf, and no NaN arises.
        shift = tl.where(now == float("-inf"), 0.0, now)
        exps = tl.exp(masked - shift[:, None])
        shrink = tl.exp(most - shift)
        total = total * shrink + tl.sum(exps, 1)
        if drops:
            survives = survivors(seed, threshold, batch, head, rows, column, M, N)
            exps = tl.where(survives, exps * survivor_scale, 0.0)
        values = rows_of(v + base * S * Dv, cols, S, Dv, DV_PAD, as_float32)
        mixed = mixed * shrink[:, None]
        mixed += tl.dot(exps.to(values.dtype), values, input_precision="ieee")
        most = now
    dead = most == float("-inf")
    total = tl.where(dead, 1.0, total)
    tl.store(row_max + base * L + rows, tl.where(dead, 0.0, most), rows < L)
    tl.store(row_sum + base * L + rows, total, rows < L)
    columns = tl.arange(0, DV_PAD)
    place = output + base * L * Dv + rows[:, None].to(tl.int64) * Dv + columns[None, :]
    inside = (rows[:, None] < L) & (columns[None, :] < Dv)
    tl.store(place, mixed / total[:, None], inside)


# 0 and 1 stay values: as constants they would have no type to convert.
@triton.jit(do_not_specialize=["batch", "head"])
def overview(
    q, k, row_max, row_sum, into, dense, lengths,
    batch, head, L, S, n_rows, n_cols, scale, before, after,
    stride_b, stride_h, stride_l, stride_s, seed, threshold, survivor_scale,
    D: tl.constexpr, D_PAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    banded: tl.constexpr, padded_keys: tl.constexpr, has_dense: tl.constexpr,
    stage: tl.constexpr, takes_max: tl.constexpr, as_float32: tl.constexpr,
):  # fmt: skip
    """One cell of an overview: the mean or the max of a block of cells of one head's stage."""
    r, c = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    top, bottom = (r * L // n_rows).to(tl.int32), ((r + 1) * L // n_rows).to(tl.int32)
    left, right = (c * S // n_cols).to(tl.int32), ((c + 1) * S // n_cols).to(tl.int32)
    found = tl.full((M, N), float("-inf") if takes_max else 0.0, tl.float32)
    for first in range(top, bottom, M):
        rows = first + tl.arange(0, M)
        queries = rows_of(q, rows, L, D, D_PAD, as_float32)
        if stage >= 3:
            most = tl.load(row_max + rows, rows < L, 0.0)
            total = tl.load(row_sum + rows, rows < L, 1.0)
        start, stop = left, right
        if stage >= 3:
            # Cells that no row sees are 0: they add nothing, and the max is at least 0 below.
            last = tl.minimum(first + M, bottom) - 1
            lo, hi = seen(first, last, L, S, before, after, lengths, batch, banded, padded_keys)
            start, stop = tl.maximum(start, lo), tl.minimum(stop, hi)
        for column in range(start // N * N, stop, N):
            cols = column + tl.arange(0, N)
            inside = (rows[:, None] < bottom) & (left <= cols[None, :]) & (cols[None, :] < right)
            keys = rows_of(k, cols, S, D, D_PAD, as_float32)
            cells = tl.dot(queries, tl.trans(keys), input_precision="ieee")
            if stage >= 1:
                cells *= scale
            if stage >= 2:
                keep = kept(dense, lengths, batch, head, rows, cols, L, S, before, after,
                            stride_b, stride_h, stride_l, stride_s,
                            banded, padded_keys, has_dense)  # fmt: skip
                cells = tl.where(keep, cells, float("-inf"))
            if stage >= 3:
                cells = tl.exp(cells - most[:, None]) / total[:, None]
            if stage == 4:
                survives = survivors(seed, threshold, batch, head, rows, column, M, N)
                cells = tl.where(survives, cells * survivor_scale, 0.0)
            if takes_max:
                found = tl.maximum(found, tl.where(inside, cells, float("-inf")))
            else:
                found += tl.where(inside, cells, 0.0)
    if takes_max:
        answer = tl.max(tl.max(found, 1), 0)
        if stage >= 3:
            answer = tl.maximum(answer, 0.0)
    else:
        size = (bottom - top).to(tl.float32) * (right - left).to(tl.float32)
        answer = tl.sum(tl.sum(found, 1), 0) / size
    tl.store(into + r * n_cols + c, answer)


@dataclass(frozen=True)
class Plan:
    """A mask as the kernels take it: a band around the diagonal, lengths, and cells."""

    before: int
    after: int
    lengths: Tensor | None
    cells: Tensor | None

    def arguments(self, like: Tensor, shape: tuple[int, int, int, int]) -> tuple[dict, dict]:
        """What a launch needs of it, and what it is compiled for."""
        L, S = shape[2:]
        far = L + S
        cells = self.cells.expand(shape) if self.cells is not None else None
        strides = cells.stride() if cells is not None else (0, 0, 0, 0)
        names = ("stride_b", "stride_h", "stride_l", "stride_s")
        running = {
            "dense": like if cells is None else cells.view(torch.uint8),
            "lengths": like if self.lengths is None else self.lengths,
            "before": min(self.before, far),
            "after": min(self.after, far),
            **dict(zip(names, strides, strict=True)),
        }
        compiled = {
            "banded": min(self.before, self.after) < far,
            "padded_keys": self.lengths is not None,
            "has_dense": cells is not None,
        }
        return running, compiled


def plan(keep: Keep | None, device: torch.device) -> Plan:
    """The band, the lengths and the cells that a mask comes down to.

    >>> from attn_core import causal, window
    >>> plan(causal() & window(2, 1), torch.device("cpu"))
    Plan(before=2, after=0, lengths=None, cells=None)
    """
    before = after = 2**31
    lengths, cells = [], []
    for part in () if keep is None else parts_of(keep):
        if isinstance(part, Causal):
            after = 0
        elif isinstance(part, Window):
            before, after = min(before, part.before), min(after, part.after)
        elif isinstance(part, Padding):
            lengths.append(torch.tensor(part.lengths, dtype=torch.int64, device=device))
        elif isinstance(part, Dense):
            cells.append(part.cells)
        else:
            raise TypeError(f"keep must be made of the masks of attn_core, got {part!r}")
    return Plan(
        before,
        after,
        reduce(torch.minimum, lengths) if lengths else None,
        reduce(torch.logical_and, cells) if cells else None,
    )


def width(size: int) -> int:
    """A power of two, at least 16, as tl.dot wants it."""
    return max(16, triton.next_power_of_2(size))


def bits(dropout: Dropout | None) -> dict:
    if dropout is None:
        return {"seed": 0, "threshold": 0, "survivor_scale": 1.0}
    threshold = math.floor(dropout.p * 2**32)
    return {
        "seed": dropout.seed,
        "threshold": threshold,
        "survivor_scale": 1 / (1 - dropout.p),
    }


def tile_sizes(q: Tensor, widest: int) -> tuple[int, int]:
    if INTERPRETED:
        return 32, 32
    if q.dtype == torch.float32 or widest > 128:
        return 64, 32
    return 128, 64


def forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """output in the dtype of v; row_max and row_sum in float32: see `kernels.cpu.forward`."""
    B, H, L, D = q.shape
    S, Dv = v.shape[2:]
    q, k, v = (tensor.detach().contiguous() for tensor in (q, k, v))
    output = torch.empty(B, H, L, Dv, dtype=v.dtype, device=q.device)
    row_max, row_sum = torch.empty(2, B, H, L, dtype=torch.float32, device=q.device)
    running, compiled = plan(keep, q.device).arguments(q, (B, H, L, S))
    M, N = tile_sizes(q, max(D, Dv))
    attend[(triton.cdiv(L, M), B * H)](
        q, k, v, output, row_max, row_sum, H=H, L=L, S=S, scale=scale, **running, **bits(dropout),
        D=D, Dv=Dv, D_PAD=width(D), DV_PAD=width(Dv), M=M, N=N, **compiled,
        drops=dropout is not None, as_float32=INTERPRETED,
    )  # fmt: skip
    return output, row_max, row_sum


def pooled(
    q: Tensor,
    k: Tensor,
    row_max: Tensor,
    row_sum: Tensor,
    keep: Keep | None,
    scale: float,
    dropout: Dropout | None,
    stage: str,
    shape: tuple[int, int],
    how: str,
    batch: int,
    head: int,
) -> Tensor:
    """An overview [rows, cols] of one head's stage, one program for each of its cells."""
    B, H, L, D = q.shape
    S = k.shape[2]
    into = torch.empty(shape, dtype=torch.float32, device=q.device)
    one = [tensor[batch, head].detach().contiguous() for tensor in (q, k, row_max, row_sum)]
    running, compiled = plan(keep, q.device).arguments(q, (B, H, L, S))
    if stage == "dropped" and dropout is None:
        stage = "weights"
    M, N = tile_sizes(q, D)
    overview[shape](
        *one, into, batch=batch, head=head, L=L, S=S,
        n_rows=shape[0], n_cols=shape[1], scale=scale, **running, **bits(dropout),
        D=D, D_PAD=width(D), M=M, N=N, **compiled,
        stage=STAGES.index(stage), takes_max=how == "max", as_float32=INTERPRETED,
    )  # fmt: skip
    return into
