"""Every exercise of the book can be graded: its solution in full, its starter with nothing."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell

import exercises
from grading import marks
from grading.numbers import given, seeds_of
from grading.run import Run

KNOWN = exercises.load()
CHAPTERS = sorted({one.chapter for one in KNOWN.values()})


def graded(chapter: str, code) -> dict[str, marks.Mark]:
    """The marks of a chapter's exercises, each answered with what `code` gives."""
    asked = [one for one in KNOWN.values() if one.chapter == chapter and code(one) is not None]
    cells, places = [], {}
    for one in asked:
        seed = seeds_of(b"secret", one.id, "ada")[0]
        cells += [new_code_cell(given(one, seed)), new_code_cell(code(one))]
        places[one.id] = len(cells) - 1
    found = {}
    with Run(cells, tuple(asked), places) as run:
        for one in asked:
            with run.remote(one) as answer:
                found[one.id] = marks.mark(one, answer, seeds_of(b"secret", one.id, "ada"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_solution_gets_all_and_the_starter_nothing(chapter):
    for one in graded(chapter, lambda exercise: exercise.solution).values():
        assert one.status == ("by hand" if KNOWN[one.exercise].kind == "text" else "right"), one
    for one in graded(chapter, lambda exercise: exercise.starter).values():
        assert (one.status, one.score) == ("blank", 0), one


# Without a sandbox tests/test_exercises.py has all mistakes; this is their way through one.
@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(slice(1), marks=pytest.mark.slow),
        pytest.param(slice(1, None), marks=pytest.mark.deep),
    ],
    ids=["the first", "the others"],
)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_known_mistake_loses_points_and_gets_its_hint(chapter, numbers):
    most = max(len(one.mistakes) for one in KNOWN.values() if one.chapter == chapter)
    for number in range(most)[numbers]:

        def code(exercise, number=number):
            return exercise.mistakes[number].code if number < len(exercise.mistakes) else None

        for one in graded(chapter, code).values():
            exercise = KNOWN[one.exercise]
            assert one.score < one.points, (one, number)
            assert one.hint == exercise.mistakes[number].hint, (one, number)


IN_FORM = """
def in_form(value):
    if isinstance(value, torch.Tensor):
        return value.double().numpy() if value.is_floating_point() else value.tolist()
    return [in_form(part) for part in value] if isinstance(value, tuple) else value


def saying(ask):
    return lambda *given: in_form(ask(*given))
"""


def in_form(exercise) -> str:
    """The solution, whose answers are arrays of float64 and lists."""
    lines = [
        f"{name} = {'saying' if name in exercise.functions else 'in_form'}({name})"
        for name in exercise.answers
    ]
    return "\n".join([exercise.solution, "import torch", IN_FORM, *lines])


def ragged(exercise) -> str:
    """An answer that holds no numbers."""
    says = {True: "lambda *given: [[1.0], [1.0, 2.0]]", False: "[[1.0], [1.0, 2.0]]"}
    return "\n".join(f"{name} = {says[name in exercise.functions]}" for name in exercise.answers)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_another_form_gets_all_and_what_holds_no_numbers_nothing(chapter):
    for one in graded(chapter, in_form).values():
        assert one.status == ("by hand" if KNOWN[one.exercise].kind == "text" else "right"), one
    for one in graded(chapter, ragged).values():
        assert (one.status, one.score) in (("wrong", 0), ("blank", 0)), one
