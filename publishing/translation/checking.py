"""What is wrong with a translation, and where to mend it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from publishing import ROOT
from publishing.prose.numbers import SPELLED, WORDS
from publishing.translation.catalogues import LOCALE, load, path_of
from publishing.translation.glossary import GLOSSARY, wrong
from publishing.translation.markdown import parser

# The catalogues that are still being translated. While it names any, no English page leads to the
# Chinese edition, and a message of theirs may have no translation.
UNDERWAY = LOCALE / "underway.toml"

# What a translation has as its original has it, each as often; their order is the translator's.
CODE = re.compile(r"(?P<mark>`+)(?!`).+?(?<!`)(?P=mark)(?!`)", re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\s{](?:[^$]*[^$\s])?\$", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
SPOKEN = re.compile(r'((?:aria-label|alt|title)=")[^"]*')
PLACE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|(?<!\$)\{[^{}]*\}", re.DOTALL)
# In a script's template: any expression, of the names that the original's have.
SCRIPTED = re.compile(r"\$\{[^{}]*\}")
NUMBER = re.compile(r"(?<![\w.])[-−+±]?\d+(?:[.,]\d+)*(?:e[-−]?\d+)?")
# Of code that stands in a docstring or in course.toml without a mark, the quotation marks are code.
STRAIGHT = {"docstrings", "grading"}
KINDS = {"code": CODE, "formula": FORMULA, "link": LINK, "tag": TAG, "placeholder": PLACE}
# How a number from three on may begin in Chinese words.
HAN = {3: "三均", 4: "四", 5: "五", 6: "六", 7: "七", 8: "八", 9: "九", 10: "十万"}
HAN |= dict.fromkeys(range(11, 100), "十") | {100: "百", 1000: "千万", 10**6: "万", 10**9: "亿"}
# In Chinese a year or a count may stand beside a letter or be written with a sign of its own.
SIGNS = str.maketrans({"−": "-", "，": ",", "％": "%"})


@cache
def underway() -> frozenset[str]:
    return frozenset(tomllib.loads(UNDERWAY.read_text(encoding="utf-8"))["catalogues"])


def is_complete() -> bool:
    """Whether the edition is there as a whole; only then do the English pages lead to it."""
    return not underway()


def marks(message: str) -> dict[str, Counter]:
    """What a message has besides words, by its kind.

    >>> found = marks("[the row](a.md#row) of `q` has $d_k$ = 3 numbers")
    >>> {kind: [*some] for kind, some in found.items() if some}
    {'code': ['`q`'], 'formula': ['$d_k$'], 'link': ['a.md#row'], 'number': ['3']}
    """
    counts, rest = {}, message
    for kind, pattern in KINDS.items():
        # A link gives its address, all else the whole of it.
        some = [match[1] if kind == "link" else match[0] for match in pattern.finditer(rest)]
        if kind == "tag":
            some = [SPOKEN.sub(r"\1", tag) for tag in some]
        counts[kind] = Counter(some)
        rest = pattern.sub("] " if kind == "link" else " ", rest)
    numbers = (match[0].lstrip("-−+±").replace(",", "") for match in NUMBER.finditer(rest))
    counts["number"] = Counter(numbers)
    return counts


def differences(english: str, chinese: str) -> Iterator[str]:
    """What of the original a translation lacks, and what it has besides, a sentence each.

    >>> list(differences("the `q` of [B](b.md)", "[B](c.md) 的 `q`"))
    ['it lacks the link b.md', 'it has the link c.md, which the English has not']
    """
    known = names_in(english)
    for mark in sorted(names_in(chinese) - known):
        yield f"it has the name {mark} in braces, which the English has not"
    if (stars := literal_stars(chinese)) > literal_stars(english):
        yield f"{stars} of its * are no emphasis: put its signs outside"
    before, after = marks(SCRIPTED.sub(" ", english)), marks(SCRIPTED.sub(" ", chinese))
    for kind in before:
        for mark in (before[kind] - after[kind]).elements():
            yield f"it lacks the {kind} {mark}"
        for mark in (after[kind] - before[kind]).elements():
            yield f"it has the {kind} {mark}, which the English has not"
    for word in unsaid(english, chinese):
        yield f"it lacks the number {word}"


def unsaid(english: str, chinese: str) -> Iterator[str]:
    """The numbers in English words that are in no words, titles or digits of the Chinese.

    >>> list(unsaid("all three of four rows", "均为五行"))
    ['four']
    """
    digits = re.findall(r"\d+", chinese.replace(",", ""))
    for word in SPELLED.findall(re.sub(r"“[^”]*”|\([^)]*\)", "", english)):
        value = WORDS[word.lower()]
        if word not in chinese and not {str(value), *HAN[value]} & {*digits, *chinese}:
            yield word


def literal_stars(message: str) -> int:
    """How many * a reader would see: emphasis does not end between a sign and a letter.

    >>> literal_stars("**注意：**这一行"), literal_stars("**注意**：这一行")
    (4, 0)
    """
    tokens = parser().parseInline(PLACE.sub(" ", message), {})[0].children
    return sum(token.content.count("*") for token in tokens if token.type == "text")


def straight_quotes(message: str) -> bool:
    """Whether a reader would see a straight quotation mark.

    >>> straight_quotes('他说"对"'), straight_quotes('他说“对”，`say("no")`，<i id="a">')
    (True, False)
    """
    rest = SCRIPTED.sub(" ", PLACE.sub(" ", message))
    return '"' in FORMULA.sub(" ", TAG.sub(" ", CODE.sub(" ", rest)))


def names_in(template: str) -> set[str]:
    return {
        name
        for expression in SCRIPTED.findall(template)
        for name in re.findall(r"[a-z]\w*", expression)
    }


def words_alone(message: str) -> str:
    """A message without its placeholders, whose names are no words."""
    return PLACE.sub(" ", SCRIPTED.sub(" ", message))


def faults(name: str, messages: Iterable[str]) -> Iterator[str]:
    """What is wrong in a catalogue, each with the line of its file."""
    path = path_of(name)
    catalogue = load(path)
    lines = lines_of(name)
    for english in dict.fromkeys(messages):
        message = catalogue.get(english)
        place = f"{path.relative_to(ROOT)}:{lines.get(english, 1)}"
        said = f"{english[:60]!r}"
        if message is None:
            yield f"{place}: it lacks {said}; run `make sync`"
        elif message.fuzzy:
            yield f"{place}: the English has changed, {said}; mend it and take out the word fuzzy"
        elif not message.string:
            if name not in underway():
                yield f"{place}: {said} is not translated"
        else:
            wrongs = list(differences(english, message.string))
            terms = wrong(words_alone(english), words_alone(message.string))
            wrongs += [f"{fault}, see {GLOSSARY.name}" for fault in terms]
            if name not in STRAIGHT and straight_quotes(message.string):
                wrongs.append("its quotation marks are straight: “ and ”")
            yield from (f"{place}: {said}: {fault}" for fault in wrongs)


def lines_of(name: str) -> dict[str, int]:
    """The line of a catalogue's file on which each message begins."""
    path, line_by_message = path_of(name), {}
    if not path.is_file():
        return {}
    catalogue = load(path)
    text = path.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(text, start=1) if line.startswith("msgid ")]
    known = [message.id for message in catalogue if message.id]
    # The first is the head's.
    for message, line in zip(known, starts[1:], strict=True):
        line_by_message[message] = line
    return line_by_message
