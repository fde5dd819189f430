"""What the API reference says: the docstrings of the names that book/api.md lists."""

from __future__ import annotations

import importlib
import re

from publishing.translation.language import said

CATALOGUE = "docstrings"
# The chapter that teaches a name, as the docstring or its translation has it; the site makes links
# of the numbers.
TAUGHT = re.compile(r"\s*(?:Taught\s+in\s+chapters?\b[^.]*\.|讲解见第[^。]*。)")
# "q [*, L, D], k …:" or "keep: …": a line that explains arguments.
ARGUMENTS = re.compile(r"[a-z]\w*(?:, [a-z]\w*)*(?:: | \[.*?\](?:,|:))")


def named(name: str) -> object:
    """The object that a dotted name stands for, rather than a module of the same name.

    >>> named("attn_core.views.paste").__module__
    'attn_core.views.paste'
    """
    first, *parts = name.split(".")
    path, target = first, importlib.import_module(first)
    for part in parts:
        path = f"{path}.{part}"
        if not hasattr(target, part):
            importlib.import_module(path)
        target = getattr(target, part)
    return target


def paragraphs(lines: list[str]) -> list[str]:
    return re.split(r"\n\s*\n", "\n".join(lines).strip())


def blocks(paragraph: list[str]) -> list[str]:
    """A paragraph's lines joined, but for lines that explain arguments: "* " before each.

    >>> blocks(["q [L, D]: the queries,", "    a row each", "keep: the mask", "It raises."])
    ['* q [L, D]: the queries, a row each', '* keep: the mask', 'It raises.']
    """
    joined: list[str] = []
    for line in paragraph:
        ended = not joined or joined[-1].endswith((".", ";")) or joined[-1].startswith("* ")
        is_indented = line.startswith(" ")
        if not is_indented and ended and ARGUMENTS.match(line):
            joined.append(f"* {line}")
            continue
        is_new = not joined or (joined[-1].startswith("* ") and ended and line[:1].isupper())
        if is_new and not is_indented:
            joined.append(line)
        else:
            joined[-1] += f" {line.strip()}"
    return joined


def parts(block: str) -> tuple[str, str]:
    """A block of a docstring, and its sentence about chapters.

    >>> parts("A box. Taught in chapter 04.")
    ('A box.', 'Taught in chapter 04.')
    """
    sentence = TAUGHT.search(block)
    if not sentence:
        return block, ""
    return block.replace(sentence[0], "").strip(), sentence[0].strip()


def docstring(block: str) -> str:
    """A block in the language that is made."""
    text, taught = parts(block)
    return " ".join(said(part, CATALOGUE) for part in (text, taught) if part)
