"""Keep a number and its unit on one line: 77 %, 98 MB, 42 ms."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

UNIT = re.compile(r"(?<=\d) (?=(?:%|[kMG]i?B|KB|bytes|ms|s|px)(?![\w%]))")
AS_TYPED = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def together(text: str) -> str:
    """
    >>> together("from 77 % to 14 %, 98 MB in 2 seconds").replace("\\u00a0", "~")
    'from 77~% to 14~%, 98~MB in 2 seconds'
    """
    return UNIT.sub("\u00a0", text)


class Together(SphinxPostTransform):
    default_priority = 900

    def run(self, **kwargs) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, AS_TYPED) and UNIT.search(text):
                text.parent.replace(text, nodes.Text(together(text)))


def setup(app: Sphinx) -> dict:
    app.add_post_transform(Together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
