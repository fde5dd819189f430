"""What the benchmark of the explorer's page measures: a change that is painted, frames, bytes."""

import pytest

from attn_core.views import script
from benchmarks import driver, report
from benchmarks import model as whole
from benchmarks import page as bench
from benchmarks.viewers import made_up_model, names

pytestmark = pytest.mark.gate


@pytest.fixture
def opened(tmp_path, monkeypatch, browser):
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench, "ROUNDS", 2)
    path, count = bench.write_page(made_up_model(6), names(6), None)
    assert path.read_text(encoding="utf-8").count('"version"') == 1
    assert 10_000 < count < path.stat().st_size
    page = bench.opened(browser, path)
    yield page
    page.close()


@pytest.mark.parametrize("control", ["[type=range]", ".ax-stage input[value=weights]"])
def test_each_key_is_timed_until_its_change_is_painted(opened, control):
    """Once: a key that chooses a stage makes a click, too."""
    driver.watch(opened, "keydown")
    place = opened.locator(control).first
    times = bench.times_of(opened, place, ["ArrowLeft", "ArrowRight"])
    assert len(times) == 2
    assert min(times) > 0


def test_a_key_that_changes_nothing_is_not_timed(opened):
    driver.watch(opened, "keydown")
    with pytest.raises(RuntimeError, match="Shift must change what the explorer shows"):
        bench.times_of(opened, opened.get_by_role("slider", name="scale"), ["Shift", "Shift"])


def test_frames_are_counted_while_something_is_done(opened):
    gaps = bench.frames_of(opened, lambda: opened.wait_for_function("() => frames_.length > 5"))
    assert len(gaps) >= 5
    assert min(gaps) >= 0
    assert sum(gaps) > 0


def test_every_script_has_a_row_and_the_first_a_goal():
    rows = bench.scripts()
    assert [row["what"].split(",")[0] for row in rows] == list(script.files())
    assert [bool(row["goal"]) for row in rows] == [True] + [False] * (len(rows) - 1)
    assert all(set(row) == set(report.KEYS) for row in rows)


def test_a_goal_that_is_not_met_is_said(monkeypatch):
    monkeypatch.setattr(bench, "MOST_SCRIPT", 10)
    assert bench.scripts()[0]["met"] is False


@pytest.mark.slow
def test_a_change_of_a_whole_model_is_timed_until_it_is_painted(tmp_path, monkeypatch, browser):
    monkeypatch.setattr(whole, "FOLDER", tmp_path)
    monkeypatch.setattr(whole, "ROUNDS", 2)
    monkeypatch.setattr(whole, "STATIONS", whole.STATIONS[:1])
    rows = [*whole.changes(browser), whole.start(browser)]
    assert len(rows) == 3
    assert all(set(row) == set(report.KEYS) for row in rows)
    assert all(float(row["measured"].split()[0]) > 0 for row in rows)
    page = whole.opened(browser, whole.write_page(whole.view()).as_uri())
    with pytest.raises(RuntimeError, match="must change what is shown"):
        whole.times_of(page, [".am-name"], ".am-root")
    page.close()


def test_what_a_whole_model_adds_is_counted():
    rows = whole.bytes_of()
    assert sum(float(row["measured"].split()[0]) for row in rows[:-1]) == pytest.approx(
        float(rows[-1]["measured"].split()[0]), abs=0.2
    )
    assert rows[-1]["met"] is True
