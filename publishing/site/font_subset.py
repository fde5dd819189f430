"""Cut a font down to the characters that are needed, as WOFF2."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of each table


def write_subset(
    source: Path,
    target: Path,
    characters: Iterable[str],
    features: Sequence[str] = (),
    change: Callable[[TTFont], None] = lambda font: None,
) -> str:
    """Write the font; returns the characters that the source lacks.

    change: what else is to change in the font, before it is cut down.
    """
    options = subset.Options()
    options.flavor = "woff2" if target.suffix == ".woff2" else None
    options.hinting = False
    options.layout_features = list(features)
    options.name_IDs = ["*"]  # with the licence
    font = subset.load_font(source, options)
    change(font)
    wanted = set(characters)
    lacking = wanted - set(map(chr, font.getBestCmap()))
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(wanted - lacking))
    subsetter.subset(font)
    target.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, target, options)
    return "".join(sorted(lacking))


def characters_of(font: Path) -> set[str]:
    """The characters that a font can draw."""
    with TTFont(font) as opened:
        return set(map(chr, opened.getBestCmap()))
