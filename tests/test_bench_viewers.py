"""What the comparison of viewers measures: pages that paint, pages that do not, and its rows."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import opening, viewers
from tests.patience import TO_START

pytestmark = pytest.mark.gate


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for the pages in which the scripts of other viewers need not be fetched."""
    for name in opening.SCRIPTS:
        (tmp_path / name).write_text("document.body.append(document.createElement('canvas'));")
    monkeypatch.setattr(viewers, "FOLDER", tmp_path)
    return tmp_path


def write(folder, text):
    path = folder / "page.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'><body>{text}", encoding="utf-8")
    return path


def test_the_explorer_paints(folder):
    page = write(folder, viewers.explorer_page(viewers.made_up_model(8)))
    opened = opening.open_page(page, folder, limit=TO_START)
    assert opened["first"] > 0
    assert opened["memory"] > 1e7
    assert opened["why"] == ""


def test_an_empty_page_has_no_picture(folder):
    """Nor one with a canvas on which nothing is drawn."""
    script = '<script src="https://example.invalid/d3.min.js"></script>'
    opened = opening.open_page(write(folder, script), folder, limit=1)
    assert opened["first"] is None
    assert opened["why"] == "nothing painted within 1 s"


def test_a_line_drawn_by_a_foreign_script_is_a_picture(folder):
    (folder / "d3.min.js").write_text("document.body.innerHTML = '<svg><line /></svg>';")
    script = '<script src="https://example.invalid/d3.min.js"></script>'
    assert opening.open_page(write(folder, script), folder, limit=TO_START)["first"] > 0


def test_a_fresh_copy_of_the_browser_is_not_taken_for_it():
    """The browser forks, and until the copy begins its own work both have the same command."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as copy:
        assert opening.first_of({copy.pid, os.getpid()}) == os.getpid()
        copy.communicate()


def rows(folder, first, others_first, size=10):
    seconds = {name: [1.0] for name in viewers.VIEWERS}
    opened = {}
    for name in viewers.VIEWERS:
        is_ours = name == "explorer"
        viewers.page_path(name, 32).write_bytes(bytes(size if is_ours else 100))
        painted = first if is_ours else others_first
        why = "" if painted else "nothing painted within 1 s"
        opened[name] = [{"first": painted, "memory": 5e6, "why": why}]
    return viewers.rows_of(32, seconds, opened)


def test_the_goal_is_met_by_the_smallest_and_soonest_alone(folder):
    assert [row["met"] for row in rows(folder, 1.0, 2.0)] == [True, None, None, None]
    assert rows(folder, 1.0, None)[0]["met"]
    assert not rows(folder, 3.0, 2.0)[0]["met"]
    assert not rows(folder, 1.0, 2.0, size=200)[0]["met"]
    assert not rows(folder, None, None)[0]["met"]


def test_what_does_not_open_says_so(folder):
    row = rows(folder, 1.0, None)[1]
    assert row["measured"]["first picture after"] == "none"
    assert row["note"] == "nothing painted within 1 s"
