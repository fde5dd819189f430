"""The measured class of 300: the table on the page is made of the stored numbers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.grading.many import STORED, TABLE, WHOLE

PAGE = Path(__file__).parents[2] / "book" / "for_instructors.md"


def test_the_page_shows_what_was_measured():
    measured = json.loads(STORED.read_text(encoding="utf-8"))
    table = STORED.with_suffix(".md")
    assert table.read_text(encoding="utf-8") == TABLE.format(**measured)
    assert f"{{include}} ../tests/grading/{table.name}" in PAGE.read_text(encoding="utf-8")


def test_nothing_was_lost_by_the_kill():
    measured = json.loads(STORED.read_text(encoding="utf-8"))
    assert measured["students"] == measured["graded"] == WHOLE
    assert WHOLE // 3 < measured["killed"] < WHOLE
    assert measured["exit"] == measured["twice"] == measured["wrong"] == 0
