"""Every exercise of the book can be graded: its solution in full, its starter with nothing."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell

import exercises
from grading import marks
from grading.numbers import given, seeds_of
from grading.run import Run

KNOWN = exercises.load()
CHAPTERS = sorted({exercise.chapter for exercise in KNOWN.values()})


def graded(chapter: str, code) -> dict[str, marks.Mark]:
    """The marks of a chapter's exercises, each answered with what `code` gives."""
    asked = [
        exercise
        for exercise in KNOWN.values()
        if exercise.chapter == chapter and code(exercise) is not None
    ]
    cells, places = [], {}
    for exercise in asked:
        seed = seeds_of(b"secret", exercise.id, "ada")[0]
        cells += [new_code_cell(given(exercise, seed)), new_code_cell(code(exercise))]
        places[exercise.id] = len(cells) - 1
    by_id = {}
    with Run(cells, tuple(asked), places) as run:
        for exercise in asked:
            with run.remote(exercise) as answer:
                by_id[exercise.id] = marks.mark(
                    exercise, answer, seeds_of(b"secret", exercise.id, "ada")
                )
    return by_id


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
    most = max(len(exercise.mistakes) for exercise in KNOWN.values() if exercise.chapter == chapter)
    for number in range(most)[numbers]:

        def code(exercise, number=number):
            return exercise.mistakes[number].code if number < len(exercise.mistakes) else None

        for mark in graded(chapter, code).values():
            exercise = KNOWN[mark.exercise]
            assert mark.score < mark.points, (mark, number)
            assert mark.hint == exercise.mistakes[number].hint, (mark, number)


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


def is_right(mark: marks.Mark) -> bool:
    return mark.status == ("by hand" if KNOWN[mark.exercise].kind == "text" else "right")


def is_nothing(mark: marks.Mark) -> bool:
    return (mark.status, mark.score) in (("wrong", 0), ("blank", 0))


# What an exercise is answered with, and what it gets for it.
ANSWERS = [
    (lambda exercise: exercise.solution, is_right),
    (lambda exercise: exercise.starter, lambda mark: (mark.status, mark.score) == ("blank", 0)),
    (in_form, is_right),
    (ragged, is_nothing),
]
SHARES = [pytest.param(0, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.slow)]
SHARES += [pytest.param(share, marks=pytest.mark.deep) for share in (2, 3)]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_solution_gets_all_in_another_form_too_and_the_starter_nothing(chapter, share):
    """The solution and one other answer to each exercise, and deep the others, all of which
    tests/test_exercises.py gives without a sandbox."""
    turns = {name: 1 + (turn + share) % 3 if share else 0 for turn, name in enumerate(KNOWN)}
    for mark in graded(chapter, lambda exercise: ANSWERS[turns[exercise.id]][0](exercise)).values():
        assert ANSWERS[turns[mark.exercise]][1](mark), mark
