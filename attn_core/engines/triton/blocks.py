"""What the kernels share: rows of a matrix, the mask and dropout's bits of a block, its cells."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def exp(x):
    """e^x, and 0 for what is below 2^−126: `tl.exp` keeps that, which takes longer."""
    return tl.exp2(x * LOG2_E)


@triton.jit
def rows_of(start, rows, size, width: tl.constexpr, padded: tl.constexpr,
            is_inside: tl.constexpr, as_float32: tl.constexpr):  # fmt: skip
    """Rows of a matrix [size, width], zeros beyond its ends; is_inside: none lies beyond `size`."""
    columns = tl.arange(0, padded)
    place = start + rows[:, None].to(tl.int64) * width + columns[None, :]
    if is_inside and width == padded:
        cells = tl.load(place)
    else:
        cells = tl.load(place, (rows[:, None] < size) & (columns[None, :] < width), 0.0)
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
def clear(first_row, last_row, L, S, before, after, lengths, batch,
          banded: tl.constexpr, padded_keys: tl.constexpr, has_dense: tl.constexpr):  # fmt: skip
    """From which to which key each row of a tile sees all."""
    start, stop = seen(last_row, first_row, L, S, before, after, lengths, batch,
                       banded, padded_keys)  # fmt: skip
    if has_dense:
        stop = 0
    return start, tl.maximum(stop, 0)


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
def derived(queries, keys, keep, most, total, scale, stage: tl.constexpr):
    """The cells of a block at a stage: 0 scores, 1 scaled, 2 masked, 3 and above weights."""
    cells = tl.dot(queries, tl.trans(keys), input_precision="ieee")
    if stage >= 1:
        cells *= scale
    if stage >= 2:
        cells = tl.where(keep, cells, float("-inf"))
    if stage >= 3:
        cells = exp(cells - most[:, None]) / total[:, None]
    return cells
