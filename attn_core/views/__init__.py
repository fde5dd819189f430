"""What is seen of a record: the explorer, the living printed tensor, the matplotlib picture.

And the box that says which mistake made the numbers that are put into it.
"""

from attn_core.views.explorer import explore, show
from attn_core.views.figure import figure
from attn_core.views.paste import paste
from attn_core.views.picture import Picture
from attn_core.views.widget import Explorer

__all__ = ["Explorer", "Picture", "explore", "figure", "paste", "show"]
