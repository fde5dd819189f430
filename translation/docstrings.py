"""What the API reference says: the docstrings of the names that book/api.md lists."""

from __future__ import annotations

import re

from translation.language import said

CATALOGUE = "docstrings"
# The chapter that teaches a name, as the docstring or its translation has it; the site makes links
# of the numbers.
TAUGHT = re.compile(r"\s*(?:Taught in\s+chapters?\b[^.]*\.|讲解见第[^。]*。)")


def parts(block: str) -> tuple[str, str]:
    """A block of a docstring, and its sentence about chapters.

    >>> parts("A box. Taught in chapter 04.")
    ('A box.', 'Taught in chapter 04.')
    """
    sentence = TAUGHT.search(block)
    if not sentence:
        return block, ""
    return block.replace(sentence[0], "").strip(), sentence[0].strip()


def docstring(block: str) -> str:
    """A block in the language that is made."""
    text, taught = parts(block)
    return " ".join(said(part, CATALOGUE) for part in (text, taught) if part)
