"""What an exercise, or its check, says in another language.

English is written in the code. What is said in another language is found by the English message:
by the whole of it, or by the form of a sentence into which something was put.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

PLACE = re.compile(r"\{(\d)\}")
NAME = re.compile(r"`\{(\d)\}`")  # a place for a name in code
ZH = Path(__file__).with_name("zh.json")  # written by `make translations`


class Messages:
    """Messages, each with its translation. What has none stays as it is.

    >>> say = Messages({"points": "分", "it holds for {0} words": "{0} 个词也成立"})
    >>> say("points"), say("it holds for 4 words")
    ('分', 'it holds for 4 words')

    `tell` is for a finished sentence, and finds its form, too: one whose places have numbers.

    >>> say.tell("it holds for 4 words"), say.tell("it holds")
    ('4 个词也成立', 'it holds')

    Of two forms the one with more words of its own is meant; what stands as code stays as it is.

    >>> say = Messages({"{0} of `{1}`": "`{1}` 的{0}", "the {0} of `{1}`": "`{1}` 的那个{0}"})
    >>> say.tell("the sum of `points`")
    '`points` 的那个sum'
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = dict(known)

    def __call__(self, message: str) -> str:
        return self.known.get(message, message)

    @cached_property
    def forms(self) -> list[tuple[re.Pattern, str]]:
        """Each form as a pattern, and its translation; those that say most of their own first."""
        forms = []
        for form in sorted(filter(PLACE.search, self.known), key=own_letters, reverse=True):
            parts = PLACE.split(form)
            parts[0::2] = map(re.escape, parts[0::2])
            parts[1::2] = (f"(?P<_{number}>.*?)" for number in parts[1::2])
            forms.append((re.compile("".join(parts)), self.known[form]))
        return forms

    def tell(self, sentence: str) -> str:
        """A finished sentence, with what was put into it."""
        if sentence in self.known:
            return self.known[sentence]
        for pattern, form in self.forms:
            if match := pattern.fullmatch(sentence):
                return self.filled(form, match.groupdict())
        return sentence

    def filled(self, form: str, parts: dict[str, str]) -> str:
        """A form with its parts: translated where they are messages, unless they stand as code."""
        names = NAME.findall(form)

        def part(place: re.Match) -> str:
            text = parts[f"_{place[1]}"]
            return text if place[1] in names else self.tell(text)

        return PLACE.sub(part, form)


def own_letters(form: str) -> int:
    return len(PLACE.sub("", form))


def sentence(message: str, *parts: object) -> str:
    """A sentence made of a message: in English here, and `Messages.tell` translates it later.

    >>> sentence("it holds for {0} words", 4)
    'it holds for 4 words'
    """
    return message.format(*parts)


ENGLISH = Messages({})


def stored(path: Path) -> Messages:
    """The messages of a file of translations."""
    return Messages(json.loads(path.read_text(encoding="utf-8")))


@cache
def chinese() -> Messages:
    """What exercises and their checks say in Chinese."""
    return stored(ZH)
