"""Forms of an answer that leave a choice, so that nobody can tell whether it is right."""

from __future__ import annotations

from typing import Any

import torch

from exercises.comparing import hides_numbers, listed
from exercises.messages import sentence
from exercises.plain import plain


def not_taken(value: Any, wants_text: bool = False) -> str:
    """Why a value is in no form that is taken, in one sentence; "" if nothing is wrong with it.

    >>> not_taken({0.5, 0.2})
    'a set has no order: make it a list'
    >>> not_taken([0.5, "0.2"])
    'a string is not a number: leave out the quotation marks'
    >>> not_taken([0.5, 0.2]), not_taken("0.2", wants_text=True)
    ('', '')

    wants_text: whether the right answer is made of words.
    """
    value = plain(value)
    if hides_numbers(value):
        return sentence("some of the numbers are masked: fill them in")
    if isinstance(value, torch.Tensor) and value.is_nested:
        return sentence("a nested tensor has no single shape: make it a list")
    if isinstance(value, torch.Tensor) and value.is_meta:
        return sentence("a tensor on the meta device has no numbers")
    if isinstance(value, str | bytes) and not wants_text and is_number(value):
        return sentence("a string is not a number: leave out the quotation marks")
    if isinstance(value, set | frozenset):
        return sentence("a set has no order: make it a list")
    if isinstance(value, complex | torch.Tensor) and torch.is_complex(torch.as_tensor(value)):
        return sentence("a complex number with an imaginary part is not a real number")
    if isinstance(value, dict) and listed(value) is None:
        return sentence(
            "a dict has names but no places: make it a list, or use the requested names"
        )
    if isinstance(value, list | tuple):
        return next(filter(None, (not_taken(part, wants_text) for part in value)), "")
    return ""


def is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
