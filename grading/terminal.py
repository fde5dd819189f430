"""The one way to the instructor's terminal: what is quoted there is text, and no command."""

from __future__ import annotations

import sys
from typing import NoReturn


def harmless(text: str) -> str:
    """A line in which what a terminal would obey is spelled out.

    >>> print(harmless("\\x1b[2J=1+1\\n"))
    \\x1b[2J=1+1\\n
    """
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def say(text: str) -> None:
    print(harmless(text), flush=True)


def ended(sentence: object) -> str:
    """With a full stop, unless something else ends it.

    >>> ended("did you mean 'cell'?"), ended("it is missing")
    ("did you mean 'cell'?", 'it is missing.')
    """
    text = str(sentence)
    return text if text.endswith("?") else f"{text}."


def stop(text: str) -> NoReturn:
    """End the command, with a sentence."""
    sys.exit(harmless(text))
