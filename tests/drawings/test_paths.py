"""Path lengths: the arrows in colour are the shortest ways, and their number stands there."""

from __future__ import annotations

import pytest

from attn_core.views import drawings
from attn_core.views.drawings.paths import way

WORDS = ["Your", "journey", "starts", "with", "one", "step"]


def recurrent(n):
    return {(1, t): [(0, t)] + [(1, t - 1)] * (t > 0) for t in range(n)}


def convolution(n, layers):
    return {
        (layer, t): [(layer - 1, s) for s in (t - 1, t, t + 1) if 0 <= s < n]
        for layer in range(1, layers + 1)
        for t in range(n)
    }


@pytest.mark.parametrize(
    ("n", "net", "far"), [(6, recurrent(6), 6), (4, recurrent(4), 4), (6, convolution(6, 3), 3)]
)
def test_the_count_is_the_longer_way(n, net, far):
    drawn = drawings.path_lengths({"a net": net}, WORDS[:n])
    assert f"a net {far} arrows." in drawn.alt
    assert f">{far} arrows<" in drawn.svg()


def test_a_way_is_a_chain_from_the_place_to_the_word():
    chain = way(recurrent(6), 0, (1, 5))
    assert len(chain) == 6
    assert [start for start, _ in chain[:-1]] == [end for _, end in chain[1:]]
    assert chain[-1][0] == (0, 0)
