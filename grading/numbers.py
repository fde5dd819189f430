"""Each student's own numbers: from a secret, the exercise and the student."""

from __future__ import annotations

import ast
import hashlib
import hmac
import math
import re
from typing import Any

import numpy as np
import torch

from exercises.form import Exercise

PLAIN = bool | int | float | str | list | tuple | dict | range
UNSAID = (torch.float32, torch.int64, torch.bool)  # what torch takes Python's numbers for
HIDDEN = 2  # more variants that a function is asked for, which nobody has seen


def seed_of(secret: bytes, exercise: str, student: str, hidden: int = 0) -> int:
    """A seed from 1 to 2**32 − 1.

    >>> seed_of(b"secret", "04-a-fourth-character", "ada")
    555591581
    >>> seed_of(b"secret", "04-a-fourth-character", "bob")
    287908251
    """
    text = "\n".join((exercise, student, str(hidden)))
    digest = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return 1 + int.from_bytes(digest[:8], "big") % (2**32 - 1)


def seeds_of(secret: bytes, exercise: str, student: str) -> list[int]:
    """The student's own seed, then the hidden ones."""
    return [seed_of(secret, exercise, student, hidden) for hidden in range(1 + HIDDEN)]


def mark_of(secret: bytes, student: str) -> str:
    """What a handout carries, so that one handed in by another student is noticed."""
    return hmac.new(secret, b"handout\n" + student.encode(), hashlib.sha256).hexdigest()[:12]


def given(exercise: Exercise, seed: int) -> str:
    """Code that defines the numbers of a seed that the task or the solution names."""
    texts = [exercise.solution]
    if exercise.kind == "values":  # a wrong way may need what the solution does not
        texts += [mistake.code for mistake in exercise.mistakes]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for code in re.findall(r"`([^`]+)`", exercise.task(seed)):
        used |= set(re.findall(r"\w+", code))
    lines = []
    for name, value in exercise.parameters(seed).items():
        text = literal(value) if name in used else None
        if text is not None:
            lines.append(f"{name} = {text}")
    if any("torch." in line for line in lines):
        lines = ["import torch", "", *lines]
    return "\n".join(lines)


def literal(value: Any) -> str | None:
    """Python code for a value, or None if there is none.

    >>> literal({("a", "t"): 10}), literal({"a": print})
    ("{('a', 't'): 10}", None)
    """
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype in UNSAID else f", dtype={value.dtype}"
        return f"torch.tensor({rows(value.tolist(), value.dtype)}{dtype})"
    if isinstance(value, np.generic):
        return repr(value.item())
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    if isinstance(parts, list | tuple) and any(literal(part) is None for part in parts):
        return None
    return repr(value) if isinstance(value, PLAIN) else None


def rows(value: Any, dtype: torch.dtype) -> str:
    """Nested lists in which a float32 has only the digits that it needs."""
    if isinstance(value, list):
        return f"[{', '.join(rows(part, dtype) for part in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if dtype == torch.float32:
        return np.format_float_positional(np.float32(value), trim="0")
    return repr(value)
