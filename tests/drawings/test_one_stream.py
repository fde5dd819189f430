"""One stream: cross-attention's arrows are there again, and no word reads a later one."""

from __future__ import annotations

import re

import pytest

from attn_core.views import drawings

CURVE = re.compile(r'd="M([\d.]+),[\d.]+ Q[^"]+" class="(\w+)-line" stroke-width="([\d.]+)"')
MIDDLE = 330  # of the line between both models
NEXT = "1.8"  # how wide the arrows to the next token are


def curves(source, target):
    """Of each arrow its ink, whether it belongs to the model at the right, and its width."""
    svg = drawings.one_stream(source, target).svg()
    found = CURVE.findall(svg)
    return [(ink, float(x) > MIDDLE, width) for x, ink, width in found if width != NEXT]


@pytest.mark.parametrize(("read", "written"), [(3, 3), (4, 1), (1, 4)])
def test_each_pair_of_words_that_may_read_has_its_arrow(read, written):
    found = curves("abcd"[:read], "wxyz"[:written])
    crossing = read * written
    assert found.count(("accent", False, "1.4")) == crossing
    assert found.count(("accent", True, "1.2")) == crossing
    before = [count * (count + 1) // 2 for count in (read, written)]
    assert found.count(("soft", False, "1.2")) == read * read + before[1]
    assert found.count(("soft", True, "1.2")) == sum(before)
    # All words of the stream are causal: together as many as the pairs of one sentence.
    count = read + written
    assert crossing + sum(before) == count * (count + 1) // 2


def test_the_next_token_is_above_the_last_of_both():
    svg = drawings.one_stream(["Tom", "chases"], ["汤姆"]).svg()
    heights = {
        words: [float(y) for y in re.findall(rf'y="([\d.]+)"[^>]*>{words}<', svg)]
        for words in ("next token", "汤姆", "chases", "Tom")
    }
    (left, right), written = heights["next token"], heights["汤姆"]
    assert left == right < min(written)
    # In the stream the first word is lowest, in both models.
    assert max(written) == max(heights["Tom"])
    assert min(written) < min(heights["chases"]) < max(heights["Tom"])
