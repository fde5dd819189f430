"""Write the theme's icons into the pages as drawings, and ship a font of those in style sheets.

The theme names an icon by its class, and draws it with fontawesome.js, 1,500 KB for a dozen of
them. Here each is an outline of the font in the pinned package pydata-sphinx-theme: Font Awesome
Free (SIL Open Font License 1.1), 1,400 icons in 156 KB. The style sheets name by their character
those that the pages can show: the font is cut down to them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pydata_sphinx_theme
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from publishing.site.font_subset import write_subset
from publishing.site.pages import own_pages

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
SHEET = THEME / "styles" / "pydata-sphinx-theme.css"
FONT = Path("vendor", "fontawesome", "webfonts", "fa-solid-900.woff2")
NAMED = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\(\w+)"\}')
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-solid\b[^"]*)"([^>]*)></\1>')
# Of the characters that Unicode leaves to fonts, written out or by their number.
CHARACTER = re.compile(r"[\ue000-\uf8ff]|\\([ef][0-9a-f]{3})\b")
TOP, HIGH = 448, 512  # of the box that every icon stands in, above the baseline


@cache
def letters() -> dict[str, str]:
    """The letter that the style sheet gives to each icon's class.

    >>> ascii(letters()["fa-sun"])
    "'\\\\uf185'"
    """
    rules = NAMED.findall(SHEET.read_text(encoding="utf-8"))
    return {
        name: chr(int(code, 16))
        for names, code in rules
        for name in re.findall(r"fa-[\w-]+", names)
    }


@cache
def font() -> TTFont:
    return TTFont(THEME / FONT)


@cache
def drawing(letter: str) -> str:
    """The outline of a letter as an SVG element.

    >>> drawing(letters()["fa-angle-left"])[:51]
    '<svg viewBox="0 0 320 512"><path fill="currentColor'
    """
    glyphs = font().getGlyphSet()
    glyph = glyphs[font().getBestCmap()[ord(letter)]]
    pen = SVGPathPen(glyphs, ntos=lambda number: f"{number:g}")
    glyph.draw(TransformPen(pen, (1, 0, 0, -1, 0, TOP)))
    path = f'<path fill="currentColor" d="{pen.getCommands()}"/>'
    return f'<svg viewBox="0 0 {glyph.width} {HIGH}">{path}</svg>'


def drawn(icon: re.Match) -> str:
    """The drawing for `<i class="fa-solid fa-sun"></i>`, which keeps its other classes."""
    classes = [name for name in icon[2].split() if name != "fa-solid"]
    known = [name for name in classes if name in letters()]
    if len(known) != 1:
        raise ExtensionError(f"an icon must name one of the theme's font, got {icon[0]}")
    attributes = f'class="theme-icon {" ".join(classes)}"{icon[3]} aria-hidden="true"'
    return drawing(letters()[known[0]]).replace("<svg", f"<svg {attributes}", 1)


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    for path in own_pages(app.outdir):
        page = path.read_text(encoding="utf-8")
        if (new := ICON.sub(drawn, page)) != page:
            path.write_text(new, encoding="utf-8")


def named_in(sheet: str) -> set[str]:
    """
    >>> [ascii(icon) for icon in named_in('.fa-sun::before{content:"\\\\f185"}')]
    ["'\\\\uf185'"]
    """
    return {chr(int(match[1], 16)) if match[1] else match[0] for match in CHARACTER.finditer(sheet)}


def write_font(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in (static / FONT.parent).iterdir():
        path.unlink()
    sheets = (path.read_text(encoding="utf-8") for path in static.rglob("*.css"))
    # What the font lacks belongs to the fonts of brands, of which the book shows none.
    write_subset(THEME / FONT, static / FONT, named_in("".join(sheets)))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", write, priority=600)  # before used_styles reads the classes
    app.connect("build-finished", write_font, priority=800)  # after used_styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
