"""What is measured of a model that learns in the page."""

import pytest

from benchmarks import learning, report
from benchmarks.timing import NOT_TIMED

pytestmark = pytest.mark.gate


def test_each_side_does_its_steps(browser, monkeypatch):
    monkeypatch.setattr(learning, "ROUNDS", 2)
    monkeypatch.setattr(learning, "STEPS", 3)
    page = learning.page_of_ours(browser)
    times = learning.taken_in_turn(page, None)
    assert {name: len(each) for name, each in times.items()} == {"ours": 2, "python": 2}
    assert min(times["ours"]) > 0
    rewound = page.evaluate("ask('rewind', { step: 9 })")
    assert rewound["count"] == 9, "three times three steps"
    page.close()


def test_the_film_has_a_frame_of_each_layer_every_ten_steps(browser):
    page = learning.page_of_ours(browser)
    length = page.evaluate(learning.FRAMES, {"layers": 2, "steps": 20})
    assert length == 3 * 2 * 12 * 12 * 4
    page.close()


@pytest.mark.parametrize(("milliseconds", "met"), [(9.0, True), (11.0, False)])
def test_a_step_has_a_goal(milliseconds, met):
    row = learning.row_of("a", "b", [1.0, milliseconds, 90.0], "1 KB", is_quiet=True, goal=10)
    assert set(row) == set(report.KEYS)
    assert (row["measured"]["a step"], row["met"]) == (f"{milliseconds} ms", met)


def test_a_busy_machine_gives_no_time_and_says_so():
    row = learning.row_of("a", "b", [1.0], "1 KB", is_quiet=False, goal=10)
    assert (row["measured"]["a step"], row["spread"], row["met"]) == ("–", "", None)
    assert row["note"] == NOT_TIMED
