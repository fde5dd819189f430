"""Ship a font for the formulas.

Browsers draw MathML with a font that has a MATH table, without it brackets and roots do not
stretch, and many machines have none. The pinned package ziamath carries STIX Two Math (SIL Open
Font License 1.1); the build cuts it down to the signs that formulas use and writes it out as WOFF.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx

LATIN_GREEK = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x300, 0x310), *range(0x391, 0x3F6)]
PUNCTUATION_LETTERS = [*range(0x2010, 0x2050), *range(0x20D0, 0x20E0), *range(0x2100, 0x2150)]
ARROWS_OPERATORS = [*range(0x2190, 0x21D6), *range(0x2200, 0x22FF)]
BRACKETS = [*range(0x2308, 0x230C), *range(0x23B4, 0x23E2), *range(0x27E6, 0x27EC)]
# Bold and italic, script and Fraktur, double-struck, Greek italic.
ALPHABETS = [
    *range(0x1D400, 0x1D468),
    *range(0x1D49C, 0x1D504),
    *range(0x1D538, 0x1D56C),
    *range(0x1D6A8, 0x1D71C),
]


def write_font(target: Path) -> None:
    package = Path(importlib.util.find_spec("ziamath").origin).parent
    options = subset.Options()
    options.flavor = "woff"
    options.hinting = False
    # Smaller forms in scripts, dotless i under a hat, flatter accents over capitals.
    options.layout_features = ["ssty", "dtls", "flac"]
    font = subset.load_font(package / "fonts" / "STIXTwoMath-Regular.ttf", options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(
        unicodes=LATIN_GREEK + PUNCTUATION_LETTERS + ARROWS_OPERATORS + BRACKETS + ALPHABETS
    )
    subsetter.subset(font)
    subset.save_font(font, target, options)


def provide(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "math_font"
    target = folder / "stix-two-math.woff"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_font(target)
    config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", provide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
