"""The fonts of pictures: matplotlib's own, and for Chinese one from a package."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from matplotlib import font_manager

from attn_core.views.pixels import LATIN, cjk_file, needs_cjk


def font_families(text: str) -> list[str]:
    """matplotlib's own font, and for Chinese one from a package rather than from the machine."""
    return [LATIN, *([cjk_font()] if needs_cjk(text) and cjk_font() else [])]


@contextmanager
def boxes_for_what_is_missing() -> Iterator[None]:
    """A character that no font here has is drawn as a box, without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


@cache
def weights_of(family: str) -> set[int | str]:
    return {font.weight for font in font_manager.fontManager.ttflist if font.name == family}


def has_bold(families: list[str]) -> bool:
    """Whether each has a bold face; matplotlib writes of one that has none to stderr."""
    return all(weights_of(family) & {"bold", 700} for family in families)


@cache
def cjk_font() -> str:
    path = cjk_file()
    if path is None:
        installed = {font.name for font in font_manager.fontManager.ttflist}
        names = ("Noto Sans SC", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "SimHei")
        return next((name for name in names if name in installed), "")
    font_manager.fontManager.addfont(path)
    return font_manager.FontProperties(fname=path).get_name()
