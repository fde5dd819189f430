"""One file with all that is shown: it needs no network, and is alive wherever it is opened."""

import html
import os
from collections.abc import Sequence
from pathlib import Path

from attn_core.checks import brief
from attn_core.views import script

HERE = Path(__file__).parent
MOST_MEGABYTES = 25.0  # what mail takes as an attachment, as a rule
# What other elements need besides: parts of the script, and style sheets.
KINDS = {
    "attention-model": (("model",), ("machine.css",)),
    "attention-training": (("training", "training-worker"), ("machine.css", "training.css")),
}
# Around the explorers, whose own styles are in the style sheets.
STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif;
  color: light-dark(#1b1b22, #eceaf3); background: light-dark(#ffffff, #1b1b22); }
main { max-width: 75rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
"""


def save_page(
    path: str | os.PathLike, elements: Sequence[str], *, title: str, lang: str, most: float
) -> Path:
    """Writes the elements with their scripts and styles, and gives the path.

    ValueError if the file would have more than `most` megabytes; nothing is written then.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file, got {brief(path)}")
    where = Path(path)
    if where.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path must end in .html, got {where.name!r}")
    text = page_of(elements, title, lang).encode()
    size = len(text) / 1e6
    if size > most:
        raise ValueError(
            f"{where.name} must have at most {most:g} MB, got {size:.1f} MB: store the numbers "
            f"with store='float16', show fewer layers, or allow it with most={int(size) + 1}"
        )
    where.write_bytes(text)
    return where


def page_of(elements: Sequence[str], title: str, lang: str) -> str:
    """A whole page."""
    kinds = [kind for kind in KINDS if any(f"<{kind}" in element for element in elements)]
    return "\n".join(
        [
            f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html.escape(title)}</title>\n<style>",
            STYLE,
            *styles_of(kinds),
            f"</style>\n</head>\n<body>\n<main>\n<h1>{html.escape(title)}</h1>",
            *elements,
            "</main>",
            *(f"<script>{text}</script>" for text in scripts_of(kinds, lang.startswith("zh"))),
            "</body>\n</html>\n",
        ]
    )


def styles_of(kinds: Sequence[str]) -> list[str]:
    names = dict.fromkeys(["explorer.css", *(name for kind in kinds for name in KINDS[kind][1])])
    return [(HERE / name).read_text("utf-8") for name in names]


def scripts_of(kinds: Sequence[str], is_chinese: bool) -> list[str]:
    """The scripts of a page that has all data inside and that nobody embeds."""
    wanted = {part for kind in kinds for part in KINDS[kind][0]}
    unused = {part for parts, _ in KINDS.values() for part in parts} - wanted
    unused |= {"beside", "embed", "language", "language-worker"}
    chinese = {f"{part}-zh" for part in (unused if is_chinese else unused | wanted)}
    left_out = unused | chinese | (set() if is_chinese else {"zh"})
    return [text for name, text in script.files().items() if stem(name) not in left_out]


def stem(name: str) -> str:
    """
    >>> stem("explorer-model-zh.js"), stem("explorer.js")
    ('model-zh', '')
    """
    return name.removesuffix(".js").removeprefix("explorer").removeprefix("-")
