"""No test asks for a time: what would is found in the tests' code, and each bound is a long one."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT

SLEEPS = {"sleep", "wait_for_timeout"}
BOUNDS = {"set_default_timeout", "set_default_navigation_timeout"}
# Between two questions of a loop that waits for an answer.
PAUSES = {("tests/processes.py", "sleep")}


def called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def is_number(node: ast.AST) -> bool:
    """Typed as a number, or computed of typed ones alone."""
    kinds = (ast.Constant, ast.BinOp, ast.operator)
    return all(isinstance(part, kinds) for part in ast.walk(node)) and any(
        isinstance(part, ast.Constant) and isinstance(part.value, int | float)
        for part in ast.walk(node)
    )


def clocks(source: str) -> list[str]:
    """What in a text waits for a time, or ends a wait after one that is typed there."""
    waits = []
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name, named = called(call), {word.arg: word.value for word in call.keywords if word.arg}
        if name in SLEEPS or (name in BOUNDS and any(map(is_number, call.args))):
            waits.append(name)
        waits += [word for word, value in named.items() if "timeout" in word and is_number(value)]
        if name == "settings" or "deadline" in named:
            if ast.unparse(named.get("deadline", ast.Constant(None))) != "None":
                waits.append("deadline")
            if "too_slow" not in ast.unparse(
                named.get("suppress_health_check", ast.Constant("too_slow"))
            ):
                waits.append("too_slow")
    return waits


# The tests of grading have an environment of their own, and limits that are what they test.
FILES = [
    path
    for top in ("tests", "attn_core", "exercises")
    for path in sorted((ROOT / top).rglob("*.py"))
    if "grading" not in path.parts
]


def test_no_time_is_asked_for():
    pauses = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in FILES
        for word in clocks(path.read_text(encoding="utf-8"))
    }
    assert pauses == PAUSES


@pytest.mark.parametrize(
    ("source", "waits"),
    [
        ("time.sleep(0.2)", ["sleep"]),
        ("page.wait_for_timeout(SOME)", ["wait_for_timeout"]),
        ("page.set_default_timeout(10_000)", ["set_default_timeout"]),
        ("page.set_default_timeout(PATIENCE * 1000)", []),
        ("expect(a).to_be_visible(timeout=20 * 1000)", ["timeout"]),
        ("subprocess.run(call, timeout=PATIENCE)", []),
        ("Client(timeout=None, startup_timeout=60)", ["startup_timeout"]),
        ("@settings(max_examples=3)\ndef f(): pass", []),
        ("@settings(deadline=200)\ndef f(): pass", ["deadline"]),
        ("settings(suppress_health_check=[HealthCheck.data_too_large])", ["too_slow"]),
    ],
)
def test_a_clock_is_seen(source, waits):
    assert clocks(source) == waits
