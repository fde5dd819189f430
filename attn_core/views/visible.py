"""Tokens as a reader sees them: what leaves no ink is written out. As page/core/visible.js."""

import re

SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥", "\u00a0": "⍽"}

# Controls, spaces of other widths, what has no width, half of a pair of surrogates.
BLANK = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u17b4\u17b5\u2000-\u200b\u200e\u200f"
    r"\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
)
# What changes or joins its neighbours, as in emoji, in Persian and in Mongolian.
JOINER = r"\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff"
UNSEEN = re.compile(
    r"^ +| +\Z| {2,}"  # spaces where they would be lost
    rf"|[{BLANK}]"
    rf"|(?<![^ {BLANK}])[{JOINER}]+"  # with nothing before it
    r"|[\u200c\u200d]+\Z"  # with nothing behind it
)


def visible(token: str) -> str:
    r"""A token as a label; the token itself stays as it is.

    >>> [visible(token) for token in ("the", " the", "\n", "a  b", "\u200b", "")]
    ['the', '␣the', '⏎', 'a␣␣b', '⟨U+200B⟩', '∅']
    """
    return UNSEEN.sub(lambda run: "".join(map(written, run[0])), token) or "∅"


def written(sign: str) -> str:
    return SIGNS.get(sign, f"⟨U+{ord(sign):04X}⟩")
