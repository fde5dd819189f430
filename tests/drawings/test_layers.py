"""The schemes of chapter 09 have the sublayers that the library's layers have."""

from __future__ import annotations

import re

from attn_core.layers import DecoderLayer, EncoderLayer
from attn_core.views import drawings


def words(drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)<", drawing.svg())


def test_a_sum_and_a_norm_for_each_residual():
    layers = EncoderLayer(8, num_heads=2, hidden=8), DecoderLayer(8, num_heads=2, hidden=8)
    count = sum(len(layer.residuals) for layer in layers)
    drawn = words(drawings.two_layers())
    assert count == 5
    assert drawn.count("+") == drawn.count("norm") == count
    assert [drawn.count(part) for part in ("feed-forward", "cross-attention", "q", "k", "v")] == [
        2, 1, 1, 1, 1,
    ]  # fmt: skip


def test_pre_norm_has_one_norm_more():
    drawn = words(drawings.norm_places())
    assert drawn.count("sublayer f") == drawn.count("+") == 4
    assert drawn.count("norm") == 4 + 1


def test_the_whole_has_both_stacks_and_an_end():
    drawn = words(drawings.transformer())
    assert [drawn.count(part) for part in ("embedding", "+ position", "n layers")] == [2, 2, 2]
    assert [drawn.count(part) for part in ("linear", "softmax", "cross-attention")] == [1, 1, 1]
