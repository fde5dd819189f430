"""The catalogues of messages, `book/locale/zh_CN/LC_MESSAGES/<page>.po`.

They have neither dates nor line numbers, so that a file changes where its messages do. Those of the
exercises and of grading are written once more as JSON beside their code, which runs where no
catalogue can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po

from publishing import ROOT

LANGUAGE = "zh_CN"
LOCALE = ROOT / "book" / "locale"
SHIPPED = {"exercises": ROOT / "exercises" / "zh.json", "grading": ROOT / "grading" / "zh.json"}
# In place of the moment when a file was made.
SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = "Attention, Number by Number"


def path_of(name: str, language: str = LANGUAGE) -> Path:
    """The file of a catalogue: `chapters/03_self_attention` or `exercises`."""
    return LOCALE / language / "LC_MESSAGES" / f"{name}.po"


def files(language: str = LANGUAGE) -> list[Path]:
    """Every stored catalogue."""
    return sorted((LOCALE / language / "LC_MESSAGES").rglob("*.po"))


def load(path: Path) -> Catalog:
    """A catalogue as it is stored; an empty one if there is no file."""
    if not path.is_file():
        return Catalog(locale=LANGUAGE)
    with path.open("rb") as file:
        return read_po(file, locale=LANGUAGE)


def template(messages: Iterable[tuple[str, str]]) -> Catalog:
    """Messages with what a translator should know of each, in their order, each once."""
    made = Catalog(project=PROJECT, creation_date=SOME_DAY)
    for message, comment in messages:
        if message not in made:
            made.add(message, auto_comments=[comment] if comment else [])
    return made


def updated(old: Catalog, messages: Iterable[tuple[str, str]]) -> bytes:
    """A catalogue with these messages: those that it has keep their translations; one that is close
    to an old one gets its translation, marked as fuzzy."""
    fresh = template(messages)
    old.update(fresh)
    made = Catalog(
        locale=LANGUAGE,
        project=PROJECT,
        version="",
        header_comment="",
        creation_date=SOME_DAY,
        revision_date=SOME_DAY,
        fuzzy=False,
    )
    for message in fresh:
        if message.id:
            known = old[message.id]
            flags = {"fuzzy"} if "fuzzy" in known.flags and known.string else set()
            made.add(message.id, known.string, flags=flags, auto_comments=message.auto_comments)
    out = BytesIO()
    write_po(out, made, width=0, ignore_obsolete=True)
    return out.getvalue()


def write(name: str, messages: Iterable[tuple[str, str]]) -> bool:
    """Bring a stored catalogue up to date; True if it has changed."""
    path = path_of(name)
    text = updated(load(path), messages)
    if path.is_file() and path.read_bytes() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return True


def finished(name: str) -> dict[str, str]:
    """What a stored catalogue says, by its messages; fuzzy and empty ones are not in it."""
    return {
        message.id: message.string
        for message in load(path_of(name))
        if message.id and message.string and not message.fuzzy
    }


@cache
def translations(name: str) -> dict[str, str]:
    """The same, for who reads it often."""
    return finished(name)


def shipped() -> dict[Path, str]:
    """What each file of JSON should say: each message with its translation, if that is finished."""
    return {
        path: json.dumps(finished(name), ensure_ascii=False, indent=0) + "\n"
        for name, path in SHIPPED.items()
    }
