"""What is seen of a record: the explorer, the living printed tensor, the matplotlib picture."""

from attn_core.views.explorer import Explorer, explore, show
from attn_core.views.figure import Picture, figure

__all__ = ["Explorer", "Picture", "explore", "figure", "show"]
