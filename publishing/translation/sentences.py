"""What the checks of exercises say: sentences in their code, some with numbers or names put in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from exercises.messages import Messages
from publishing.translation.catalogues import translations
from publishing.translation.markdown import has_words

CATALOGUE = "exercises"


def form_of(node: ast.expr) -> str | None:
    """A string of the code as a form, with {0}, {1} where something is put in; None if it is none.

    >>> form_of(ast.parse("f'it holds for {n} words'", mode="eval").body)
    'it holds for {0} words'
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts, count = [], 0
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part.value)
            else:
                parts.append(f"{{{count}}}")
                count += 1
        return "".join(parts)
    return None


def said_in(path: Path) -> Iterator[str]:
    """The sentences of the checks in an exercise's file: the first of each pair, or of a `Clue`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        first = None
        # The second of a check is worked out; two strings are a known mistake's old and new text.
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and form_of(node.elts[1]) is None:
            first = node.elts[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Clue":
            first = node.args[0]
        form = form_of(first) if first is not None else None
        if form and " " in form and has_words(form) and "\n" not in form:
            yield form


@cache
def known() -> Messages:
    return Messages(translations(CATALOGUE))


def in_chinese(sentence: str) -> str:
    """A sentence of a check in Chinese; as it is, where there is no translation."""
    return known().tell(sentence)
