"""The words of the site's scripts: strings and templates that a reader sees or hears."""

from __future__ import annotations

import re
from collections.abc import Iterator

from publishing.translation.language import said
from publishing.translation.markdown import has_words

# A string, or a template with what stands in its braces; comments are passed over.
LITERAL = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|\"((?:[^\"\\\n]|\\.)*)\""
    r"|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`(?:[^`$]|\$\{[^{}]*\})*`|\{[^{}]*\})*\})*)`",
    re.DOTALL,
)
# Of more than one word, or with a capital letter; no name of a class, no selector.
SPOKEN = re.compile(r"(?=.*[A-Z ])[“←A-Za-z$ ,](?:(?!\w-\w)[^#=\[\]<>])*")
NAMES = {"use strict", "DOMContentLoaded", "Apple", "Enter", "viewBox"}  # of the browser's


def literals(script: str) -> Iterator[re.Match]:
    """The strings and templates of a script that are words for a reader.

    >>> [one[1] or one[2] for one in literals('say("Type it first."); add("ax-row", `a ${n}`);')]
    ['Type it first.', 'a ${n}']
    """
    for match in LITERAL.finditer(script):
        text = match[1] if match[1] is not None else match[2]
        if text and is_said(text):
            yield match


def is_said(text: str) -> bool:
    bare = re.sub(r"\$\{[^}]*\}", " ", text)
    if not has_words(bare) or text in NAMES or re.search(r"\w\(", bare):
        return False
    return bool(SPOKEN.fullmatch(text))


def exchanged(script: str) -> str:
    """A script with its words in the language that is made."""

    def one(match: re.Match) -> str:
        text = match[1] if match[1] is not None else match[2]
        if not text or not is_said(text):
            return match[0]
        mark = match[0][0]
        return f"{mark}{said(text)}{mark}"

    return LITERAL.sub(one, script)
