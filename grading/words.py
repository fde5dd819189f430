"""What a course says, in its language: handouts, feedback, keys and tables.

A result is stored in English. What stands in it is translated where somebody reads it, outside the
sandbox; no translation is ever handed in.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import exercises.messages
from exercises.messages import ENGLISH, Messages, chinese, sentence, stored

LANGUAGES = ("en", "zh")
TAGS = {"en": "en", "zh": "zh-CN"}  # as HTML names them
ZH = Path(__file__).with_name("zh.json")  # written by `make translations`
# What becomes of an answer, and of a hand-in.
OF_ANSWERS = (
    *(sentence("right"), sentence("partly"), sentence("wrong"), sentence("blank")),
    *(sentence("changes"), sentence("stopped"), sentence("by hand")),
)
GRADED, WAITS = sentence("graded"), sentence("waits for a person")
NOTHING, NOT_GRADED = sentence("nothing handed in"), sentence("not graded")
# The reasons of `inside.border`, which runs in the sandbox, too, and knows of no messages.
OF_VALUES = (
    sentence("a nest too deep or too large"),
    sentence("a text too long"),
    sentence("a whole number too large"),
    sentence("an array too large, or of no numbers"),
    sentence("no value that can be read"),
    sentence("a value that raises an error"),
    sentence("a value of another kind"),
    sentence("numbers of which some are masked"),
    sentence("a nested tensor"),
    sentence("a tensor on the meta device, without numbers"),
    sentence("a tensor of another kind"),
)


@cache
def words(language: str) -> Messages:
    """The messages of a language, those of the exercises among them."""
    return ENGLISH if language == "en" else Messages(chinese().known | stored(ZH).known)


def source(language: str) -> bytes:
    """What decides how a result is worded, beside the code."""
    return b"" if language == "en" else exercises.messages.ZH.read_bytes() + ZH.read_bytes()


def points(number: float, _: Messages = ENGLISH) -> str:
    """
    >>> points(1), points(2.5)
    ('1 point', '2.5 points')
    """
    return _("1 point") if number == 1 else _("{count} points").format(count=f"{number:g}")
