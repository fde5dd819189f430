"""The fonts of the paper: the same on every machine, so that its pages are, too.

They come from pinned packages: Source Serif, Sans and Code (SIL Open Font License) for the text,
DejaVu, which matplotlib carries, for signs that they lack. Those of the formulas and of Chinese are
the site's. Chromium draws a variable font as shapes: each face is cut out of it first.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

QUOTES = "U+2018-2019, U+201C-201D"  # as wide as a character in Chinese, narrow in English


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


def cut(face: Face, characters: str, target: Path) -> set[str]:
    """Write a face with these characters and no others; returns those that it has."""
    package = importlib.util.find_spec(face.package).submodule_search_locations[0]
    options = subset.Options(hinting=False, layout_features=["*"], name_IDs=["*"])
    options.drop_tables += ["FFTM"]  # when FontForge has made it
    with subset.load_font(str(Path(package, face.file)), options) as font:
        known = set(map(chr, font.getBestCmap())) & set(characters)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(known))
        subsetter.subset(font)
        if face.axes:
            instancer.instantiateVariableFont(font, dict(face.axes), inplace=True)
        font.save(target)
    return known


def write(characters: str, site: Path, folder: Path) -> tuple[str, str]:
    """Write the fonts; returns their style sheet, and the characters that none of them has."""
    folder.mkdir(parents=True, exist_ok=True)
    rules, known = [], set()
    for number, face in enumerate(FACES):
        target = folder / f"{number}.ttf"
        known |= cut(face, characters, target)
        rules.append(
            f'@font-face {{ font-family: "{face.family}"; font-weight: {face.weight}; '
            f'font-style: {face.style}; src: url("{target.as_uri()}"); }}'
        )
    chinese = (site / "_static" / "noto-serif-sc.woff2").as_uri()
    rules.append(
        f'@font-face {{ font-family: "Han Quotes"; src: url("{chinese}"); '
        f"unicode-range: {QUOTES}; }}"
    )
    for file in ("stix-two-math.woff2", "noto-serif-sc.woff2"):
        with TTFont(site / "_static" / file) as font:
            known |= set(map(chr, font.getBestCmap()))
    lacking = {
        character for character in characters if character.isprintable() and not character.isspace()
    } - known
    return "\n".join(rules), "".join(sorted(lacking))
