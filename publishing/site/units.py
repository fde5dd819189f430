"""Keep a number and its unit on one line: 77 %, 98 MB, 42 ms.

In the line under a chapter's title the dots stay with the word Difficulty, and no line begins with
the point between two of its parts.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

UNIT = r"(?<=\d) (?=(?:%|[kMG]i?B|KB|bytes|ms|s|px)(?![\w%]))"
DOTS, POINT = r"^ (?=[●○]{3})", r" (?=· $)"  # a text begins and ends where bold words do
GAP = re.compile(f"{UNIT}|{DOTS}|{POINT}")
AS_TYPED = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def together(text: str) -> str:
    """
    >>> together("from 77 % to 14 %, 98 MB in 2 seconds").replace("\\u00a0", "~")
    'from 77~% to 14~%, 98~MB in 2 seconds'
    >>> together(" 40 minutes · ").replace("\\u00a0", "~"), together(" ●○○")[0] == "\\u00a0"
    (' 40 minutes~· ', True)
    """
    return GAP.sub("\u00a0", text)


class Together(SphinxPostTransform):
    default_priority = 900

    def run(self, **kwargs) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, AS_TYPED) and GAP.search(text):
                text.parent.replace(text, nodes.Text(together(text)))


def setup(app: Sphinx) -> dict:
    app.add_post_transform(Together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
