"""Pixels as a PNG that a notebook stores: of a matplotlib figure, and of a drawing."""

import base64
import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import resvg_py
from PIL import Image

SHARP = 2  # pixels of a stored picture for one of its size: on paper and a phone they show
CJK_FONTS = "pylopdf_fonts_zh_cn"  # a package; without it a Chinese font of the machine is taken
LATIN = "DejaVu Sans"  # matplotlib brings it


def packed(image: Image.Image) -> str:
    """Pixels as PNG, in base64.

    256 colours, chosen for it: a third of the bytes, and no difference that the eye sees.
    """
    stream = io.BytesIO()
    few = image.quantize(256, dither=Image.Dither.NONE)
    few.save(stream, format="png", optimize=True)
    return base64.b64encode(stream.getvalue()).decode("ascii")


def needs_cjk(text: str) -> bool:
    return any("\u2e80" <= character <= "\u9fff" for character in text)


@cache
def file_of(package: str, name: str) -> Path | None:
    """A file that a package brings, or None where the package is not installed."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return None
    return Path(spec.submodule_search_locations[0]) / name


def cjk_file() -> Path | None:
    return file_of(CJK_FONTS, "NotoSansSC-Regular.otf")


def drawn(svg: str) -> str:
    """An SVG as PNG, in base64: in the light, and with the same letters on every machine."""
    fonts = [file_of("matplotlib", f"mpl-data/fonts/ttf/DejaVuSans{b}.ttf") for b in ("", "-Bold")]
    if needs_cjk(svg):
        fonts.append(cjk_file())
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=SHARP,
        background="#ffffff",
        skip_system_fonts=all(fonts),
        font_files=[str(font) for font in fonts if font],
        font_family=LATIN,
        sans_serif_family=LATIN,
    )
    with Image.open(io.BytesIO(bytes(png))) as image:
        return packed(image.convert("RGB"))
