"""What the modules and the translators say of input that does not fit."""

import pytest
import torch

from attn_core import causal
from attn_core.layers import ActivationDropout, DecoderLayer, PositionalEncoding
from attn_core.modules import MultiHeadAttention
from attn_core.transformer import Transformer
from attn_core.translators import recurrent, transformer
from tests.errors.test_attention_errors import keeping, refused, whole

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


LAYER = DecoderLayer(8, 2, 16)
TWICE = torch.zeros(2, 6, 8)
SQUARE = torch.zeros(6, 6, 8)
TABLES = (
    "keep must say whether its first axis is that of the sentences or of the heads, got {}: "
    "pass keep[:, None] for one table a sentence, or keep[None] for one a head"
)
ROWS = (
    "keep must say whether its rows are sentences or queries, as there are 6 of both, got {}: "
    "pass keep[:, None, None] for one row a sentence, or keep[None, None] for one a query"
)
AMBIGUOUS = {
    "as many heads": (lambda: HEADS(TWICE, keep=keeping(2, 6, 6)), TABLES.format((2, 6, 6))),
    "more sentences": (lambda: HEADS(X, keep=keeping(3, 1, 6)), TABLES.format((3, 1, 6))),
    "traced": (lambda: HEADS.trace(TWICE, keep=keeping(2, 6, 6)), TABLES.format((2, 6, 6))),
    "joined": (lambda: HEADS(X, keep=causal() & keeping(2, 6, 6)), TABLES.format((2, 6, 6))),
    "of a memory": (
        lambda: LAYER(TWICE, X[:2], memory_keep=keeping(2, 6, 6)), TABLES.format((2, 6, 6)),
    ),
    "a tokenizer's": (lambda: HEADS(SQUARE, keep=keeping(6, 6)), ROWS.format((6, 6))),
    "of a shorter memory": (
        lambda: HEADS(SQUARE, SQUARE[:, :4], keep=keeping(6, 4)), ROWS.format((6, 4)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_mask_that_can_be_read_in_two_ways(ask, message):
    refused(ask, ValueError, message)


@pytest.mark.parametrize("part", [HEADS, PositionalEncoding(8), ActivationDropout(0.5)])
def test_a_batch_is_a_tensor(part):
    refused(lambda: part([[1.0]]), TypeError, "x must be a torch tensor, got list")


MODEL = Transformer(5, 5, width=8, num_heads=2, hidden=8, num_layers=1)
SOURCE = torch.tensor([[3, 4]])
LEFT = torch.tensor([[True, True, True], [False, True, True]])
PAIR = torch.tensor([[1, 2, 3], [0, 3, 4]])
PLACES = PositionalEncoding(8, longest=6)
WHOLE = "positions must be whole numbers, got"
EACH = "positions must be one for each word, (6,) or (3, 6), got"
IN_TABLE = "positions must be at least 0 and below 6, got"
WHERE = (
    "{0}_positions must be given where {0}_keep hides the first word of a sentence, got None: "
    "after padding on the left pass (is_word.cumsum(1) - 1).clamp(0), or torch.arange(3) for words "
    "that stay in their places"
)
POSITIONS = {
    "text": (
        lambda: PLACES(X, "0"), TypeError, "positions must be a torch tensor, got str",
    ),
    "float": (lambda: PLACES(X, torch.zeros(6)), TypeError, f"{WHOLE} torch.float32"),
    "bool": (lambda: PLACES(X, keeping(6)), TypeError, f"{WHOLE} torch.bool"),
    "few": (lambda: PLACES(X, torch.arange(5)), ValueError, f"{EACH} (5,)"),
    "of another batch": (lambda: PLACES(X, whole(2, 6)), ValueError, f"{EACH} (2, 6)"),
    "negative": (lambda: PLACES(X, torch.arange(6) - 1), ValueError, f"{IN_TABLE} -1 to 4"),
    "large": (lambda: PLACES(X, torch.arange(6) + 1), ValueError, f"{IN_TABLE} 1 to 6"),
    "encoder": (
        lambda: MODEL.encode(PAIR, LEFT[:, None, None]), ValueError, WHERE.format("source"),
    ),
    "one mask": (lambda: MODEL.encode(PAIR, LEFT[1]), ValueError, WHERE.format("source")),
    "decoder": (
        lambda: MODEL(PAIR, PAIR, target_keep=causal() & LEFT[:, None, None]), ValueError,
        WHERE.format("target"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "kind", "message"), POSITIONS.values(), ids=POSITIONS)
def test_positions(ask, kind, message):
    refused(ask, kind, message)


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
    "two sentences": (
        lambda: MODEL.generate(PAIR, start=1, end=2),
        "source must be one sentence [1, S], got (2, 3)",
    ),
    "words without a batch": (
        lambda: MODEL.generate(PAIR[0], start=1, end=2),
        "source must be one sentence [1, S], got (3,)",
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
