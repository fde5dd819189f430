"""Let a long name in the text go on in the next line of a narrow page after a point or a bracket.

Otherwise a browser breaks it anywhere, between `[0` and `.8`, or before a Chinese full stop.
"""

from __future__ import annotations

import re

from publishing.site.pages import rewriting

LONG = 14  # characters, from which a word of code may be broken
WORD = re.compile(rf'(?<=<span class="pre">)[^<]{{{LONG},}}(?=</span>)')
PLACE = re.compile(r"(?<=[/_([=])(?=[^\s/_()[\]=])|(?<=\.)(?=[A-Za-z_])")


def breakable(body: str) -> str:
    """
    >>> breakable('<span class="pre">sharpen(torch.tensor([0.8,</span> <span class="pre">t)</span>')
    '<span class="pre">sharpen(<wbr>torch.<wbr>tensor([<wbr>0.8,</span> <span class="pre">t)</span>'
    """
    return WORD.sub(lambda word: PLACE.sub("<wbr>", word[0]), body)


setup = rewriting(breakable)
