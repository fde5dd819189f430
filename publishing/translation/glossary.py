"""The terms of the Chinese edition, and what a translation does with them.

book/locale/zh_CN/glossary.toml says which Chinese word stands for which English one; its head says
what each field means.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass

from publishing import ROOT

GLOSSARY = ROOT / "book" / "locale" / "zh_CN" / "glossary.toml"
# What no translation changes: code, formulas, where a link leads, tags.
UNCHANGED = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|<[^>]*>", re.DOTALL)
# Words of the notes that the book grew out of.
QUOTED = re.compile(r"「[^」]*」")
# An English title or example that stands in the translation as it is has this many words or more.
KEPT = 3


@dataclass(frozen=True)
class Term:
    """An English term and its Chinese one."""

    name: str
    en: tuple[str, ...]
    zh: str
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    note: str = ""
    checked: bool = True


@functools.cache
def terms() -> dict[str, Term]:
    """All terms by their names, as `terms()["query"].zh`."""
    tables = tomllib.loads(GLOSSARY.read_text(encoding="utf-8"))
    tables.pop("names")
    made = {}
    for name, table in tables.items():
        table["never"] = table.pop("not", ())
        lists = {key: tuple(table.pop(key, ())) for key in ("en", "also", "never", "unless")}
        made[name] = Term(name=name, **lists, **table)
    return made


@functools.cache
def names() -> dict[str, str]:
    """The Chinese title of each page, by its file without the ending, as `names()["book/map"]`."""
    return tomllib.loads(GLOSSARY.read_text(encoding="utf-8"))["names"]


def wrong(english: str, chinese: str) -> list[str]:
    """What the translation of a paragraph does against the glossary, a sentence each.

    Of "A row's score." and 一行的分数 it says that 得分 is missing, and that 分数 stands for it.
    """
    form_of = said(english, chinese)
    text = packed(plain(chinese))
    rest = packed(QUOTED.sub(" ", plain(chinese)))
    for word in sorted({word for term in form_of for word in (term.zh, *term.also)}, key=len)[::-1]:
        rest = rest.replace(packed(word), " ")
    faults = []
    for term, form in form_of.items():
        if not any(packed(word) in text for word in (term.zh, *term.also)):
            faults.append(f"{form}: {term.zh} is missing")
        faults += [
            f"{form}: {word} stands for it"
            for word in term.never
            if word in rest and word not in english
        ]
    return faults


def said(english: str, chinese: str = "") -> dict[Term, str]:
    """The checked terms of an English paragraph, each with the form that it has there."""
    text = without_kept(plain(english), chinese)
    looked_for, whose = forms()
    form_of: dict[Term, str] = {}
    for match in looked_for.finditer(text):
        if term := whose.get(match[0]) or whose.get(match[0].lower()):
            form_of.setdefault(term, match[0])
    return form_of


@functools.cache
def forms() -> tuple[re.Pattern, dict[str, Term | None]]:
    """What to look for, the longest first, and whose it is; a form with a capital as written."""
    whose: dict[str, Term | None] = {}
    for term in terms().values():
        whose |= dict.fromkeys(term.unless)
        whose |= dict.fromkeys(term.en, term if term.checked else None)
    looked = [
        re.escape(form) if form != form.lower() else f"(?i:{re.escape(form)})"
        for form in sorted(whose, key=len, reverse=True)
    ]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(looked)})(?![\w-])"), whose


def plain(text: str) -> str:
    """A paragraph without what no translation changes, and without the signs of emphasis."""
    return " ".join(UNCHANGED.sub(" ", text).replace("*", "").split())


def without_kept(english: str, chinese: str) -> str:
    """English without the titles and examples that stand in the translation as they are."""
    words = english.split(" ")
    start = 0
    while start + KEPT <= len(words):
        stop = start + KEPT
        while stop <= len(words) and bare(words[start:stop]) in chinese:
            stop += 1
        # Of one that is kept, `stop` is one word too far; of one that is not, nothing goes.
        if stop > start + KEPT:
            words[start : stop - 1] = ["·"]
        start += 1
    return " ".join(words)


def bare(words: list[str]) -> str:
    """A few words without the signs around them."""
    return " ".join(words).strip(',.;:“”"()[]')


def packed(text: str) -> str:
    """Text without spaces and capitals, in which a term is found whatever stands around it."""
    return "".join(text.split()).lower()
