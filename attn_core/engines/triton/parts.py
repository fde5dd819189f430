"""Looks at a map that is never stored: any part of a stage of it, or an overview."""

from dataclasses import asdict

import torch
import triton
import triton.language as tl
from torch import Tensor

from attn_core.call import Call, Part
from attn_core.checks import STAGES
from attn_core.engines.triton.blocks import derived, kept, rows_of, seen, survivors
from attn_core.engines.triton.launch import INTERPRETED, bits, current, plan, tiling, width


# 0 and 1 stay values: as constants they would have no type to convert.
@triton.jit(do_not_specialize=["first_batch", "first_head"])
def part_of_stage(
    q, k, row_max, row_sum, into, dense, lengths, first_batch, first_head, n_heads, L, S,
    first_row, row_step, n_rows, first_col, col_step, n_cols, scale, before, after,
    stride_b, stride_h, stride_l, stride_s,
    D: tl.constexpr, D_PAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    banded: tl.constexpr, padded_keys: tl.constexpr, has_dense: tl.constexpr,
    stage: tl.constexpr, as_float32: tl.constexpr,
):  # fmt: skip
    """A tile of the part that is asked for; q and k hold the rows of this part alone."""
    across, down = (n_cols + N - 1) // N, (n_rows + M - 1) // M
    # All on the first axis of the launch: the others end at 65,535.
    cols = tl.program_id(0) % across * N + tl.arange(0, N)
    turn = tl.program_id(0) // across
    pair, rows = turn // down, turn % down * M + tl.arange(0, M)
    batch, head = first_batch + pair // n_heads, first_head + pair % n_heads
    base = pair.to(tl.int64)
    queries = rows_of(q + base * n_rows * D, rows, n_rows, D, D_PAD, False, as_float32)
    keys = rows_of(k + base * n_cols * D, cols, n_cols, D, D_PAD, False, as_float32)
    most, total, keep = None, None, None
    if stage >= 2:
        keep = kept(dense, lengths, batch, head, first_row + rows * row_step,
                    first_col + cols * col_step, L, S, before, after,
                    stride_b, stride_h, stride_l, stride_s,
                    banded, padded_keys, has_dense)  # fmt: skip
    if stage >= 3:
        most = tl.load(row_max + base * n_rows + rows, rows < n_rows, 0.0)
        total = tl.load(row_sum + base * n_rows + rows, rows < n_rows, 1.0)
    cells = derived(queries, keys, keep, most, total, scale, stage)
    place = into + (base * n_rows + rows[:, None]) * n_cols + cols[None, :]
    tl.store(place, cells, (rows[:, None] < n_rows) & (cols[None, :] < n_cols))


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
    r, c = (tl.program_id(0) // n_cols).to(tl.int64), (tl.program_id(0) % n_cols).to(tl.int64)
    top, bottom = (r * L // n_rows).to(tl.int32), ((r + 1) * L // n_rows).to(tl.int32)
    left, right = (c * S // n_cols).to(tl.int32), ((c + 1) * S // n_cols).to(tl.int32)
    pooled = tl.full((M, N), float("-inf") if takes_max else 0.0, tl.float32)
    for first in range(top, bottom, M):
        rows = first + tl.arange(0, M)
        queries = rows_of(q, rows, L, D, D_PAD, False, as_float32)
        most, total = None, None
        start, stop = left, right
        if stage >= 3:
            most = tl.load(row_max + rows, rows < L, 0.0)
            total = tl.load(row_sum + rows, rows < L, 1.0)
            # Cells that no row sees are 0: they add nothing, and the max is at least 0 below.
            last = tl.minimum(first + M, bottom) - 1
            lo, hi = seen(first, last, L, S, before, after, lengths, batch, banded, padded_keys)
            start, stop = tl.maximum(start, lo), tl.minimum(stop, hi)
        for column in range(start // N * N, stop, N):
            cols = column + tl.arange(0, N)
            inside = (rows[:, None] < bottom) & (left <= cols[None, :]) & (cols[None, :] < right)
            keys = rows_of(k, cols, S, D, D_PAD, False, as_float32)
            keep = kept(dense, lengths, batch, head, rows, cols, L, S, before, after,
                        stride_b, stride_h, stride_l, stride_s,
                        banded, padded_keys, has_dense)  # fmt: skip
            cells = derived(queries, keys, keep, most, total, scale, stage)
            if stage == 4:
                survives = survivors(seed, threshold, batch, head, rows, column, M, N)
                cells = tl.where(survives, cells * survivor_scale, 0.0)
            if takes_max:
                pooled = tl.maximum(pooled, tl.where(inside, cells, float("-inf")))
            else:
                pooled += tl.where(inside, cells, 0.0)
    if takes_max:
        answer = tl.max(tl.max(pooled, 1), 0)
        if stage >= 3:
            answer = tl.maximum(answer, 0.0)
    else:
        size = (bottom - top).to(tl.float32) * (right - left).to(tl.float32)
        answer = tl.sum(tl.sum(pooled, 1), 0) / size
    tl.store(into + r * n_cols + c, answer)


def cells(call: Call, name: str, part: Part, statistics: tuple[Tensor, Tensor] | None) -> Tensor:
    """Scores, scaled, masked or weights of any part of a map: see `formulas.cells`."""
    batches, heads, rows, cols = part
    queries, keys = (rows.detach().contiguous() for rows in call.queries_and_keys(part))
    D = queries.shape[-1]
    into = torch.empty(tuple(map(len, part)), dtype=torch.float32, device=queries.device)
    row_max, row_sum = (each.contiguous() for each in statistics or (into, into))
    L, S = call.size
    running, compiled = plan(call.keep, queries.device).arguments(queries, (L, S))
    tile = tiling(queries.dtype, D)
    across, down = triton.cdiv(len(cols), tile.N), triton.cdiv(len(rows), tile.M)
    with current(queries.device):
        part_of_stage[(across * down * len(batches) * len(heads),)](
            queries, keys, row_max, row_sum, into,
            first_batch=batches.start, first_head=heads.start, n_heads=len(heads), L=L, S=S,
            first_row=rows.start, row_step=rows.step, n_rows=len(rows),
            first_col=cols.start, col_step=cols.step, n_cols=len(cols), scale=call.scale,
            **running, D=D, D_PAD=width(D), **asdict(tile), **compiled,
            stage=STAGES.index(name), as_float32=INTERPRETED,
        )  # fmt: skip
    return into


def overview_of(
    call: Call,
    name: str,
    place: tuple[int, int],
    shape: tuple[int, int],
    how: str,
    statistics: tuple[Tensor, Tensor] | None,
) -> Tensor:
    """An overview [rows, cols] of one head's stage, one program for each of its cells.

    statistics: row_max and row_sum [1, 1, L] of this head, for weights and dropped weights.
    """
    L, S = call.size
    D = call.q.shape[-1]
    batch, head = place
    into = torch.empty(shape, dtype=torch.float32, device=call.q.device)
    queries, keys = (tensor[batch, head].detach().contiguous() for tensor in (call.q, call.k))
    row_max, row_sum = (each.contiguous() for each in statistics or (into, into))
    running, compiled = plan(call.keep, call.q.device).arguments(call.q, (L, S))
    if name == "dropped" and call.dropout is None:
        name = "weights"
    tile = tiling(call.q.dtype, D)
    with current(call.q.device):
        overview[(shape[0] * shape[1],)](
            queries, keys, row_max, row_sum, into, batch=batch, head=head, L=L, S=S,
            n_rows=shape[0], n_cols=shape[1], scale=call.scale, **running, **bits(call.dropout),
            D=D, D_PAD=width(D), **asdict(tile), **compiled,
            stage=STAGES.index(name), takes_max=how == "max", as_float32=INTERPRETED,
        )  # fmt: skip
    return into
