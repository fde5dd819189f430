"""Ship the Chinese characters of the book, for machines without a Chinese font.

Without one a printed page has boxes for them. The pinned package pylopdf-fonts-zh-cn, from which
the pictures take theirs, carries Noto Serif SC (SIL Open Font License 1.1). The build cuts it down
to the characters that the book has, and for each page to those of the page, a few kilobytes. A
Chinese page would have 150 to 250 KB of its own: there one file serves all pages, 500 KB that are
got once. The style sheet names it after the fonts of the reader's machine, so that only a machine
without a Chinese font asks for it.
"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from itertools import groupby
from pathlib import Path

from sphinx.application import Sphinx

from publishing.site.font_subset import write_subset
from publishing.translation.language import ENGLISH, language

SOURCES = ("chapters/*.ipynb", "book/*.ipynb", "book/*.md", "exercises/*.py")
# What the pages of another language have besides, and the theme's words in it.
CATALOGUES = "book/locale/*/LC_MESSAGES/**/*.po"
THEMES = ("pydata_sphinx_theme", "sphinx_book_theme")
BUTTON = "sphinx_copybutton"  # whose script has its words in each language
SCRIPT = "attn_core/views/page/**/*.js"
BOOK, FOLDER = "noto-serif-sc.woff2", "han"

# It comes after the style sheet's, and so is asked first for the characters that it has.
FACE = """<style>
@font-face {{
  font-family: "Book Han";
  src: url("{url}") format("woff2");
  font-display: swap;
  unicode-range: {ranges};
}}
</style>"""

QUOTES = "‘’“”"  # paper draws those of the Chinese book with this font


def is_chinese(character: str) -> bool:
    """
    >>> [is_chinese(c) for c in "注，（a·"]
    [True, True, True, False, False]
    """
    blocks = ("\u3000", "\u303f"), ("\u3400", "\u9fff"), ("\uff00", "\uffef")
    return any(first <= character <= last for first, last in blocks)


def chinese(text: str) -> str:
    """The Chinese characters of a text, each once.

    >>> chinese("注意力 attention 注意")
    '力意注'
    """
    return "".join(sorted(filter(is_chinese, set(text))))


def of_the_book(root: Path) -> str:
    """All Chinese characters of the book's pages and of the explorer, each once."""
    patterns = (*SOURCES, SCRIPT) if language() == ENGLISH else (*SOURCES, SCRIPT, CATALOGUES)
    paths = [path for pattern in patterns for path in root.glob(pattern)]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    quotes = "" if language() == ENGLISH else QUOTES
    return chinese("".join([*texts, themes_words()])) + quotes


@cache
def folder_of(package: str) -> Path:
    return Path(importlib.util.find_spec(package).origin).parent


def themes_words() -> str:
    """What the theme says on each page in the language that is made."""
    if language() == ENGLISH:
        return ""
    paths = [path for name in THEMES for path in folder_of(name).rglob("zh*/LC_MESSAGES/*.mo")]
    paths += folder_of(BUTTON).glob("_static/*.js_t")
    return chinese("".join(path.read_bytes().decode("utf-8", "ignore") for path in paths))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ranges(text: str) -> str:
    """Sorted characters as CSS names them.

    >>> ranges("一丁丂上")
    'U+4E00-4E02, U+4E0A'
    """
    runs = groupby(enumerate(map(ord, text)), key=lambda pair: pair[1] - pair[0])
    ends = [[code for _, code in run] for _, run in runs]
    return ", ".join(f"U+{a[0]:X}" + (f"-{a[-1]:X}" if len(a) > 1 else "") for a in ends)


def made(app: Sphinx) -> Path:
    """Where the fonts of all characters of the book are kept from one build to the next."""
    return Path(app.doctreedir).parent / "han_font"


def provide(app: Sphinx, config) -> None:
    text, folder = of_the_book(Path(app.srcdir)), made(app)
    mark = folder / "characters"
    if not mark.exists() or mark.read_text() != digest(text):
        package = importlib.util.find_spec("pylopdf_fonts_zh_cn").submodule_search_locations[0]
        # A page's font is cut from the small one: ten times as fast.
        write_subset(Path(package) / "NotoSerifSC-Regular.otf", folder / "book.otf", text)
        write_subset(folder / "book.otf", folder / "static" / BOOK, text)
        mark.write_text(digest(text))
    config.html_static_path.append(str(folder / "static"))


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if language() != ENGLISH:
        return
    titles = (title.astext() for title in app.env.titles.values())  # the sidebar has them all
    switch = context.get("other_language", "")
    text = chinese("".join([context.get("body", ""), *titles, *switch]))
    if not text:
        return
    name = f"{FOLDER}/{digest(text)}.woff2"
    target = Path(app.outdir) / "_static" / name
    if not target.exists():
        write_subset(made(app) / "book.otf", target, text)
    url = context["pathto"](f"_static/{name}", 1)
    context["page_fonts"] = FACE.format(url=url, ranges=ranges(text))


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", provide)
    app.connect("html-page-context", add, priority=900)  # when the page's text is whole
    return {"parallel_read_safe": True, "parallel_write_safe": True}
