"""The file beside a page that says where each number of its prose comes from.

    scores-text = [                               the passage: a cell's id, or a heading
      ["0.9544 1.4950", "scores-row[0, 0:2]"],    numbers as they stand there, and their origin
    ]

An origin is an expression over the page's outputs (see `evaluating`), or says why there is none:
`because the paper appeared in this year`. A `?` in front asks a person to look.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from publishing import ROOT
from publishing.prose.numbers import Number
from publishing.prose.pages import Page, Passage
from publishing.prose.rules import explained

FOLDER = ROOT / "tests" / "sources" / "origins"


@dataclass(frozen=True)
class Entry:
    """Numbers that stand side by side in a passage, as written, and where they come from."""

    written: tuple[str, ...]
    origin: str
    around: str = field(default="", compare=False)  # the words about them, when last written

    def __str__(self) -> str:
        around = self.around or f"⟨{' '.join(self.written)}⟩"
        return f"“{around}”, whose origin was: {self.origin}"

    @property
    def is_open(self) -> bool:
        return self.origin.startswith("?")

    @property
    def is_constant(self) -> bool:
        return self.origin.startswith("because ")


Origins = dict[str, list[Entry]]  # by passage


def path_of(page: Page) -> Path:
    return FOLDER / f"{page.name}.toml"


def load(page: Page) -> Origins:
    path = path_of(page)
    return parse(path.read_text(encoding="utf-8")) if path.exists() else {}


def parse(text: str) -> Origins:
    comments = iter(line.partition("],  # ")[2] for line in text.splitlines() if line[:3] == "  [")
    return {
        passage: [
            Entry(tuple(written.split()), origin, next(comments)) for written, origin in entries
        ]
        for passage, entries in tomllib.loads(text).items()
    }


def due(page: Page, passage: Passage) -> list[Number]:
    """The numbers of a passage that need an origin: no rule vouches for them."""
    rest = explained(page, passage)
    return [number for number in passage.numbers if number.start not in rest]


def quoted(text: str) -> str:
    """A string as TOML has it, without backslashes where that can be."""
    return f"'{text}'" if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)


def text(page: Page, origins: Origins) -> str:
    """The file's text: a line for each entry, with the words around its numbers."""
    lines = [f"# Where each number in the prose of {page.path.name} comes from."]
    lines += ["# `make numbers` writes what it can derive and puts a ? where a person has to look."]
    for passage in page.passages:
        if passage.id not in origins:
            continue
        is_bare = re.fullmatch(r"[A-Za-z0-9_-]+", passage.id)
        lines += ["", f"{passage.id if is_bare else quoted(passage.id)} = ["]
        numbers, at = due(page, passage), 0
        for entry in origins[passage.id]:
            part = numbers[at : at + len(entry.written)]
            at += len(entry.written)
            around = passage.around(part[0].start, part[-1].end)
            pair = f"[{quoted(' '.join(entry.written))}, {quoted(entry.origin)}]"
            lines.append(f"  {pair},  # {around}")
        lines.append("]")
    return "\n".join(lines) + "\n"
