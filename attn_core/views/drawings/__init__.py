"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.dot_product import dot_product, warmup_dot_product
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.query_key_value import query_key_value
from attn_core.views.drawings.score_spread import score_spread
from attn_core.views.drawings.self_attention_row import self_attention_row
from attn_core.views.drawings.softmax_shares import softmax_shares, warmup_softmax
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip

__all__ = [
    "Drawing",
    "Steps",
    "dot_product",
    "query_key_value",
    "score_spread",
    "self_attention_row",
    "softmax_shares",
    "strip",
    "warmup_dot_product",
    "warmup_softmax",
]
