"""Output and row statistics in one pass: a program for each tile of rows, nothing L×S in memory.

`attend` is the loop of tiled.py for one tile of queries: it meets the keys tile by tile and keeps,
for each row, the largest masked score so far, the sum of exponentials under it, and the
output so far; when a larger score comes, sum and output shrink by the same factor. Dao,
"FlashAttention-2" (2023), algorithm 1; Milakov and Gimelshein, "Online normalizer calculation for
softmax" (2018). It meets only keys that the mask's band lets its rows see, and asks the mask only
about tiles at the band's edge.
"""

from dataclasses import asdict

import torch
import triton
import triton.language as tl
from torch import Tensor

from attn_core.call import Call
from attn_core.engines.triton.blocks import LOG2_E, clear, kept, rows_of, seen, survivors
from attn_core.engines.triton.launch import INTERPRETED, bits, current, plan, tiling, width

SMALLEST = 2.0**-149  # of float32: less is 0


@triton.jit
def add_block(
    most, total, mixed, start, stop, queries, k, v, dense, lengths, batch, head, rows,
    L, S, scale_log2, before, after, stride_b, stride_h, stride_l, stride_s,
    seed, threshold, survivor_scale,
    D: tl.constexpr, Dv: tl.constexpr, D_PAD: tl.constexpr, DV_PAD: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, banded: tl.constexpr, padded_keys: tl.constexpr,
    has_dense: tl.constexpr, drops: tl.constexpr, as_float32: tl.constexpr, is_clear: tl.constexpr,
):  # fmt: skip
    """The keys from start to stop, N at a time; is_clear: all rows see all of them."""
    for column in range(start, stop, N):
        cols = column + tl.arange(0, N)
        keys = rows_of(k, cols, S, D, D_PAD, is_clear, as_float32)
        cells = tl.dot(queries, tl.trans(keys), input_precision="ieee")
        if not is_clear:
            keep = kept(dense, lengths, batch, head, rows, cols, L, S, before, after,
                        stride_b, stride_h, stride_l, stride_s,
                        banded, padded_keys, has_dense)  # fmt: skip
            cells = tl.where(keep, cells, float("-inf"))
        now = tl.maximum(most, tl.max(cells, 1))
        # A row that has seen nothing yet: −inf − 0 is still −inf, and no NaN arises.
        shift = now if is_clear else tl.where(now == float("-inf"), 0.0, now)
        # Scaled after the difference, which loses nothing where scores are close.
        exps = tl.exp2((cells - shift[:, None]) * scale_log2)
        shrink = tl.exp2((most - shift) * scale_log2)
        total = total * shrink + tl.sum(exps, 1)
        if drops:
            survives = survivors(seed, threshold, batch, head, rows, column, M, N)
            exps = tl.where(survives, exps * survivor_scale, 0.0)
        values = rows_of(v, cols, S, Dv, DV_PAD, is_clear, as_float32)
        mixed = mixed * shrink[:, None]
        mixed += tl.dot(exps.to(values.dtype), values, input_precision="ieee")
        most = now
    return most, total, mixed


@triton.jit
def attend(
    q, k, v, output, row_max, row_sum, dense, lengths,
    H, L, S, scale, before, after, stride_b, stride_h, stride_l, stride_s,
    seed, threshold, survivor_scale,
    D: tl.constexpr, Dv: tl.constexpr, D_PAD: tl.constexpr, DV_PAD: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, banded: tl.constexpr, padded_keys: tl.constexpr,
    has_dense: tl.constexpr, drops: tl.constexpr, as_float32: tl.constexpr,
):  # fmt: skip
    """One tile of rows of one head: its output, row_max and row_sum. The scale is above 0."""
    n_tiles = (L + M - 1) // M
    pair, turn = tl.program_id(0) // n_tiles, tl.program_id(0) % n_tiles
    batch, head = pair // H, pair % H
    # The last rows see most under a causal mask: they start first, so that no one waits for them.
    first = (n_tiles - 1 - turn) * M
    rows = first + tl.arange(0, M)
    base = pair.to(tl.int64)
    k, v = k + base * S * D, v + base * S * Dv
    queries = rows_of(q + base * L * D, rows, L, D, D_PAD, False, as_float32)
    most = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    mixed = tl.zeros((M, DV_PAD), tl.float32)
    last = tl.minimum(first + M, L) - 1
    start, stop = seen(first, last, L, S, before, after, lengths, batch, banded, padded_keys)
    from_clear, to_clear = clear(first, last, L, S, before, after, lengths, batch,
                                 banded, padded_keys, has_dense)  # fmt: skip
    start = start // N * N
    from_clear = tl.maximum(start, (from_clear + N - 1) // N * N)
    to_clear = tl.maximum(from_clear, tl.minimum(to_clear, stop) // N * N)
    for stretch in tl.static_range(3):
        if stretch == 0:
            lo, hi = start, tl.minimum(from_clear, stop)
        elif stretch == 1:
            lo, hi = from_clear, to_clear
        else:
            lo, hi = to_clear, stop
        most, total, mixed = add_block(
            most, total, mixed, lo, hi, queries, k, v, dense, lengths, batch, head, rows,
            L, S, scale * LOG2_E, before, after, stride_b, stride_h, stride_l, stride_s,
            seed, threshold, survivor_scale, D, Dv, D_PAD, DV_PAD, M, N, banded, padded_keys,
            has_dense, drops, as_float32, stretch == 1,
        )  # fmt: skip
    dead = most == float("-inf")
    total = tl.where(dead, 1.0, total)
    tl.store(row_max + base * L + rows, tl.where(dead, 0.0, most * scale), rows < L)
    tl.store(row_sum + base * L + rows, total, rows < L)
    columns = tl.arange(0, DV_PAD)
    place = output + base * L * Dv + rows[:, None].to(tl.int64) * Dv + columns[None, :]
    inside = (rows[:, None] < L) & (columns[None, :] < Dv)
    tl.store(place, mixed / total[:, None], inside)


def positive(q: Tensor, scale: float) -> tuple[Tensor, float]:
    """Queries and a scale above 0 that give the same, as the kernel finds the largest score."""
    if abs(scale) < SMALLEST:
        return torch.zeros_like(q), 1.0
    return (q, scale) if scale > 0 else (-q, -scale)


def one_pass(call: Call) -> tuple[Tensor, Tensor, Tensor]:
    """output [B, H, L, Dv]; row_max and row_sum [B, H, L]: all in float32, without gradient."""
    B, H, L, D = call.q.shape
    S, Dv = call.v.shape[2:]
    q, k, v = (tensor.detach().contiguous() for tensor in (call.q, call.k, call.v))
    q, scale = positive(q, call.scale)
    output = torch.empty(B, H, L, Dv, dtype=torch.float32, device=q.device)
    row_max, row_sum = torch.empty(2, B, H, L, dtype=torch.float32, device=q.device)
    running, compiled = plan(call.keep, q.device).arguments(q, (L, S))
    tile = tiling(q.dtype, max(D, Dv))
    with current(q.device):
        attend[(triton.cdiv(L, tile.M) * B * H,)](
            q, k, v, output, row_max, row_sum, H=H, L=L, S=S, scale=scale,
            **running, **bits(call.dropout),
            D=D, Dv=Dv, D_PAD=width(D), DV_PAD=width(Dv), **asdict(tile), **compiled,
            drops=call.dropout is not None, as_float32=INTERPRETED,
        )  # fmt: skip
    return output, row_max, row_sum
