"""Ship the Chinese characters of the book, for machines without a Chinese font.

Without one a printed page has boxes for them. The pinned package pylopdf-fonts-zh-cn, from which
the pictures take theirs, carries Noto Serif SC (SIL Open Font License 1.1); the build cuts it down
to the characters that the book has and writes it out as WOFF. The style sheet names it after the
fonts of the reader's machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx

SOURCES = ("chapters/*.ipynb", "book/*.ipynb", "book/*.md", "exercises/*.py")
SCRIPT = "attn_core/views/page/*.js"


def is_chinese(character: str) -> bool:
    """
    >>> [is_chinese(c) for c in "注，（a·"]
    [True, True, True, False, False]
    """
    blocks = ("\u3000", "\u303f"), ("\u3400", "\u9fff"), ("\uff00", "\uffef")
    return any(first <= character <= last for first, last in blocks)


def characters(root: Path) -> str:
    """All Chinese characters of the book's pages and of the explorer, each once."""
    paths = [path for pattern in (*SOURCES, SCRIPT) for path in root.glob(pattern)]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return "".join(sorted({c for text in texts for c in text if is_chinese(c)}))


def write_font(target: Path, text: str) -> None:
    package = importlib.util.find_spec("pylopdf_fonts_zh_cn").submodule_search_locations[0]
    options = subset.Options()
    options.flavor = "woff"
    options.hinting = False
    options.layout_features = []
    options.name_IDs = ["*"]  # with the licence
    font = subset.load_font(Path(package) / "NotoSerifSC-Regular.otf", options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(font)
    subset.save_font(font, target, options)


def provide(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "han_font"
    target, mark = folder / "noto-serif-sc.woff", folder / "characters"
    text = characters(Path(app.srcdir))
    digest = hashlib.sha256(text.encode()).hexdigest()
    if not target.exists() or not mark.exists() or mark.read_text() != digest:
        folder.mkdir(parents=True, exist_ok=True)
        write_font(target, text)
        mark.write_text(digest)
    config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", provide)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
