"""The fonts of the paper: the same on every machine, so that its pages are, too.

They come from pinned packages: Source Serif, Sans and Code (SIL Open Font License) for the text,
DejaVu, which matplotlib carries, for signs that they lack. Those of the formulas and of Chinese are
the site's. Chromium embeds only static TrueType fonts as such and draws others as shapes without a
name (Type 3), so each face is cut out of its variable font, and the Chinese one gets TrueType's
curves.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from attn_core.views.pixels import file_of

HAN = "U+3000-303F, U+3400-9FFF, U+FF00-FFEF"  # as in site.css
QUOTES = "U+2018-2019, U+201C-201D"  # as wide as a character in Chinese, narrow in English

FIGURES = "lnum", "tnum"  # what paper.css asks for beside the usual features

CURVES = 1.0  # units of a font's thousand: how far a curve may be from that of the original


@dataclass(frozen=True)
class Face:
    """One style of a family, and where it comes from: a package, a file in it, its axes."""

    family: str
    package: str
    file: str
    weight: int = 400
    style: str = "normal"
    axes: tuple[tuple[str, float], ...] = ()


def source(family: str, package: str, name: str, weights: dict[int, int], **axes: float):
    """Upright and italic faces; `weights` says which weight of the font stands for CSS's."""
    variable = ",".join([*axes, "wght"])
    for weight, cut in weights.items():
        for style, suffix in (("normal", ""), ("italic", "-Italic")):
            file = f"files/{name}{suffix}[{variable}].ttf"
            where = (*axes.items(), ("wght", cut))
            yield Face(family, package, file, weight, style, where)


FACES = (
    *source(
        "Paper Serif", "fontpkg_source_serif_4", "SourceSerif4", {400: 400, 700: 650}, opsz=11.0
    ),
    *source("Paper Sans", "fontpkg_source_sans_3", "SourceSans3", {400: 400, 600: 600}),
    *source("Paper Mono", "fontpkg_source_code_pro", "SourceCodePro", {400: 400, 700: 600}),
    Face("Paper Signs", "matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf"),
    Face("Paper Signs", "matplotlib", "mpl-data/fonts/ttf/DejaVuSans-Bold.ttf", 700),
    Face("Paper Mono Signs", "matplotlib", "mpl-data/fonts/ttf/DejaVuSansMono.ttf"),
)


def cut(face: Face, characters: frozenset[str], target: Path) -> set[str]:
    """Write a face with these characters and no others; returns those that it has."""
    options = subset.Options(hinting=False, name_IDs=["*"])
    options.layout_features = [*options.layout_features, *FIGURES]
    options.drop_tables += ["FFTM"]  # when FontForge has made it
    with subset.load_font(str(file_of(face.package, face.file)), options) as font:
        known = set(map(chr, font.getBestCmap())) & characters
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(known))
        subsetter.subset(font)
        if face.axes:
            instancer.instantiateVariableFont(font, dict(face.axes), inplace=True)
        font.save(target)
    return known


def in_truetype(source: Path, target: Path) -> None:
    """Write a font whose outlines are cubic curves (CFF) with quadratic ones (TrueType)."""
    with TTFont(source, recalcTimestamp=False) as font:
        outlines, glyphs = font.getGlyphSet(), {}
        for name in font.getGlyphOrder():
            pen = TTGlyphPen(outlines)
            outlines[name].draw(Cu2QuPen(pen, CURVES, reverse_direction=True))
            glyphs[name] = pen.glyph()
        for table in ("CFF ", "VORG"):
            del font[table]
        builder = FontBuilder(font=font)
        builder.isTTF = True
        builder.setupGlyf(glyphs)
        builder.setupMaxp()
        for name, glyph in glyphs.items():
            font["hmtx"][name] = font["hmtx"][name][0], getattr(glyph, "xMin", 0)
        font["post"].formatType = 3.0
        font.flavor, font.sfntVersion = None, "\0\1\0\0"
        font.save(target)


def of_site(site: Path, characters: set[str]) -> tuple[str, set[str]]:
    """The style sheet of the fonts that print these characters of a language's site, and those they
    have.

    The fonts are cut once for all documents of a site: that takes longer than to print a chapter.
    """
    return written(site, frozenset(characters | characters_of(site)))


@cache
def characters_of(site: Path) -> set[str]:
    return {sign for page in site.rglob("*.html") for sign in page.read_text(encoding="utf-8")}


@cache
def written(site: Path, characters: frozenset[str]) -> tuple[str, set[str]]:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rules, known = [], set()
    for number, face in enumerate(FACES):
        target = folder / f"{number}.ttf"
        known |= cut(face, characters, target)
        rules.append(
            f'@font-face {{ font-family: "{face.family}"; font-weight: {face.weight}; '
            f'font-style: {face.style}; src: url("{target.as_uri()}"); }}'
        )
    chinese = folder / "chinese.ttf"
    in_truetype(site / "_static" / "noto-serif-sc.woff2", chinese)
    for family, only in (("Book Han", HAN), ("Han Quotes", QUOTES)):
        rules.append(
            f'@font-face {{ font-family: "{family}"; src: url("{chinese.as_uri()}"); '
            f"unicode-range: {only}; }}"
        )
    for file in ("stix-two-math.woff2", "noto-serif-sc.woff2"):
        with TTFont(site / "_static" / file) as font:
            known |= set(map(chr, font.getBestCmap()))
    return "\n".join(rules), known


def lacking(characters: set[str], known: set[str]) -> str:
    """The characters that show something and that no font has."""
    shown = {sign for sign in characters if sign.isprintable() and not sign.isspace()}
    return "".join(sorted(shown - known))
