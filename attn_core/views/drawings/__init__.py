"""Drawings: one idea each, made from the numbers that it is about.

They are SVG: text stays text, and one file is light or dark as its reader is.
"""

from attn_core.views.drawings.book_map import book_map
from attn_core.views.drawings.drawing import Drawing
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import strip

__all__ = ["Drawing", "Steps", "book_map", "strip"]
