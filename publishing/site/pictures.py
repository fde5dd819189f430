"""The pictures of cells' outputs load when a reader comes near, and keep their place until then.

Their size comes as a style, whose height would stay where a phone makes the width smaller; as
attributes it is a shape.
"""

from __future__ import annotations

import re

from publishing.site.pages import rewriting

SIZED = re.compile(r'(<img [^>]*)style="width: (\d+)px; height: (\d+)px;"')


def at_leisure(body: str) -> str:
    """
    >>> at_leisure('<img src="a.png" style="width: 30px; height: 20px;" />')
    '<img src="a.png" width="30" height="20" loading="lazy" />'
    """
    return SIZED.sub(r'\1width="\2" height="\3" loading="lazy"', body)


setup = rewriting(at_leisure)
