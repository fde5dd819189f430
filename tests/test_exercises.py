"""Every exercise: its solution is right, its starter is blank and runs, its mistakes are caught."""

from __future__ import annotations

import re

import pytest

import exercises
from exercises import Mistake

ALL = exercises.load()
SEEDS = (0, 1, 2, 3, 2**32 - 1)


@pytest.fixture(params=ALL.values(), ids=ALL.keys())
def exercise(request):
    return request.param


@pytest.mark.parametrize("seed", SEEDS)
def test_solution_passes_every_check(exercise, seed):
    checks = exercise.answer(exercise.solution, seed)
    assert checks
    assert [sentence for sentence, passed in checks if not passed] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_starter_runs_and_passes_no_check(exercise, seed, capsys):
    checks = exercise.answer(exercise.starter, seed)
    assert [sentence for sentence, passed in checks if passed] == []
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("seed", SEEDS)
def test_known_mistakes_are_caught(exercise, seed):
    for mistake in exercise.mistakes:
        checks = exercise.answer(mistake.code, seed)
        assert not all(passed for _, passed in checks), mistake.hint


def test_seeds_change_the_numbers(exercise):
    """Else a copied number would pass for an answer."""
    assert len({str(exercise.parameters(seed)) for seed in SEEDS}) > len(SEEDS) / 2


def test_parameters_are_the_same_each_time(exercise):
    assert str(exercise.parameters(1)) == str(exercise.parameters(1))


def test_form(exercise):
    assert re.fullmatch(rf"{exercise.chapter}-[a-z0-9-]+", exercise.id)
    assert exercise.level in exercises.LEVELS
    assert exercise.points > 0
    assert exercise.title
    assert exercise.text
    assert exercise.mistakes
    assert all(isinstance(m, Mistake) and m.code and m.hint for m in exercise.mistakes)


def test_three_a_chapter():
    for chapter in (f"{number:02}" for number in range(1, 11)):
        assert sum(exercise.chapter == chapter for exercise in ALL.values()) >= 3
