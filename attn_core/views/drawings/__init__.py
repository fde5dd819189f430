"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.alignment import alignment
from attn_core.views.drawings.book_map import book_map
from attn_core.views.drawings.byte_pairs import byte_pairs
from attn_core.views.drawings.cache import prefill_decode
from attn_core.views.drawings.chain_rule import chain_rule
from attn_core.views.drawings.cross import cross_attention
from attn_core.views.drawings.dot_product import dot_product, warmup_dot_product
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.dropout import dropout, training_steps
from attn_core.views.drawings.encoder_decoder import contexts, encoder_decoder
from attn_core.views.drawings.explorer_parts import explorer_parts
from attn_core.views.drawings.fast_memory import fast_memory
from attn_core.views.drawings.film_strip import film_strip
from attn_core.views.drawings.gradient_arcs import gradient_arcs
from attn_core.views.drawings.grouped_heads import grouped_heads
from attn_core.views.drawings.heads import attended_words, heads
from attn_core.views.drawings.influence import influence
from attn_core.views.drawings.layers import norm_places, two_layers
from attn_core.views.drawings.look_up import look_up, three_stages
from attn_core.views.drawings.masked_late import masked_late
from attn_core.views.drawings.masks import masks, next_words
from attn_core.views.drawings.masks_added import masks_added
from attn_core.views.drawings.memory import memory
from attn_core.views.drawings.mistakes import mistaken_maps
from attn_core.views.drawings.one_pass import one_pass
from attn_core.views.drawings.one_stream import one_stream
from attn_core.views.drawings.overwritten import overwritten
from attn_core.views.drawings.pass_times import pass_times
from attn_core.views.drawings.paths import path_lengths
from attn_core.views.drawings.positions import position_waves
from attn_core.views.drawings.query_key_value import query_key_value
from attn_core.views.drawings.rotations import rotations
from attn_core.views.drawings.row_shares import row_shares
from attn_core.views.drawings.sampled import sampled
from attn_core.views.drawings.score_spread import score_spread
from attn_core.views.drawings.self_attention_row import self_attention_row
from attn_core.views.drawings.silu_gate import silu_gate
from attn_core.views.drawings.sink_gate import sink_gate
from attn_core.views.drawings.sizes import map_sizes
from attn_core.views.drawings.softmax_shares import softmax_shares, warmup_softmax
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip
from attn_core.views.drawings.transformer import transformer
from attn_core.views.drawings.triangle import triangle
from attn_core.views.drawings.two_arrows import two_arrows
from attn_core.views.drawings.two_norms import two_norms
from attn_core.views.drawings.window_reach import window_reach
from attn_core.views.drawings.within_reach import within_reach

__all__ = [
    "Drawing",
    "Steps",
    "alignment",
    "attended_words",
    "book_map",
    "byte_pairs",
    "chain_rule",
    "contexts",
    "cross_attention",
    "dot_product",
    "dropout",
    "encoder_decoder",
    "explorer_parts",
    "fast_memory",
    "film_strip",
    "gradient_arcs",
    "grouped_heads",
    "heads",
    "influence",
    "look_up",
    "map_sizes",
    "masked_late",
    "masks",
    "masks_added",
    "memory",
    "mistaken_maps",
    "next_words",
    "norm_places",
    "one_pass",
    "one_stream",
    "overwritten",
    "pass_times",
    "path_lengths",
    "position_waves",
    "prefill_decode",
    "query_key_value",
    "rotations",
    "row_shares",
    "sampled",
    "score_spread",
    "self_attention_row",
    "silu_gate",
    "sink_gate",
    "softmax_shares",
    "strip",
    "three_stages",
    "training_steps",
    "transformer",
    "triangle",
    "two_arrows",
    "two_layers",
    "two_norms",
    "warmup_dot_product",
    "warmup_softmax",
    "window_reach",
    "within_reach",
]
