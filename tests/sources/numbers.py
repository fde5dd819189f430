"""The numbers of a text, and of a chapter's outputs, code and prose."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from html import unescape

# Digits that belong to a name (x2, W_1, v1.0) are no numbers of their own.
NUMBER = re.compile(
    r"(?<![\w.])(?:[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+|\.(?!\w))?(?:[eE][+-]?\d+)?|-inf\b)"
)
TAG = re.compile(r"<script\b.*?</script>|<style\b.*?</style>|<[^>]*>", re.DOTALL)
NOT_PROSE = re.compile(
    r"^(`{3,}|~{3,}).*?^\1|`[^`\n]+`|<[^>]*>|\]\([^)]*\)|https?://\S+|[\w.-]+/[\w.-]+#\d+",
    re.DOTALL | re.MULTILINE,
)


def numbers(text: str) -> list[Decimal]:
    """Every number of a text, in order; 16,000 is one number, and so is -inf.

    >>> numbers("x2 is 0.9544, then 6.0e-06 and 16,000.")
    [Decimal('0.9544'), Decimal('0.0000060'), Decimal('16000')]
    """
    found = (m[0].replace(",", "").replace("−", "-") for m in NUMBER.finditer(text))
    return [Decimal(number.rstrip(".")) for number in found]


def rounds_to(shown: Decimal, wanted: Decimal) -> bool:
    """Whether the number, cut to the places of the wanted one, is the wanted one.

    >>> rounds_to(Decimal("0.063379"), Decimal("0.063"))
    True
    >>> rounds_to(Decimal("0.06"), Decimal("0.063"))
    False
    """
    if not wanted.is_finite():
        return shown == wanted
    places = Decimal(1).scaleb(wanted.as_tuple().exponent)
    return abs(shown) < 10**20 and shown.quantize(places, ROUND_HALF_EVEN) == wanted


def stands_in(rows: list[list[Decimal]], shown: list[Decimal]) -> bool:
    """Whether the rows stand in the shown numbers: each without a gap, one after the other."""
    start = 0
    for row in rows:
        for at in range(start, len(shown) - len(row) + 1):
            if all(rounds_to(s, w) for s, w in zip(shown[at:], row, strict=False)):
                start = at + len(row)
                break
        else:
            return False
    return True


def output_texts(cell) -> list[str]:
    """What each output of a cell shows the reader, as plain text."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text" in output:
            texts.append(output["text"])
        if "text/plain" in data:
            texts.append(data["text/plain"])
        if "text/html" in data:
            texts.append(unescape(TAG.sub(" ", data["text/html"])))
        if "evalue" in output:
            texts.append(output["evalue"])
    return texts


def prose(source: str) -> str:
    """A Markdown cell without its code, its tags and the targets of its links."""
    return NOT_PROSE.sub(" ", source)
