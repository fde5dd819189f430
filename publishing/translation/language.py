"""Which language is made, and what a message is in it.

BOOK_LANGUAGE says it, as BOOK_EDITION says the edition: "en", the language in which the book is
written, or "zh". `make book LANGUAGE=zh` sets it.
"""

from __future__ import annotations

import os

from publishing.translation import catalogues
from publishing.translation.markdown import translated
from publishing.translation.pages import without_numbers

ENGLISH = "en"
# How the language of a site is called in the addresses and by Sphinx.
CATALOGUE = {"zh": "zh_CN"}
LANGUAGES = (ENGLISH, *CATALOGUE)
# What the words of the site, of exercises and so on stand in, where a page's own has no message.
SITE = "site"


def language() -> str:
    """The language that is made: the value of BOOK_LANGUAGE, "en" where it is not set."""
    wanted = os.environ.get("BOOK_LANGUAGE") or ENGLISH
    if wanted not in LANGUAGES:
        raise ValueError(f"LANGUAGE must be one of {', '.join(LANGUAGES)}, got {wanted!r}")
    return wanted


def said(message: str, catalogue: str = SITE) -> str:
    """A message in the language that is made; as it is, where there is no translation."""
    return message if language() == ENGLISH else in_chinese(message, catalogue)


def in_chinese(message: str, catalogue: str = SITE) -> str:
    """A message in Chinese; a measured one by its form, with its own numbers."""
    known = catalogues.translations(catalogue)
    if message in known:
        return known[message]
    form, numbers = without_numbers(message)
    return known[form].format(*numbers) if numbers and form in known else message


def in_page(docname: str, text: str) -> str:
    """Markdown of a page in the language that is made."""
    if language() == ENGLISH:
        return text
    return translated(text, lambda message: in_chinese(message, docname))


def tag() -> str:
    """The language as HTML names it.

    >>> tag()
    'en'
    """
    return CATALOGUE.get(language(), ENGLISH).replace("_", "-")


def _(message: str) -> str:
    """A word of the site in the language that is made. What it is called with is a message."""
    return said(message)
