"""Ship a font for the formulas.

Browsers draw MathML with a font that has a MATH table, without it brackets and roots do not
stretch, and many machines have none. The pinned package ziamath carries STIX Two Math (SIL Open
Font License 1.1); the build cuts it down to the signs that the formulas of its pages have.
"""

from __future__ import annotations

import html
import importlib.util
import re
import unicodedata
from pathlib import Path

from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util import logging

from publishing.site.font_subset import characters_of, write_subset
from publishing.site.han_font import is_chinese
from publishing.site.pages import own_pages

logger = logging.getLogger(__name__)

FONT = "stix-two-math.woff2"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
IDENTIFIER = re.compile(r"<mi(?: [^>]*)?>([^<]+)</mi>")
# Signs that browsers draw without being written, or in the place of one that is.
UNWRITTEN = {"√", "−", "\u00a0"}
# Smaller forms in scripts, dotless i under a hat, flatter accents over capitals.
FEATURES = ("ssty", "dtls", "flac")

# By one step of its decomposition: in two, both thetas are one letter, and both epsilons.
ITALIC = {
    chr(int(unicodedata.decomposition(letter).split()[-1], 16)): letter
    for letter in [*map(chr, range(0x1D434, 0x1D468)), *map(chr, range(0x1D6A4, 0x1D71C)), "ℎ"]
    if unicodedata.name(letter, "").startswith(("MATHEMATICAL ITALIC", "PLANCK"))
}


def signs(page: str) -> set[str]:
    """What a page's formulas are drawn with: a letter that stands alone is slanted, and Chinese
    words in a formula have the font of the text.

    >>> sorted(signs("<math><mi>h</mi><mo>=</mo><mi>sin</mi></math> x"))
    ['=', 'h', 'i', 'n', 's', 'ℎ']
    """
    characters = set()
    for formula in FORMULA.findall(page):
        names = {html.unescape(name).strip() for name in IDENTIFIER.findall(formula)}
        characters |= {ITALIC[name] for name in names if name in ITALIC}
        characters |= set(html.unescape(TAG.sub("", formula)))
    return {sign for sign in characters if not sign.isspace() and not is_chinese(sign)}


def keep_small_root(font: TTFont) -> None:
    """Leave one size of the root's sign, so that no blank follows a root.

    Chromium makes each root as wide as the widest sign that the font has for it. `formulas` refuses
    what needs a taller one.
    """
    variants = font["MATH"].table.MathVariants
    place = variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord("√")])
    root = variants.VertGlyphConstruction[place]
    root.MathGlyphVariantRecord = root.MathGlyphVariantRecord[:1]
    root.GlyphAssembly = None


def write_font(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    folder, target = Path(app.outdir), Path(app.outdir) / "_static" / FONT
    characters = set(UNWRITTEN)
    for path in own_pages(folder):
        characters |= signs(path.read_text(encoding="utf-8"))
    if target.exists() and characters <= characters_of(target):
        return
    source = Path(importlib.util.find_spec("ziamath").origin).parent / "fonts"
    font = source / "STIXTwoMath-Regular.ttf"
    if lacking := write_subset(font, target, characters, FEATURES, keep_small_root):
        logger.warning("the font of the formulas has no sign for %s", " ".join(lacking))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", write_font, priority=600)  # after the slides are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
