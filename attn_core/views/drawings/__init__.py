"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.dropout import dropout, training_steps
from attn_core.views.drawings.heads import attended_words, heads
from attn_core.views.drawings.masked_late import masked_late
from attn_core.views.drawings.masks import masks, next_words
from attn_core.views.drawings.memory import memory
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip

__all__ = [
    "Drawing",
    "Steps",
    "attended_words",
    "dropout",
    "heads",
    "masked_late",
    "masks",
    "memory",
    "next_words",
    "strip",
    "training_steps",
]
