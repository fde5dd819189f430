"""The words of the site's scripts: what a script lists in its table `SAID`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from publishing.translation.language import said

# As a script has it, or its bundle: words, and functions that put something into a sentence.
TABLE = re.compile(r"\b(?:const|var) SAID = \{\n.*?\n\s*\};", re.DOTALL)
# A string, or a template with what stands in its braces; comments are passed over.
LITERAL = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|\"((?:[^\"\\\n]|\\.)*)\""
    r"|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`(?:[^`$]|\$\{[^{}]*\})*`|\{[^{}]*\})*\})*)`",
    re.DOTALL,
)


def literals(script: str) -> Iterator[str]:
    """The strings and templates of a script's table, as they stand between their marks.

    >>> table = 'const SAID = {\\n  type: "Type it.",\\n  one: (n) => `a ${n}`,\\n};\\n'
    >>> list(literals(table + 'add("Not a word.");'))
    ['Type it.', 'a ${n}']
    """
    for table in TABLE.findall(script):
        for match in LITERAL.finditer(table):
            if text := match[1] or match[2]:
                yield text


def exchanged(script: str) -> str:
    """A script with its words in the language that is made."""

    def one(match: re.Match) -> str:
        text, mark = match[1] or match[2], match[0][0]
        return f"{mark}{said(text)}{mark}" if text else match[0]

    return TABLE.sub(lambda table: LITERAL.sub(one, table[0]), script)
