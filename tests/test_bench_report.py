"""The benchmarks' tables are made of the stored rows; the command that makes them works."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks import plot, report

pytestmark = pytest.mark.gate

ROW = {
    "section": "toy",
    "what": "a thing",
    "goal": "below 2 s",
    "measured": "1.5 s",
    "met": True,
    "spread": "",
    "note": "",
}


def test_the_stored_tables_are_those_of_the_stored_rows():
    stored = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    assert report.TABLES.read_text(encoding="utf-8") == report.tables(stored)


def test_the_stored_pictures_are_those_of_the_stored_rows(tmp_path):
    stored = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    plot.draw(stored, tmp_path)
    drawn, kept = (
        {path.name: path.read_bytes() for path in folder.glob("results*.svg")}
        for folder in (tmp_path, plot.FOLDER)
    )
    assert len(drawn) > 1
    assert drawn == kept


def test_the_page_shows_each_picture():
    page = (plot.FOLDER.parent / "book" / "benchmarks.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(\.\./benchmarks/([^)]+\.svg)\)", page)
    assert sorted(shown) == sorted(path.name for path in plot.FOLDER.glob("*.svg"))


def test_every_section_says_where_and_when():
    stored = json.loads(report.RESULTS.read_text(encoding="utf-8"))
    for name, section in stored.items():
        assert all(section[key] for key in ("title", "command", "machine", "date", "versions"))
        assert section["rows"]
        assert all(set(row) == set(report.KEYS) for row in section["rows"])
        assert {row["section"] for row in section["rows"]} == {name}


def test_a_section_is_replaced_and_the_others_stay(tmp_path):
    path = tmp_path / "results.json"
    for section, measured in (("toy", "1 s"), ("other", "2 s"), ("toy", "3 s")):
        row = ROW | {"section": section, "measured": measured}
        report.store([row], section, "make bench", ["torch"], path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert {name: s["rows"][0]["measured"] for name, s in stored.items()} == {
        "toy": "3 s",
        "other": "2 s",
    }


def test_a_row_that_lacks_a_key_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a row must have the keys"):
        report.store([{"section": "toy"}], "Toy", "make bench", [], tmp_path / "results.json")
