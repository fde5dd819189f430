"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.book_map import book_map
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.encoder_decoder import contexts, encoder_decoder
from attn_core.views.drawings.influence import influence
from attn_core.views.drawings.look_up import look_up, three_stages
from attn_core.views.drawings.overwritten import overwritten
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip

__all__ = [
    "Drawing",
    "Steps",
    "book_map",
    "contexts",
    "encoder_decoder",
    "influence",
    "look_up",
    "overwritten",
    "strip",
    "three_stages",
]
