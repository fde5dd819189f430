"""What the drawing of a dot product says: true lengths, true angles, true shadows."""

import math
import re

import pytest
import torch

from attn_core import toy
from attn_core.views import drawings

WORDS, X = toy.journey()


def arrowheads(svg):
    """Where each arrow ends, in their order."""
    paths = re.findall(r'<path d="M([-\d.]+),([-\d.]+) L[^"]*Z" class="(\w+)"', svg)
    return [(float(x), float(y), ink) for x, y, ink in paths]


def test_the_score_stands_in_it():
    drawing = drawings.dot_product(X[1], X[0], ("journey", "Your"))
    score = f"{X[1] @ X[0]:.4f}"
    assert f"dot product, {score}." in drawing.alt
    assert f"= {score}" in drawing.svg()


@pytest.mark.parametrize("key", [0, 3, 4, 5])
def test_lengths_and_angle_are_true(key):
    drawing = drawings.dot_product(X[1], X[key], ("journey", WORDS[key]))
    (long_x, ground, _), (x, y, _), *_ = arrowheads(drawing.svg())
    start = 24
    query, other = X[1].double(), X[key].double()
    unit = (long_x - start) / query.norm().item()
    assert math.dist((start, ground), (x, y)) == pytest.approx(other.norm().item() * unit, rel=0.01)
    shadow = (query @ other / query.norm()).item()
    assert x - start == pytest.approx(shadow * unit, abs=0.5)


def test_an_opposite_arrow_throws_its_shadow_back():
    drawing = drawings.dot_product(torch.tensor([2.0, 0.0]), torch.tensor([-1.0, 1.0]), "ab")
    assert "has the length −1, and −1 times 2.0000 is the dot product, −2." in drawing.alt
    (long_x, ground, _), (x, y, _), *_ = arrowheads(drawing.svg())
    assert 0 < x < long_x
    assert x - (x + (long_x - x) / 3) == pytest.approx(-(ground - y), abs=0.5)


def test_the_warmup_has_the_numbers_of_its_page():
    assert "is the dot product, 3." in drawings.warmup_dot_product().alt
