"""What the modules and the translators say of input that does not fit."""

import torch

from attn_core import causal, padding
from attn_core.layers import ActivationDropout, DecoderLayer, PositionalEncoding
from attn_core.modules import MultiHeadAttention
from attn_core.transformer import Transformer
from attn_core.translators import recurrent, transformer
from tests.errors.sentences import refused, sentences
from tests.errors.test_attention_errors import keeping, whole

HEADS = MultiHeadAttention(8, 8, 2)
X = torch.zeros(3, 6, 8)
AXES = "must have 3 axes [B, T, E], got"
RANKS = {
    f"x {AXES} (1, 3, 6, 8)": [lambda: HEADS.trace(X[None], X[None]), lambda: HEADS(X[None])],
    f"x {AXES} (6, 8)":
        [lambda: HEADS(X[0]), lambda: MultiHeadAttention(8, 8, 1).trace(X[0], X[0])],
    f"memory {AXES} (6, 8)": lambda: HEADS.split_heads(X, X[0]),
    f"memory {AXES} (1, 3, 6, 8)": lambda: DecoderLayer(8, 2, 16)(X, X[None]),
    "x must have 8 numbers a token, got (3, 6, 5)": lambda: HEADS(X[..., :5]),
    "memory must have 8 numbers a token, got (3, 6, 1)": lambda: HEADS(X, X[..., :1]),
    "x must have 8 numbers a token, got (3, 6, 1)": lambda: PositionalEncoding(8)(X[..., :1]),
    f"x {AXES} (1, 4)": lambda: PositionalEncoding(4)(torch.zeros(1, 4)),
    f"x {AXES} (3, 4)": [
        lambda: ActivationDropout(0.5)(torch.zeros(3, 4)),
        lambda: ActivationDropout(0.5).eval()(torch.zeros(3, 4)),
    ],
}  # fmt: skip

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
    TABLES.format((2, 6, 6)): [
        lambda: HEADS(TWICE, keep=keeping(2, 6, 6)),
        lambda: HEADS.trace(TWICE, keep=keeping(2, 6, 6)),
        lambda: HEADS(X, keep=causal() & keeping(2, 6, 6)),
        lambda: LAYER(TWICE, X[:2], memory_keep=keeping(2, 6, 6)),
    ],
    TABLES.format((3, 1, 6)): lambda: HEADS(X, keep=keeping(3, 1, 6)),
    ROWS.format((6, 6)): lambda: HEADS(SQUARE, keep=keeping(6, 6)),
    ROWS.format((6, 4)): lambda: HEADS(SQUARE, SQUARE[:, :4], keep=keeping(6, 4)),
}

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
    f"{EACH} (5,)": lambda: PLACES(X, torch.arange(5)),
    f"{EACH} (2, 6)": lambda: PLACES(X, whole(2, 6)),
    f"{IN_TABLE} -1 to 4": lambda: PLACES(X, torch.arange(6) - 1),
    f"{IN_TABLE} 1 to 6": lambda: PLACES(X, torch.arange(6) + 1),
    WHERE.format("source"):
        [
            lambda: MODEL.encode(PAIR, LEFT[:, None, None]),
            lambda: MODEL.encode(PAIR, LEFT[1]),
            lambda: MODEL.encode(PAIR, padding(starts=[0, 1])),
        ],
    WHERE.format("target"):
        lambda: MODEL(PAIR, PAIR, target_keep=causal() & LEFT[:, None, None]),
}  # fmt: skip

FIXED, PAPER = recurrent.stored(attends=False), transformer.stored()
TOM = ["Tom", "chases", "Jerry"]
EMPTY = "must have at least one word, got none"
WRITTEN = {
    f"english {EMPTY}": [
        lambda: transformer.translate(PAPER, []),
        lambda: transformer.alignment(PAPER, [], TOM),
        lambda: FIXED.translate([]),
        lambda: FIXED.translate_all([TOM, []]),
        lambda: FIXED.alignment([], TOM),
    ],
    f"chinese {EMPTY}":
        [lambda: transformer.alignment(PAPER, TOM, []), lambda: FIXED.alignment(TOM, [])],
    "longest must be at least 1, got 0": [
        lambda: MODEL.generate(SOURCE, start=1, end=2, longest=0),
        lambda: FIXED.translate(TOM, longest=0),
        lambda: FIXED.translate_all([TOM], longest=0),
    ],
    "source must be one sentence [1, S], got (2, 3)": lambda: MODEL.generate(PAIR, start=1, end=2),
    "source must be one sentence [1, S], got (3,)":
        lambda: MODEL.generate(PAIR[0], start=1, end=2),
}  # fmt: skip
KINDS = {
    "x must be a torch tensor, got list": [
        lambda: HEADS([[1.0]]),
        lambda: PositionalEncoding(8)([[1.0]]),
        lambda: ActivationDropout(0.5)([[1.0]]),
    ],
    "positions must be a torch tensor, got str": lambda: PLACES(X, "0"),
    f"{WHOLE} torch.float32": lambda: PLACES(X, torch.zeros(6)),
    f"{WHOLE} torch.bool": lambda: PLACES(X, keeping(6)),
    "longest must be a whole number, got 2.5": [
        lambda: MODEL.generate(SOURCE, start=1, end=2, longest=2.5),
        lambda: FIXED.translate(TOM, longest=2.5),
    ],
}


@sentences(
    (ValueError, RANKS),
    (ValueError, AMBIGUOUS),
    (ValueError, POSITIONS),
    (ValueError, WRITTEN),
    (TypeError, KINDS),
)
def test_what_does_not_fit_is_said(given, kind, sentence):
    refused(given, kind, sentence)
