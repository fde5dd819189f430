"""Which tests are run for an emptied function, and in which order."""

from collections import Counter

from checks.page_functions import Function
from checks.page_mutants import QUICK, SHORT, batches, chosen, files_of_tests
from checks.page_runs import PATIENCE

ONE = Function("one", 0, 2, "{}")


def noted(name, seconds, *entered):
    return {"name": name, "seconds": seconds, "entered": [["a.js", each] for each in entered]}


TESTS = [
    noted("slow", 5.0, "one"),
    noted("broad", 0.4, "one", "two", "three"),
    noted("narrow", 0.5, "one"),
    noted("elsewhere", 0.1, "two"),
]


def names(tests):
    return [test["name"] for test in tests]


def test_those_that_enter_it_run_the_quick_and_narrow_first():
    assert names(chosen("a.js", ONE, TESTS, Counter(), 60)) == ["narrow", "broad", "slow"]
    assert chosen("b.js", ONE, TESTS, Counter(), 60) == []


def test_what_noticed_before_runs_first():
    noticing = Counter({("a.js", "slow"): 2, ("b.js", "broad"): 9})
    assert names(chosen("a.js", ONE, TESTS, noticing, 60)) == ["slow", "narrow", "broad"]


def test_no_more_begin_once_the_time_is_over():
    assert names(chosen("a.js", ONE, TESTS, Counter(), 0.9)) == ["narrow", "broad"]


def test_quick_tests_wait_for_a_shorter_time():
    assert batches(TESTS) == [(SHORT, ["broad", "narrow", "elsewhere"]), (PATIENCE, ["slow"])]
    assert SHORT > 4 * QUICK


def test_the_tests_of_the_page_are_found():
    assert {"tests/explorer/test_page.py", "tests/test_bench_page.py"} <= set(files_of_tests())
