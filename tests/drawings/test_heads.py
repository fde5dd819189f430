"""Several heads: the maps of a layer, and what each head takes for one word."""

import re

import pytest
import torch

from attn_core import causal, toy
from attn_core.modules import MultiHeadAttention
from attn_core.views import drawings

WORDS, X = toy.journey()


def layer(**how):
    torch.manual_seed(123)
    return MultiHeadAttention(3, 4, num_heads=2, **how)


def test_both_maps_are_masked_as_the_layer_is():
    for keep, hidden in ((None, 0), (causal(), 2 * 15)):
        drawing = drawings.heads(layer(keep=keep), X, WORDS)
        assert len(re.findall(r'class="masked"', drawing.svg())) == hidden


def test_alt_has_the_weights_of_the_row():
    heads = layer(keep=causal())
    weights = heads.trace(X[None]).stage("weights")[0]
    alt = drawings.heads(heads, X, WORDS, query=1).alt
    for head in range(2):
        first, second = weights[head, 1, :2].tolist()
        assert f"{first:.2f} and {second:.2f} in head {head}" in alt


def test_a_word_is_as_dark_as_its_weight():
    row = torch.tensor([0.25, 0.6, 0.15])
    drawing = drawings.attended_words({"a": row}, ["it", "was", "wide"], query=0)
    shown = re.findall(r'class="more"[^>]*fill-opacity="([\d.]+)"', drawing.svg()) or re.findall(
        r'fill-opacity="([\d.]+)"', drawing.svg()
    )
    assert [float(n) for n in shown] == pytest.approx(row.tolist())
    assert drawing.alt == (
        "Shading shows what “it” takes from each word. In a, “it” takes most from “was”, 0.60."
    )


def test_a_long_sentence_goes_on_in_the_next_line_within_the_drawing():
    words = ["journey"] * 20
    drawing = drawings.attended_words({"a": torch.full((20,), 0.05)}, words, query=0)
    rects = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', drawing.svg())
    assert max(float(x) + float(wide) for x, _, wide in rects) <= drawing.width
    assert len({y for _, y, _ in rects[1:]}) > 1
