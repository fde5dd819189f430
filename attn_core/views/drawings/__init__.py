"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.book_map import book_map
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.dropout import dropout, training_steps
from attn_core.views.drawings.encoder_decoder import contexts, encoder_decoder
from attn_core.views.drawings.heads import attended_words, heads
from attn_core.views.drawings.influence import influence
from attn_core.views.drawings.look_up import look_up, three_stages
from attn_core.views.drawings.masked_late import masked_late
from attn_core.views.drawings.masks import masks, next_words
from attn_core.views.drawings.memory import memory
from attn_core.views.drawings.overwritten import overwritten
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip

__all__ = [
    "Drawing",
    "Steps",
    "attended_words",
    "book_map",
    "contexts",
    "dropout",
    "encoder_decoder",
    "heads",
    "influence",
    "look_up",
    "masked_late",
    "masks",
    "memory",
    "next_words",
    "overwritten",
    "strip",
    "three_stages",
    "training_steps",
]
