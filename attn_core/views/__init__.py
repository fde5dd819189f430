"""What is seen of a record: the explorer, the living printed tensor, the matplotlib picture."""

from attn_core.views.explorer import explore, show
from attn_core.views.figure import figure
from attn_core.views.picture import Picture
from attn_core.views.widget import Explorer

__all__ = ["Explorer", "Picture", "explore", "figure", "show"]
