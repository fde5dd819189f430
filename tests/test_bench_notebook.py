"""What the benchmark of the explorer in a notebook measures: a live kernel, and a fresh process."""

import pytest

from benchmarks import notebook as bench
from benchmarks import report

pytestmark = pytest.mark.gate


def test_showing_and_drawing_are_timed_apart(monkeypatch):
    monkeypatch.setattr(bench, "ROUNDS", 1)
    live, drawn = bench.shown(heads=1)
    assert (live["goal"], drawn["goal"]) == ("under 100 ms", "")
    assert live["met"] in (True, False)
    assert drawn["met"] is None
    assert all(set(row) == set(report.KEYS) for row in (live, drawn))


def test_the_import_has_a_goal(monkeypatch):
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr(bench, "MOST_IMPORT", 0.0)
    assert bench.imported()["met"] is False


def test_a_cell_that_fails_is_no_measurement():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bench.printed("1 / 0")
