"""What was released stays: no version twice, no exercise's id lost or given to another."""

from __future__ import annotations

import json
import re

import pytest

import exercises
from publishing import ROOT
from publishing.release import RELEASED, unfit, version

STORED = json.loads(RELEASED.read_text(encoding="utf-8"))
HEADING = re.compile(r"^## (\d+\.\d+\.\d+)(, not yet released)?", re.MULTILINE)


def faults(released: dict, ids: set[str], now: str, changelog: str) -> list[str]:
    """What contradicts the record, a sentence each."""
    wrong = []
    listed, retired = set(released["exercises"]), set(released["retired"])
    if lost := sorted(listed - ids - retired):
        wrong.append(f"gone, and not listed as retired: {', '.join(lost)}")
    if again := sorted(retired & ids):
        wrong.append(f"retired, and used again: {', '.join(again)}")
    newest, is_open = HEADING.search(changelog).groups()
    if newest != now:
        wrong.append(f"the changelog's first version is {newest}, pyproject's {now}")
    if is_open and now in released["versions"]:
        wrong.append(f"{now} was released; what is not yet released needs a new version")
    number = [int(part) for part in now.split(".")]
    if any([int(part) for part in old.split(".")] > number for old in released["versions"]):
        wrong.append(f"{now} is older than a released version")
    return wrong


def test_nothing_released_is_lost():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert faults(STORED, set(exercises.load()), version(), changelog) == []


BEFORE = {"versions": ["0.1.0"], "exercises": ["03-a", "03-b"], "retired": ["03-b"]}


@pytest.mark.parametrize(
    ("ids", "now", "changelog", "word"),
    [
        ({"03-c"}, "0.2.0", "## 0.2.0, not yet released", "gone"),
        ({"03-a", "03-b"}, "0.2.0", "## 0.2.0, not yet released", "used again"),
        ({"03-a"}, "0.2.0", "## 0.1.0", "the changelog's first"),
        ({"03-a"}, "0.1.0", "## 0.1.0, not yet released", "needs a new version"),
        ({"03-a"}, "0.0.9", "## 0.0.9", "older"),
    ],
)
def test_each_fault_is_seen(ids, now, changelog, word):
    (sentence,) = faults(BEFORE, ids, now, changelog)
    assert word in sentence


def test_a_good_record_has_no_fault():
    assert faults(BEFORE, {"03-a", "03-c"}, "0.2.0", "## 0.2.0, not yet released") == []
    assert faults(BEFORE, {"03-a"}, "0.1.0", "## 0.1.0") == []


def test_what_may_not_be_released():
    tag, record = f"v{version()}", {"versions": [], "exercises": ["03-a"]}
    assert unfit(tag, record, ["03-a"]) is None
    assert "the tag must be" in unfit("v0.0.0", record, ["03-a"])
    assert "released before" in unfit(tag, record | {"versions": [version()]}, ["03-a"])
    assert "lacks 03-b" in unfit(tag, record, ["03-a", "03-b"])
