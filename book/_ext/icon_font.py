"""Ship the theme's icons as a font of those that are in use.

The pinned package pydata-sphinx-theme carries Font Awesome Free (its fonts: SIL Open Font License
1.1), 1,400 icons in 156 KB. The style sheets name by their character those that the pages can show.
"""

from __future__ import annotations

import re
from pathlib import Path

from font_subset import write_subset
from inline_icons import FONT, THEME
from sphinx.application import Sphinx

# Of the characters that Unicode leaves to fonts, written out or by their number.
ICON = re.compile(r"[\ue000-\uf8ff]|\\([ef][0-9a-f]{3})\b")


def icons(sheet: str) -> set[str]:
    """
    >>> [ascii(icon) for icon in icons('.fa-sun::before{content:"\\\\f185"}')]
    ["'\\\\uf185'"]
    """
    return {chr(int(match[1], 16)) if match[1] else match[0] for match in ICON.finditer(sheet)}


def write_font(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in (static / FONT.parent).iterdir():
        path.unlink()
    sheets = (path.read_text(encoding="utf-8") for path in static.rglob("*.css"))
    # What the font lacks belongs to the fonts of brands, of which the book shows none.
    write_subset(THEME / FONT, static / FONT, icons("".join(sheets)))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", write_font, priority=800)  # after used_styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
