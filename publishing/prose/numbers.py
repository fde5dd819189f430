"""The numbers of a text, where they stand in it, and when one rounds to another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property

EXACT = Context(prec=80, rounding=ROUND_HALF_EVEN)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

# Digits that belong to a name (x2, W_1, v1.0) are no numbers of their own; 10⁻⁶ and the 32 bits of
# 89b3e907 are one number each.
DIGITS = re.compile(
    r"""(?<![A-Za-z0-9_.])(?:
        (?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8}\b         # 89b3e907
        | \d+(?:\.\d+){2,}                           # 3.2.1
        | [-−]?(?:\d{1,3}(?:,\d{3})+|\d+)            # 16,000
          (?:\.\d+|\.(?!\w))?                        # 0.9544, and torch's 3.
          (?:[eE][+-]?\d+|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?         # 6.0e-06, 10⁻⁶
        | -inf\b
    )""",
    re.VERBOSE,
)

FROM_THREE = (
    "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
WORDS = {word: value for value, word in enumerate(FROM_THREE.split(), 3)}
WORDS |= {"thirty": 30, "forty": 40, "fifty": 50, "dozen": 12}
WORDS |= {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# From three on, whatever follows: "three rows", "three of the rows", "All three." One, two, half
# and twice are left out: they are words of any sentence.
SPELLED = re.compile(rf"\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number as it stands in a text, from `start` to `end`."""

    written: str
    start: int
    end: int

    @cached_property
    def value(self) -> Decimal:
        if self.written.lower() in WORDS:
            return Decimal(WORDS[self.written.lower()])
        if re.fullmatch(r"(?=\d*[a-f])[0-9a-f]{8}", self.written):  # of 32 bits, in base 16
            return Decimal(int(self.written, 16))
        if self.written.count(".") > 1:  # of a section or a version: 3.2.1
            return Decimal("nan")
        plain = self.written.replace(",", "").replace("−", "-").rstrip(".")
        base = re.match(r"-?[\d.]+", plain)
        if base and base.end() < len(plain) and plain[base.end()] not in "eE":
            return Decimal(base[0]) ** int(plain[base.end() :].translate(SUPERSCRIPTS))
        return Decimal(plain)


def find(text: str) -> list[Number]:
    """Every number of a text, in order.

    >>> [number.written for number in find("x2 is 0.9544, then 6.0e-06, 16,000 and six words.")]
    ['0.9544', '6.0e-06', '16,000', 'six']
    """
    matches = [*DIGITS.finditer(text), *SPELLED.finditer(text)]
    numbers = (
        Number(m[0].rstrip("."), m.start(), m.start() + len(m[0].rstrip("."))) for m in matches
    )
    return sorted(numbers, key=lambda number: number.start)


def values(text: str) -> list[Decimal]:
    """The values of all numbers written with digits, in order.

    >>> values("x2 is 0.9544, then 6.0e-06 and 16,000.")
    [Decimal('0.9544'), Decimal('0.0000060'), Decimal('16000')]
    """
    return [number.value for number in find(text) if number.written.lower() not in WORDS]


def rounds_to(shown: Decimal, wanted: Decimal) -> bool:
    """Whether the number, cut to the places of the wanted one, is the wanted one.

    >>> rounds_to(Decimal("0.063379"), Decimal("0.063"))
    True
    >>> rounds_to(Decimal("0.06"), Decimal("0.063"))
    False
    """
    if not wanted.is_finite() or not shown.is_finite():
        return shown == wanted
    places = Decimal(1).scaleb(wanted.as_tuple().exponent)
    return abs(shown) < 10**20 and shown.quantize(places, context=EXACT) == wanted
