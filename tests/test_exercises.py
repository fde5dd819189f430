"""Every exercise: its solution is right, its starter is blank and runs, its mistakes are known."""

from __future__ import annotations

import re

import pytest
import torch

import exercises
from attn_core.mistakes import MISTAKES
from exercises import Exercise, Field, Handed, Mistake
from exercises.comparing import same
from exercises.recognise import holds, observe, recognise

ALL = exercises.load()
FEW = (0, 1, 2**32 - 1)
MANY = (*range(2, 99), 2**40 + 1)  # with the few: a hundred


@pytest.fixture(params=ALL.values(), ids=ALL.keys())
def exercise(request):
    return request.param


def faults(exercise: Exercise, seed: int) -> list[str]:
    """What is wrong with one variant, a sentence each."""
    right, blank = (
        observe(exercise, exercise.run(code, seed), seed)
        for code in (exercise.solution, exercise.starter)
    )
    wrong = [f"the solution fails: {sentence}" for sentence, passed in right.checks if not passed]
    if not holds(exercise, right, seed):
        wrong.append("the solution answers a probe in two ways")
    wrong += [f"the starter passes: {sentence}" for sentence, passed in blank.checks if passed]
    if exercise.earned(right.checks) != exercise.points or exercise.earned(blank.checks) != 0:
        wrong.append("the solution does not earn all points, or the starter earns some")
    for mistake in exercise.mistakes:
        seen = observe(exercise, exercise.run(mistake.code, seed), seed)
        if exercise.earned(seen.checks) >= exercise.points:
            wrong.append(f"loses no points: {mistake.hint}")
        if recognise(exercise, seen, seed) is not mistake:
            wrong.append(f"does not get its hint: {mistake.hint}")
    return [f"seed {seed}: {sentence}" for sentence in wrong]


@pytest.mark.parametrize("seed", FEW)
def test_variant(exercise, seed):
    assert faults(exercise, seed) == []


@pytest.mark.slow
def test_a_hundred_variants(exercise):
    assert [sentence for seed in MANY for sentence in faults(exercise, seed)] == []


def test_starter_says_nothing(exercise, capsys):
    exercise.run(exercise.starter)
    assert capsys.readouterr() == ("", "")


def test_seeds_change_the_numbers(exercise):
    """Else a copied number would pass for an answer."""
    if exercise.kind == "text":
        return
    seeds = (*FEW, 2, 3)
    assert len({str(exercise.parameters(seed)) for seed in seeds}) > len(seeds) / 2


def test_a_text_is_what_a_person_reads(exercise):
    assert (exercise.kind == "text") == bool(exercise.rubric)
    for seed in FEW if exercise.kind == "text" else ():
        assert all(
            isinstance(exercise.run(exercise.solution, seed)[n], str) for n in exercise.answers
        )


def test_parameters_are_the_same_each_time(exercise):
    assert str(exercise.parameters(1)) == str(exercise.parameters(1))


def test_form(exercise):
    assert re.fullmatch(rf"{exercise.chapter}-[a-z0-9-]+", exercise.id)
    assert exercise.level in exercises.LEVELS
    assert exercise.points > 0
    assert exercise.title
    assert exercise.text
    assert exercise.kind in ("values", "function", "text")
    assert exercise.mistakes or exercise.kind == "text"
    for mistake in exercise.mistakes:
        assert mistake.code
        assert mistake.hint
        assert mistake.name is None or mistake.name in MISTAKES
    hints = [mistake.hint for mistake in exercise.mistakes]
    assert len(set(hints)) == len(hints)


def test_a_function_has_probes(exercise):
    assert (exercise.probes is not None) == (exercise.kind == "function")


def test_parameters_hold_no_answer(exercise):
    """An answer's name is none that the reader is given."""
    assert not set(exercise.answers) & set(exercise.parameters(0))


def test_no_name_is_asked_for_twice_in_a_chapter():
    asked = [(exercise.chapter, name) for exercise in ALL.values() for name in exercise.answers]
    assert sorted(asked) == sorted(set(asked))


def test_there_is_each_kind():
    assert {exercise.kind for exercise in ALL.values()} == {"values", "function", "text"}


def test_what_is_given_is_what_the_parameters_say(exercise):
    names = {}
    exec(exercise.given(), names)
    parameters = exercise.parameters(0)
    assert {name: parameters[name] for name in names if name in parameters} == {
        name: value for name, value in names.items() if name != "__builtins__"
    }
    assert exercise.given() or exercise.kind != "values" or "torch" in exercise.solution


@pytest.mark.parametrize("chapter", [f"{number:02}" for number in range(1, 12)])
def test_four_a_chapter_of_three_levels(chapter):
    found = [exercise for exercise in ALL.values() if exercise.chapter == chapter]
    assert len(found) >= 4
    assert {exercise.level for exercise in found} == set(exercises.LEVELS)


def test_a_function_that_raises_answers_nothing():
    exercise = ALL["01-context"]
    code = "def context(weights, states):\n    raise ValueError('a slip')"
    seen = observe(exercise, exercise.run(code))
    assert [passed for _, passed in seen.checks] == [False] * len(seen.checks)
    assert str(seen.error) == "a slip"


def test_what_is_no_mistake_is_not_recognised():
    exercise = ALL["01-context"]
    for code in (exercise.solution, exercise.starter):
        seen = observe(exercise, exercise.run(code))
        assert recognise(exercise, seen) is None
    code = "def context(weights, states):\n    return states[0] * 3"
    assert recognise(exercise, observe(exercise, exercise.run(code))) is None


def test_a_probe_finds_what_the_checks_do_not():
    exercise = ALL["08-place"]
    code = (
        "def place(h, t, i, heads, width):\n"
        "    return t * heads * width + h * width + i if heads < 5 else 0"
    )
    seen = observe(exercise, exercise.run(code))
    assert seen.is_right
    assert not holds(exercise, seen)


def test_same():
    assert same(torch.tensor([1.0, float("nan")]), [1.0, float("nan")])
    assert same((True, "a", None, ...), (True, "a", None, ...))
    assert not same([1.0], [[1.0]])
    assert not same([1.0], [1.001])
    assert not same(None, 0)
    assert not same((1, "a"), (1,))


def test_handed_makes_the_same_thing_again():
    made = Handed("def adder(a):\n    return lambda b: a + b", "adder", 3)
    assert (made(4), made._arguments, repr(made)) == (7, (3,), "adder(3,)")


def test_kinds():
    def exercise(starter, rubric=""):
        return Exercise(
            id="01-a", chapter="01", title="", level=1, points=1, text="", starter=starter,
            solution="", parameters=dict, checks=lambda *_: [], rubric=rubric,
        )  # fmt: skip

    assert exercise("a = ...\ndef b():\n    ...").kind == "function"
    assert exercise("a = ...\ndef b():\n    ...").functions == ("b",)
    assert exercise("a = ...\nb = ...").kind == "values"
    assert exercise("a = ...", rubric="1 point: says why").kind == "text"
    assert Mistake("a = 1", "no") == Mistake("a = 1", "no", None)
    assert Field("a").places == 2
