"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.alignment import alignment
from attn_core.views.drawings.cache import prefill_decode
from attn_core.views.drawings.cross import cross_attention
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.layers import norm_places, two_layers
from attn_core.views.drawings.mistakes import mistaken_maps
from attn_core.views.drawings.one_pass import one_pass
from attn_core.views.drawings.paths import path_lengths
from attn_core.views.drawings.positions import position_waves
from attn_core.views.drawings.sizes import map_sizes
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip
from attn_core.views.drawings.transformer import transformer

__all__ = [
    "Drawing",
    "Steps",
    "alignment",
    "cross_attention",
    "map_sizes",
    "mistaken_maps",
    "norm_places",
    "one_pass",
    "path_lengths",
    "position_waves",
    "prefill_decode",
    "strip",
    "transformer",
    "two_layers",
]
