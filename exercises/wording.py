"""The text of an exercise, with the numbers of the variant that a reader has."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from jinja2 import Environment, StrictUndefined, Template


def worded(text: str, parameters: dict[str, Any], *, chapter: bool) -> str:
    """A text with its marks filled in: Jinja's, so a text that has none stays as it is.

    >>> text = "from `token` = {{ token }}{% if chapter %}, as above{% endif %}"
    >>> worded(text, {"token": torch.tensor([0.0, 1.0])}, chapter=True)
    'from `token` = (0, 1), as above'
    >>> worded(text, {"token": torch.tensor([1.0, 0.5])}, chapter=False)
    'from `token` = (1, 0.5)'

    chapter: whether it stands in the chapter, and not in a handout, which has neither what the
    chapter has defined nor anything above or below.
    """
    return template(text).render(chapter=chapter, **parameters)


def shown(value: Any) -> Any:
    """A value as a text has it: a row in parentheses, a whole number without a point."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return f"({', '.join(str(shown(part)) for part in value)})"
    return f"{value:g}" if isinstance(value, float) else value


@lru_cache(maxsize=256)
def template(text: str) -> Template:
    return Environment(undefined=StrictUndefined, finalize=shown, autoescape=False).from_string(
        text
    )
