"""Sizes on both sides of every boundary at which the kernel cuts a map, at their real places."""

import math

import pytest
import torch

from attn_core import Dropout, attention, causal, masking, padding, trace, window
from attn_core.engines import formulas, tiles
from tests.attn_core.reference import drawn

WHOLE = math.isqrt(formulas.SMALL)
HEIGHTS = (32, 64, 128, masking.HEIGHT)  # rows of a tile, by the length of the map
SIZES = [
    *((WHOLE // 2 + n, WHOLE) for n in (-1, 0, 1)),  # two sequences: the last that are made whole
    *((512 + n, 150) for n in (0, 1)),  # the next height
    *((1024 + n, 100) for n in (0, 1)),  # and the next ones
    *((8192 + n, 9) for n in (0, 1)),
    *((65, tiles.WIDTH + n) for n in (-1, 0, 1)),  # one block of keys, and two
    (129, 2 * tiles.WIDTH + 1),
]
MASKS = ("none", "causal", "window", "padding and causal", "cells")


def mask(name, S):
    return {
        "none": None,
        "causal": causal(),
        "window": window(300, 5),
        "padding and causal": padding([S, S // 3]) & causal(),
        "cells": torch.arange(S) % 4 != 2,
    }[name]


def near(size, *boundaries):
    """The first and the last place, and those beside each multiple of a boundary."""
    places = {0, size - 1}
    for boundary in boundaries:
        for many in (1, 2, size // boundary):
            places |= {many * boundary - 1, many * boundary, many * boundary + 1}
    return sorted(place for place in places if 0 <= place < size)


def by_row(q, k, v, keep, i, dropout):
    """Row i of both sequences by the formulas: its weights, its output, its two numbers."""
    L, S = q.shape[-2], k.shape[-2]
    scores = (q[:, i : i + 1] @ k.mT)[:, 0] * 0.7
    if keep is not None:
        kept = keep.tile(range(i, i + 1), range(S), (L, S)).expand(2, 1, 1, S)[:, 0, 0]
        scores = scores.masked_fill(~kept, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    row_max = scores.amax(-1)
    row_max = row_max.masked_fill(row_max == -torch.inf, 0.0)
    row_sum = torch.exp(scores - row_max[:, None]).sum(-1)
    row_sum = row_sum.masked_fill(row_sum == 0, 1.0)
    dropped = weights
    if dropout is not None:
        survives = dropout.survives(range(2), range(1), range(i, i + 1), range(S))[:, 0, 0]
        dropped = weights * survives / (1 - dropout.p)
    return weights, (dropped[:, None] @ v)[:, 0], row_max, row_sum


@pytest.mark.parametrize("dropout", [None, Dropout(0.3, 11)], ids=["kept", "dropout"])
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rows_beside_each_boundary(size, name, dropout):
    L, S = size
    q, k, v = (drawn(seed, 2, n, 3) for seed, n in ((1, L), (2, S), (3, S)))
    settings = {"keep": mask(name, S), "scale": 0.7, "dropout": dropout}
    record, output = trace(q, k, v, **settings), attention(q, k, v, **settings)
    cols = near(S, tiles.WIDTH, masking.HEIGHT)
    rows = near(L, *HEIGHTS)
    tile = record.tile("weights", range(L), range(S), batch=1)
    for i in rows:
        weights, *wanted = by_row(q, k, v, record.keep, i, dropout)
        found = output[:, i], record.row_max[:, 0, i], record.row_sum[:, 0, i]
        for mine, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(record.output[:, i], output[:, i], rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(tile[i, cols], weights[1, cols], rtol=1e-11, atol=1e-11)


def test_gradients_beside_the_boundaries_of_a_long_map():
    """1,025 queries over 2,049 keys: nine tiles of rows, two blocks of keys."""
    keep = causal() & window(1500)
    found = []
    for is_whole in (False, True):
        shapes = enumerate((1025, 2049, 2049))
        inputs = [drawn(seed, n, 2).requires_grad_() for seed, n in shapes]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(formulas, "SMALL", 10**9 if is_whole else formulas.SMALL)
            (attention(*inputs, keep=keep) * drawn(4, 1025, 2)).sum().backward()
        found.append([tensor.grad for tensor in inputs])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-11)
