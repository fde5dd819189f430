"""The hashes of a page's answers: what they keep from being read, and how little that is."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import exercises
from exercises.keys import fnv, key, rows_of

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[1]
HOUR = 3600
FARTHEST = 20_000  # units of the last place, to both sides of 0


# All of them, the nearest to 0 first, as digits: a hash takes in one sign after another.
UNITS = [unit for size in range(FARTHEST) for unit in sorted({size, -size})]
WRITTEN = np.array([str(unit).encode() for unit in UNITS])
SIGNS = WRITTEN.view(np.uint8).reshape(len(UNITS), -1).T.astype(np.uint32)


def found(name: str, number: int, cell: int, wanted: str) -> int | None:
    """What anyone finds who tries one number after the other, in units of its last place."""
    hashed = np.full(len(UNITS), fnv(f"{name} {number} {cell} "), np.uint32)
    for signs in SIGNS:
        hashed = np.where(signs == 0, hashed, (hashed ^ signs) * np.uint32(0x01000193))
    hits = np.flatnonzero(hashed == int(wanted, 16))
    return UNITS[hits[0]] if len(hits) else None


def test_the_pages_for_instructors_and_readers_say_what_a_hash_protects():
    right = tried = slow = 0
    for exercise in exercises.load().values():
        for number, field in enumerate(exercise.fields):
            table = list(chain(*rows_of(exercise, field, exercise.solution)))
            for cell, (unit, wanted) in enumerate(
                zip(table, key(exercise, number)["right"], strict=True)
            ):
                tried += 1
                right += found(exercise.id, number, cell, wanted) == unit
                # Of the half a second that a reader waits, each hash has its share.
                hashes = len(table) * (3 if field.places else 1)
                slow += 0.5 / hashes * min(2 * abs(unit) + 1, 2 * FARTHEST)
    page = (ROOT / "book" / "for_instructors.md").read_text(encoding="utf-8")
    assert "finds nearly all the answers in seconds" in page
    assert 0.95 * tried < right < tried
    assert "they do not protect the answers" in page
    assert "hours on one processor, and minutes on a hundred" in page
    assert 2 * HOUR < slow < 100 * HOUR / 2
    page = (ROOT / "book" / "how_to_use.md").read_text(encoding="utf-8")
    assert "anyone who wants to find it can try all numbers" in page
