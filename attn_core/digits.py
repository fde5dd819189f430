"""How a number is written: one rounding rule, here and in the page."""

import math
import struct
from decimal import Decimal

PLACES = 4


def fixed(x: float, places: int = PLACES, most: float = 1e6) -> str:
    """A number with a fixed count of decimals, rounded exactly, ties to even, without −0.

    >>> fixed(0.125, 2), fixed(-0.00001, 2), fixed(0.000006)
    ('0.12', '-1e-05', '6.0e-06')

    A number that would print as zero but isn't, or that reaches a million (or `most`), is written
    with a power of ten. Taught in chapter 04.
    """
    if not math.isfinite(x):
        return str(x)
    if x == 0:
        x = 0.0
    text = f"{x:.{places}f}"
    if (x != 0 and float(text) == 0) or abs(x) >= most:
        return f"{x:.{max(places - 3, 0)}e}"
    return text


def plain(x: float, places: int = PLACES, most: float = 1e6) -> str:
    """`fixed` without its trailing zeros, if the text is then exactly the number.

    >>> plain(11.0), plain(0.5), plain(0.43), plain(1 / 3)
    ('11', '0.5', '0.43', '0.3333')

    A float32 counts as its shortest decimal: 0.43 stored in 32 bits is written 0.43.
    """
    text = fixed(x, places, most)
    if "." not in text or "e" in text:
        return text
    if float(text) != x and as_float32(float(text)) != x:
        return text
    return text.rstrip("0").rstrip(".")


def written(x: float, beside: float = 0.0) -> str:
    """`plain` for a line of arithmetic: with as many digits as the line needs to give its result.

    >>> written(1 / 3), written(1 / 3, beside=2500.0), written(1234567.8), written(2e20)
    ('0.3333', '0.33333333', '1234567.8', '2e+20')

    beside: the number that it is multiplied by. If that is a thousand or more, there is a decimal
    more for each of its digits before the point, up to seven. From a million on a number keeps its
    decimals, and from 1e11 on all its digits.
    """
    if 1e11 <= abs(x) < math.inf:
        return f"{Decimal(repr(x)).normalize():e}"
    other = min(abs(beside), 1e6)
    more = 0 if other < 1000 else len(str(int(other)))
    return plain(x, PLACES + more, 1e11)


def as_float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]
