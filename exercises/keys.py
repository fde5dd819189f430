"""What a page needs to judge typed numbers: not the numbers, but a hash of each.

A page holds for every number of the right answer, and of every known mistake, the hash of its
rounded value. A browser hashes what was typed and compares. This keeps an answer from being read by
accident, in the page or in its source. It protects nothing: a program that tries all numbers finds
nearly every answer in seconds. A hash that takes a reader half a second would make it hours for one
processor and minutes for a hundred: there are too few numbers of two decimals for any hash to hide
one. And browsers have slow hashes (`crypto.subtle`) for pages that come by https only.
"""

from __future__ import annotations

from itertools import chain

import torch

from exercises.form import Exercise, Field
from exercises.known import Mistake

Key = dict


def fnv(text: str) -> int:
    """The hash FNV-1a of 32 bits, of ASCII.

    >>> hex(fnv("a")), hex(fnv("foobar"))
    ('0xe40c292c', '0xbf9cf968')

    Fowler, Noll, Vo: "The FNV Non-Cryptographic Hash Algorithm" (RFC 9923), whose example this is.
    """
    hashed = 0x811C9DC5
    for byte in text.encode("ascii"):
        hashed = (hashed ^ byte) * 0x01000193 & 0xFFFFFFFF
    return hashed


def units(value: float, places: int) -> int:
    """A number in units of its last place: 0.306 with two places is 31."""
    return round(float(value) * 10**places)


def rows_of(exercise: Exercise, field: Field, code: str) -> list[list[int]] | None:
    """What a field's expression gives after `code`, in units; None if it gives no table."""
    try:
        names = {"torch": torch, **exercise.run(code)}
        value = torch.as_tensor(eval(field.expression, names)).double()
    except Exception:  # a mistake may give anything
        return None
    if value.ndim > 2 or not value.isfinite().all():
        return None
    table = value.reshape(1, -1) if value.ndim < 2 else value
    return [[units(cell, field.places) for cell in row] for row in table.tolist()]


def right_rows(exercise: Exercise, field: Field) -> list[list[int]]:
    table = rows_of(exercise, field, exercise.solution)
    if table is None:
        raise ValueError(f"{exercise.id}: {field.expression} is no table of numbers")
    return table


def is_near(ours: list[list[int]], theirs: list[list[int]], places: int) -> bool:
    """True if what is typed for one could be taken for the other."""
    room = 2 if places else 0
    if [*map(len, ours)] != [*map(len, theirs)]:
        return False
    pairs = zip(chain(*ours), chain(*theirs), strict=True)
    return all(abs(a - b) <= room for a, b in pairs)


def hashes(exercise: Exercise, number: int, table: list[list[int]]) -> list[str]:
    """The hash of each cell of a table, row by row."""
    cells = [cell for row in table for cell in row]
    return [f"{fnv(f'{exercise.id} {number} {i} {cell}'):08x}" for i, cell in enumerate(cells)]


def known(exercise: Exercise, field: Field) -> list[tuple[Mistake, list[list[int]]]]:
    """The mistakes that a field tells from the right answer and from each other, with their values.

    >>> import exercises
    >>> exercise = exercises.load()["04-a-fourth-character"]
    >>> [mistake.name for mistake, _ in known(exercise, exercise.fields[2])]
    ['no-scale', 'scale-after-softmax']
    """
    taken, mistaken = [right_rows(exercise, field)], []
    for mistake in exercise.mistakes:
        table = rows_of(exercise, field, mistake.code)
        if table is not None and not any(is_near(table, other, field.places) for other in taken):
            taken.append(table)
            mistaken.append((mistake, table))
    return mistaken


def key(exercise: Exercise, number: int) -> Key:
    """All that a page needs for one field of an exercise; label and hints are Markdown."""
    field = exercise.fields[number]
    table = right_rows(exercise, field)
    return {
        "label": field.label or f"`{field.expression}`",
        "rows": len(table),
        "columns": len(table[0]),
        "places": field.places,
        "right": hashes(exercise, number, table),
        "mistakes": [
            {
                "rows": len(wrong),
                "columns": len(wrong[0]),
                "cells": hashes(exercise, number, wrong),
                "hint": mistake.hint,
                "name": mistake.name,
            }
            for mistake, wrong in known(exercise, field)
        ],
    }
