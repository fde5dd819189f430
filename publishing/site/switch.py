"""A link on each page to the same place in the other language, and `hreflang` for search engines.

The English pages have it as soon as no catalogue is being translated any more.
"""

from __future__ import annotations

from sphinx.application import Sphinx

from publishing.translation.checking import is_complete
from publishing.translation.language import ENGLISH, language

# What each language calls itself, and how HTML names it.
NAMES = {"en": ("English", "en"), "zh": ("中文", "zh-CN")}
FOLDER = "zh"  # of the Chinese site, in the English one
TEMPLATE = "language-switch.html"


def is_shown() -> bool:
    return language() != ENGLISH or is_complete()


def addresses(pagename: str, here: str) -> dict[str, str]:
    """Where a page is in each language, as seen from the page.

    >>> addresses("book/map", "en")
    {'en': 'map.html', 'zh': '../zh/book/map.html'}
    >>> addresses("genindex", "zh")
    {'en': '../genindex.html', 'zh': 'genindex.html'}
    """
    up, own = "../" * pagename.count("/"), f"{pagename.rpartition('/')[2]}.html"
    other = f"../{pagename}.html" if here != ENGLISH else f"{FOLDER}/{pagename}.html"
    return {code: own if code == here else up + other for code in NAMES}


def configure(app: Sphinx, config) -> None:
    if is_shown():
        options = config.html_theme_options
        options["article_header_end"] = [TEMPLATE, "article-header-buttons.html"]


def add(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if not is_shown():
        return
    places = addresses(pagename, language())
    context["languages"] = {NAMES[code][1]: place for code, place in places.items()}
    other = next(code for code in NAMES if code != language())
    context["other_language"] = (*NAMES[other], places[other])


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", configure)
    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
