"""Text in lines, for whoever prints it: a Chinese character takes two columns, and a line may end
behind it."""

from __future__ import annotations

import re
import unicodedata

WIDE = "\u2e80-\u9fff\uff00-\uffef"
OPENS, CLOSES = "“‘（《「【", "，。：；？！、）”’》」】"  # end no line; begin none
BREAK = re.compile(
    rf"(?<=\s)|(?<=[{WIDE}])(?<![{OPENS}])(?![{CLOSES}\s])"
    rf"|(?<![{OPENS}\s])(?=[{WIDE}])(?![{CLOSES}])"
)


def columns(text: str) -> int:
    """
    >>> columns("1 行"), columns("a row")
    (4, 5)
    """
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def wrapped(text: str, width: int) -> list[str]:
    """A text as lines of at most so many columns, unless a word has more.

    >>> wrapped("one word after the other", 12)
    ['one word', 'after the', 'other']
    >>> wrapped("一个词接着另一个词，直到“说完”。", 12)
    ['一个词接着另', '一个词，直到', '“说完”。']
    >>> wrapped("一个词接着另外，直到“说完”。", 14)
    ['一个词接着另', '外，直到“说', '完”。']
    """
    lines = [""]
    for part in filter(None, BREAK.split(" ".join(text.split()))):
        if lines[-1] and columns((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]
