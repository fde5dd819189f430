"""What stored outputs say in words: the drawings and the pictures of the book's own views."""

from __future__ import annotations

import re
from html import escape, unescape

from translation.language import in_chinese
from translation.markdown import has_words

CATALOGUE = "drawings"
SVG = "image/svg+xml"
WRITTEN = re.compile(r"(<(text|tspan|title|desc)\b[^>]*>)([^<]+)(?=<)")
SPOKEN = re.compile(r'(\b(?:aria-label|alt)=")([^"]+)(?=")')


def words_of(svg: str) -> list[str]:
    """The words of a drawing, written and spoken, in its order.

    >>> words_of('<svg aria-label="a row"><text x="1">one &amp; two</text><text>0.25</text></svg>')
    ['a row', 'one & two']
    """
    found = [(one.start(), one[3]) for one in WRITTEN.finditer(svg)]
    found += [(one.start(), one[2]) for one in SPOKEN.finditer(svg)]
    return [unescape(text.strip()) for _, text in sorted(found) if has_words(unescape(text))]


def drawing(svg: str) -> str:
    """A drawing with its words in Chinese."""
    svg = WRITTEN.sub(lambda one: one[1] + word(one[3]), svg)
    return SPOKEN.sub(lambda one: one[1] + word(one[2]), svg)


def word(text: str) -> str:
    bare = text.strip()
    said = in_chinese(unescape(bare), CATALOGUE)
    return text if said == unescape(bare) else text.replace(bare, escape(said))


def alt(text: str) -> str:
    return in_chinese(text, CATALOGUE)


def in_output(output) -> None:
    """Exchange the words of one stored output."""
    data = output.get("data", {})
    if SVG in data:
        data[SVG] = drawing(data[SVG])
    for metadata in output.get("metadata", {}).values():
        if isinstance(metadata, dict) and "alt" in metadata:
            metadata["alt"] = alt(metadata["alt"])
