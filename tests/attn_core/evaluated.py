"""What a reader gets who computes with the printed numbers of a line."""

import math
import re

NAMES = {
    "exp": math.exp,
    "max": lambda *numbers: max(numbers),
    "tanh": math.tanh,
    "cos": math.cos,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "normal": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
    "density": lambda x: math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
    "ln": math.log,
    "inf": math.inf,
}
SIGNS = {
    "·": "*",
    "²": "**2",
    "√": "sqrt",
    "σ": "sigmoid",
    "Φ": "normal",
    "φ": "density",
    "^": "**",
}


def said_of(how: str) -> str:
    """
    >>> said_of("max(1, 2) = 2, without the 3 hidden keys")
    'max(1, 2) = 2'
    """
    return re.split(", (?:because|with|without) ", how)[0]


def evaluated(text: str) -> float:
    """
    >>> evaluated("(4 - 2.5)² · √(1.25 + 1)")
    3.375
    """
    for sign, name in SIGNS.items():
        text = text.replace(sign, name)
    return eval(text, dict(NAMES))


def every_term(term):
    """A number's line and all below it."""
    yield term
    for part in term.parts:
        yield from every_term(part)
