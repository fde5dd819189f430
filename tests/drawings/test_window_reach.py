"""A window through layers: the shares are those of the matrix of means, taken so many times."""

from __future__ import annotations

import re

import pytest
import torch

from attn_core import window
from attn_core.views import drawings
from attn_core.views.drawings.window_reach import shares_of


@pytest.mark.parametrize(
    ("tokens", "wide", "layers"), [(7, 3, 2), (12, 2, 4), (4, 3, 2), (3, 1, 1)]
)
def test_the_shares_are_a_power_of_the_matrix_of_means(tokens, wide, layers):
    sees = window(wide - 1).dense(tokens, tokens)[0, 0].double()
    means = sees / sees.sum(1, keepdim=True)
    expected = torch.linalg.matrix_power(means, layers)[-1]
    shares = [float(share) for share in shares_of(tokens, wide, layers)[-1]]
    assert shares == pytest.approx(expected.tolist())
    assert sum(shares_of(tokens, wide, layers)[-1]) == 1


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ((7, 3, 2), "inputs 3 to 7; its reach is 2 · (3 − 1) + 1 = 5."),
        ((7, 3, 2), "are 1/9, 2/9, 3/9, 2/9, 1/9."),
        # The first tokens have fewer to read, so theirs are other means.
        ((3, 2, 3), "are 4/8, 3/8, 1/8."),
        ((3, 1, 2), "input 3; its reach is 2 · (1 − 1) + 1 = 1."),
    ],
)
def test_it_says_what_the_last_token_reads(how, says):
    assert says in drawings.window_reach(*how).alt


def test_lines_are_lit_from_the_places_that_are_reached():
    svg = drawings.window_reach(7, 3, 2).svg()
    assert len(re.findall(r'class="accent-line" stroke-width="2.2"', svg)) == 3 + 9
    assert len(re.findall(r'<circle [^>]*class="accent"', svg)) == 1 + 3 + 5
