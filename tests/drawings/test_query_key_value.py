"""Query, key and value of a word: the numbers of the chapter, each in its own color."""

import re

import torch

from attn_core import modules, toy
from attn_core.views import drawings

WORDS, X = toy.journey()


def head():
    torch.manual_seed(123)
    return modules.SelfAttentionV1(3, 2)


def test_all_numbers_of_matrices_and_results_stand_in_it():
    source = head().source(X)
    drawing = drawings.query_key_value(source, 1, tokens=WORDS)
    shown = re.findall(r">([−\d.]+)<", drawing.svg())
    expected = [f"{n:.2f}" for n in X[1]]
    for matrix, result in zip(
        (source.w_query, source.w_key, source.w_value), source.project(), strict=True
    ):
        expected += [f"{n:.4f}" for n in (*matrix.flatten(), *result[1])]
    assert shown == expected
    assert "w_query makes its query (0.4306, 1.4551)" in drawing.alt


def test_each_part_keeps_its_color():
    svg = drawings.query_key_value(head().source(X), 1, tokens=WORDS).svg()
    for part in ("query", "key", "value"):
        assert re.search(rf'class="{part}"[^>]*>w_{part}<', svg)
        assert f'class="{part}-wash"' in svg
