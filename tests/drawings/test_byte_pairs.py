"""Byte pairs: the rows are what the merges make, and the list decides their order."""

from __future__ import annotations

import re

import pytest

from attn_core.views import drawings

MERGES = [("a", "t"), ("c", "at"), ("t", "o"), ("to", "m")]


@pytest.mark.parametrize(
    ("word", "merges", "says"),
    [
        ("tomcat", MERGES, "to + m: tom, cat."),
        # The pair that comes first in the list goes first, wherever it stands in the word.
        ("tomcat", MERGES[::-1], "At first: t, o, m, c, a, t. Merge t + o: to, m, c, a, t. Merge"),
        ("aaaa", [("aa", "aa"), ("a", "a")], "a + a: aa, aa. Merge aa + aa: aaaa."),
        ("aaa", [("a", "a")], "Merge a + a: aa, a."),
        ("dog", MERGES, "At first: d, o, g."),
    ],
)
def test_it_says_what_each_merge_makes(word, merges, says):
    assert says in drawings.byte_pairs(word, merges).alt


def test_what_a_merge_made_is_lit_and_as_wide_as_its_letters():
    svg = drawings.byte_pairs("tomcat", MERGES).svg()
    boxes = re.findall(r'width="([\d.]+)" height="34" class="(\w+)" rx="5" ?/>', svg)
    lit = [float(width) for width, fill in boxes if fill == "more"]
    cell = float(boxes[0][0]) + 4
    assert lit == pytest.approx([2 * cell - 4, 3 * cell - 4, 2 * cell - 4, 3 * cell - 4])
    assert len(boxes) == 6 + 5 + 4 + 3 + 2
