"""Grouped heads: each query head has one line, to the head of keys of its group."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from attn_core.views import drawings


@pytest.mark.parametrize(
    ("num_heads", "count", "name"),
    [(9, 9, "multi-head"), (9, 3, "grouped-query"), (12, 1, "multi-query"), (1, 1, "multi-head")],
)
def test_each_query_head_leads_to_the_head_of_its_group(num_heads, count, name):
    drawing = drawings.grouped_heads(num_heads, [count])
    svg = drawing.svg()
    assert f">{name}<" in svg
    assert f"{name.capitalize()}: {count} head" in drawing.alt
    assert svg.count(">q<") == num_heads
    assert svg.count(">k<") == svg.count(">v<") == count
    lines = re.findall(r'd="M([\d.]+),62 L([\d.]+),98" class="soft-line"', svg)
    assert sorted(float(start) for start, _ in lines) == [float(start) for start, _ in lines]
    groups = Counter(float(end) for _, end in lines)
    assert list(groups.values()) == [num_heads // count] * count


def test_the_cache_is_the_share_of_the_heads_that_are_kept():
    svg = drawings.grouped_heads(9, [9, 3, 1]).svg()
    assert re.findall(r"cache × ([\d/]+)<", svg) == ["1/3", "1/9"]
