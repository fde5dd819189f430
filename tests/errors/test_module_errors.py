"""What the modules and the translators say of input that does not fit."""

import pytest
import torch

from attn_core.layers import ActivationDropout, DecoderLayer, PositionalEncoding
from attn_core.modules import MultiHeadAttention
from attn_core.transformer import Transformer
from attn_core.translators import recurrent, transformer
from tests.errors.test_attention_errors import refused

HEADS = MultiHeadAttention(8, 8, 2)
X = torch.zeros(3, 6, 8)
AXES = "must have 3 axes [B, T, E], got"
RANKS = {
    "4 axes": (lambda: HEADS.trace(X[None], X[None]), f"x {AXES} (1, 3, 6, 8)"),
    "4 axes, self": (lambda: HEADS(X[None]), f"x {AXES} (1, 3, 6, 8)"),
    "2 axes": (lambda: HEADS(X[0]), f"x {AXES} (6, 8)"),
    "2 axes, one head": (
        lambda: MultiHeadAttention(8, 8, 1).trace(X[0], X[0]), f"x {AXES} (6, 8)",
    ),
    "memory": (lambda: HEADS.split_heads(X, X[0]), f"memory {AXES} (6, 8)"),
    "memory of a layer": (
        lambda: DecoderLayer(8, 2, 16)(X, X[None]), f"memory {AXES} (1, 3, 6, 8)",
    ),
    "width": (lambda: HEADS(X[..., :5]), "x must have 8 numbers a token, got (3, 6, 5)"),
    "width of the memory": (
        lambda: HEADS(X, X[..., :1]), "memory must have 8 numbers a token, got (3, 6, 1)",
    ),
    "places": (lambda: PositionalEncoding(4)(torch.zeros(1, 4)), f"x {AXES} (1, 4)"),
    "places of one number": (
        lambda: PositionalEncoding(8)(X[..., :1]),
        "x must have 8 numbers a token, got (3, 6, 1)",
    ),
    "dropout": (lambda: ActivationDropout(0.5)(torch.zeros(3, 4)), f"x {AXES} (3, 4)"),
    "dropout at rest": (
        lambda: ActivationDropout(0.5).eval()(torch.zeros(3, 4)), f"x {AXES} (3, 4)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), RANKS.values(), ids=RANKS)
def test_axes_of_a_batch(ask, message):
    refused(ask, ValueError, message)


@pytest.mark.parametrize("part", [HEADS, PositionalEncoding(8), ActivationDropout(0.5)])
def test_a_batch_is_a_tensor(part):
    refused(lambda: part([[1.0]]), TypeError, "x must be a torch tensor, got list")


MODEL = Transformer(5, 5, width=8, num_heads=2, hidden=8, num_layers=1)
SOURCE = torch.tensor([[3, 4]])
FIXED, PAPER = recurrent.stored(attends=False), transformer.stored()
TOM = ["Tom", "chases", "Jerry"]
EMPTY = "must have at least one word, got none"
LONGEST = "longest must be at least 1, got 0"
WRITTEN = {
    "transformer": (lambda: transformer.translate(PAPER, []), f"english {EMPTY}"),
    "transformer's alignment": (
        lambda: transformer.alignment(PAPER, [], TOM), f"english {EMPTY}",
    ),
    "nothing written": (lambda: transformer.alignment(PAPER, TOM, []), f"chinese {EMPTY}"),
    "translator": (lambda: FIXED.translate([]), f"english {EMPTY}"),
    "one of several": (lambda: FIXED.translate_all([TOM, []]), f"english {EMPTY}"),
    "translator's alignment": (lambda: FIXED.alignment([], TOM), f"english {EMPTY}"),
    "translator wrote nothing": (lambda: FIXED.alignment(TOM, []), f"chinese {EMPTY}"),
    "no word to write": (
        lambda: MODEL.generate(SOURCE, start=1, end=2, longest=0), LONGEST,
    ),
    "translator may write none": (lambda: FIXED.translate(TOM, longest=0), LONGEST),
    "nor side by side": (lambda: FIXED.translate_all([TOM], longest=0), LONGEST),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), WRITTEN.values(), ids=WRITTEN)
def test_sentences(ask, message):
    refused(ask, ValueError, message)


def test_longest_is_a_whole_number():
    wanted = "longest must be a whole number, got 2.5"
    refused(lambda: MODEL.generate(SOURCE, start=1, end=2, longest=2.5), TypeError, wanted)
    refused(lambda: FIXED.translate(TOM, longest=2.5), TypeError, wanted)
