"""Every exercise: its solution is right, its starter is blank and runs, its mistakes are known.

Of one that is not the book's, its folder in EXERCISES, all that is asked by its id:

    EXERCISES=../course/exercises .venv/bin/python -m pytest tests/test_exercises.py -k 03-largest
"""

from __future__ import annotations

import os
import re
from array import array
from collections import deque
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import torch

import exercises
from attn_core.mistakes import MISTAKES
from exercises import Exercise, Field, Handed, Mistake, change, idle
from exercises.comparing import (
    has_shape,
    in_shape,
    listed,
    near,
    number,
    numbers,
    parts,
    same,
    tensor,
    truth,
    whole,
)
from exercises.functions import RecordedFunction
from exercises.recognise import holds, observe, observed, recognise
from publishing.prose.numbers import WORDS

pytestmark = [pytest.mark.gate, pytest.mark.usefixtures("translated_once")]

ROOT = Path(__file__).parents[1]
ALL = exercises.load(Path(os.environ.get("EXERCISES", exercises.HERE)))
CHAPTERS = sorted(path.name[:2] for path in ROOT.glob("chapters/*.ipynb"))
FEW = (0, 1, 2**32 - 1)
A_FEW = (5, 6, 7)  # as many as grading asks a function for
MANY = (2, 2**40 + 1)
MORE = range(3, 98)  # with the few and the many: a hundred


def slip(*_):
    raise KeyError("a slip")


ODD = {
    "...": ...,
    "None": None,
    "True": True,
    "a word": "word",
    "an empty list": [],
    "nan": float("nan"),
    "an empty tensor": torch.zeros(0),
    "a table": torch.ones(2, 3),
    "a ragged list": [[1.0], [1.0, 2.0]],
    "a dict": {"a": 1.0},
    "a function that raises": slip,
}
FORMS = {
    "float64": lambda answer: answer.double() if answer.is_floating_point() else answer,
    "with a gradient": lambda answer: (
        answer.clone().requires_grad_() * 1 if answer.is_floating_point() else answer
    ),
    "an array": lambda answer: answer.numpy(),
    "a reversed array": lambda answer: np.flip(np.flip(answer.numpy()).copy()),
    "a list": lambda answer: answer.tolist(),
    "a tensor": lambda answer: answer,
    "fractions": lambda answer: nested(answer, Fraction),
    "decimals": lambda answer: nested(answer, Decimal),
    "complex numbers": lambda answer: nested(answer, complex),
    "a complex tensor": lambda answer: answer if answer.dtype == torch.bool else answer + 0j,
    "a generator": lambda answer: (part for part in answer.tolist()) if answer.ndim else answer,
    "a map": lambda answer: map(float, answer.tolist()) if answer.ndim == 1 else answer,
    "a dict by place": lambda answer: dict(enumerate(answer.tolist())) if answer.ndim else answer,
    "a leading axis": lambda answer: answer[None],
    "float16": lambda answer: answer.half() if answer.is_floating_point() else answer,
    "bfloat16": lambda answer: answer.bfloat16() if answer.is_floating_point() else answer,
}


def nested(value, kind):
    """A tensor as nested lists of finite numbers of a kind; others have no such form."""
    if isinstance(value, torch.Tensor):
        return nested(value.tolist(), kind)
    if isinstance(value, list):
        return [nested(part, kind) for part in value]
    return value if isinstance(value, bool) or value in (np.inf, -np.inf) else kind(value)


@pytest.fixture(params=ALL.values(), ids=ALL.keys())
def exercise(request):
    return request.param


@cache
def ran_once(exercise: Exercise) -> dict:
    return exercise.run(exercise.solution)


def solved(exercise: Exercise) -> dict:
    """The names of the solution, which is run once: some translate with a whole model."""
    return dict(ran_once(exercise))


def faults(exercise: Exercise, seed: int) -> list[str]:
    """What is wrong with one variant, a sentence each."""
    right = observed(exercise, exercise.solution, seed)
    blank = observe(exercise, exercise.run(exercise.starter, seed), seed)
    wrong = [f"the solution fails: {sentence}" for sentence, passed in right.checks if not passed]
    if seed == 1 and not holds(exercise, observe(exercise, solved(exercise), seed), seed):
        wrong.append("the solution answers a probe in two ways")
    wrong += [f"the starter passes: {sentence}" for sentence, passed in blank.checks if passed]
    if exercise.earned(right.checks) != exercise.points or exercise.earned(blank.checks) != 0:
        wrong.append("the solution does not earn all points, or the starter earns some")
    for mistake in exercise.mistakes:
        seen = observed(exercise, mistake.code, seed)
        if exercise.earned(seen.checks) >= exercise.points:
            wrong.append(f"loses no points: {mistake.hint}")
        if recognise(exercise, seen, seed) is not mistake:
            wrong.append(f"does not get its hint: {mistake.hint}")
    return [f"seed {seed}: {sentence}" for sentence in wrong]


@pytest.mark.parametrize("seed", FEW)
def test_variant(exercise, seed):
    assert faults(exercise, seed) == []


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(MANY, marks=pytest.mark.slow), pytest.param(MORE, marks=pytest.mark.deep)],
    ids=["many", "more"],
)
def test_variants(exercise, seeds):
    assert [sentence for seed in seeds for sentence in faults(exercise, seed)] == []


def earns_all(exercise: Exercise, names: dict, seed: int = 0) -> bool:
    """Whether an answer passes all checks and probes. Here no net is spread below the checks."""
    heard = exercise.hear(names)
    checks = exercise.checks({**names, **heard}, exercise.parameters(seed))
    if not all(passed for _, passed in checks):
        return False
    return not exercise.probes or holds(exercise, observe(exercise, names, seed), seed)


def turning(calls: int, function, value):
    """A function that answers as another for some calls, and then with one value."""
    asked = []

    def answer(*arguments):
        asked.append(arguments)
        return function(*arguments) if len(asked) <= calls else value

    return answer


def test_no_odd_answer_trips_the_checks_or_earns_all(exercise):
    right = solved(exercise)
    for name, (what, value) in product(exercise.answers, ODD.items()):
        answers = [value]
        if name in exercise.functions:
            answers += [turning(calls, right[name], value) for calls in (0, 1)]
        for answer in answers:
            assert not earns_all(exercise, {**right, name: answer}), (name, what)


def in_form(value, form):
    """A right value in another form; what holds words or tensors, part by part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and any(isinstance(x, str | torch.Tensor) for x in value):
        return [in_form(part, form) for part in value]
    return form(torch.as_tensor(value))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_right_answer_may_come_in_any_form(exercise, form):
    right = solved(exercise)
    answers = {name: right[name] for name in exercise.answers}
    for name, value in answers.items():
        if name in exercise.functions:
            right[name] = lambda *arguments, ask=value: in_form(ask(*arguments), form)
        else:
            right[name] = in_form(value, form)
    assert earns_all(exercise, right)


def test_an_odd_form_of_a_wrong_answer_is_wrong(exercise):
    """What allows for the rounding of bfloat16 lets no known mistake pass."""
    for mistake in exercise.mistakes:
        wrong = exercise.run(mistake.code)
        for name in exercise.answers:
            value = wrong[name]
            wrong[name] = (
                (lambda *asked, ask=value: coarse(ask(*asked)))
                if name in exercise.functions
                else coarse(value)
            )
        seeds = (0, *A_FEW) if exercise.functions else (0,)
        assert not all(earns_all(exercise, wrong, seed) for seed in seeds), mistake.hint


def coarse(value):
    """A value in bfloat16, if it holds floats."""
    try:
        return in_form(value, FORMS["bfloat16"])
    except (TypeError, ValueError, RuntimeError):  # words, or nothing
        return value


def test_starter_says_nothing(exercise, capsys):
    exercise.run(exercise.starter)
    assert capsys.readouterr() == ("", "")


EXAMPLES = {  # they ask for an example, and what is one for the chapter's numbers is one for others
    "03-more-than-itself",
    "04-leave-out-a-constant",
}
STUDENTS = range(1, 13)  # with numbers of their own, for exercises that ask for values


@cache
def idle_points(name):
    """What each idle answer to an exercise earns, on average over students."""
    exercise, scores = ALL[name], {}
    for what, answer in idle.answers(exercise) if exercise.kind != "text" else ():
        each = [A_FEW] if exercise.functions else [(seed,) for seed in STUDENTS]
        scores[what] = sum(idle.points(exercise, answer, seeds) for seeds in each) / len(each)
    return scores


def test_no_idle_answer_earns_much(exercise):
    """None that is made for this exercise: what it is given, or a value that was right once."""
    for what, earned in idle_points(exercise.id).items():
        if what == "the numbers of the chapter" and exercise.id in EXAMPLES:
            continue
        # Which of four names is which can be guessed, and is what another student has.
        most = 0.25 if what == "the numbers of the chapter" else 0.1
        assert earned <= most * exercise.points, what


def test_the_same_idle_answer_to_all_earns_nothing():
    """Less than a hundredth of all points: zeros, ones, equal shares, True, random numbers, …"""
    full = sum(exercise.points for exercise in ALL.values() if exercise.kind != "text")
    for what in [*idle.CONSTANTS, *idle.FILLED, "the starter"]:
        earned = sum(idle_points(name).get(what, 0) for name in ALL)
        assert earned < full / 100, what


def test_a_function_that_empties_its_input_earns_by_what_it_says(exercise):
    """In-place code changes no right answer, and a right one loses nothing by it."""
    if not exercise.functions:
        return
    right = exercise.run(exercise.solution)  # what it holds is emptied, too

    def emptying(ask):
        def answer(*arguments):
            said = ask(*arguments)
            said = said.clone() if isinstance(said, torch.Tensor) else said
            for argument in arguments:
                if isinstance(argument, torch.Tensor):
                    argument.zero_()
                elif isinstance(argument, list):
                    argument.clear()
            return said

        return answer

    names = {**right, **{name: emptying(right[name]) for name in exercise.functions}}
    assert earns_all(exercise, names)


def test_the_checks_are_the_same_for_every_seed(exercise):
    """What a check is worth is looked up by its sentence."""
    sentences = [sentence for sentence, _ in exercise.checked()]
    assert len(set(sentences)) == len(sentences)
    for seed in FEW:
        assert [sentence for sentence, _ in exercise.checked(seed)] == sentences
    assert exercise.kind == "text" or len(exercise.clues) < len(sentences)


def test_nothing_is_forbidden_that_nobody_enforces(exercise):
    forbidding = r"without `?(torch|attn_core|backward|[Dd]ropout|sinusoids)|[Uu]se (neither|no )"
    for seed in (None, 1):
        assert not re.search(forbidding, exercise.task(seed))


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
    assert exercise.chapter in CHAPTERS
    assert re.fullmatch(rf"{exercise.chapter}-[a-z0-9-]+", exercise.id)
    assert exercise.level in exercises.LEVELS
    assert exercise.points > 0
    assert exercise.title
    assert exercise.text
    assert exercise.kind in ("values", "function", "text")
    assert (exercise.probes is not None) == (exercise.kind == "function")
    assert not set(exercise.answers) & set(exercise.parameters(0)), "names that are given"
    assert exercise.mistakes or exercise.kind == "text"
    for mistake in exercise.mistakes:
        assert mistake.code
        assert mistake.hint
        assert mistake.name is None or mistake.name in MISTAKES
    hints = [mistake.hint for mistake in exercise.mistakes]
    assert len(set(hints)) == len(hints)


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


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_as_many_as_promised_and_all_levels(chapter):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (promised,) = re.findall(r"Each chapter has at least (\w+) exercises", readme)
    of_chapter = [exercise for exercise in ALL.values() if exercise.chapter == chapter]
    assert len(of_chapter) >= WORDS[promised]
    assert {exercise.level for exercise in of_chapter} == set(exercises.LEVELS)


def test_a_chinese_text_has_as_many_words_as_characters():
    checks = exercises.load()["06-mask-in-training"].checks
    for text, is_long in (
        ("没有掩码，模型学会照抄。", False),
        ("没有掩码，模型学会照抄。" * 2, True),
    ):
        assert [passed for _, passed in checks({"in_training": text}, {})] == [is_long]


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
    assert same((torch.ones(2), torch.ones(2, 2)), [[1, 1], np.ones((2, 2))])
    assert same({"a": torch.ones(2)}, {"a": [1.0, 1.0]})
    assert not same(np.array([None, 1]), np.array([None, 1]))


class Half:
    def __float__(self):
        return 0.5


HALVES = [
    [0.5, 0.5],
    (Fraction(1, 2), 0.5),
    [torch.tensor(0.5), 0.5],
    [torch.tensor([0.5]), np.array([0.5])],
    [[np.array(0.5)], [torch.tensor(0.5)]],
    [Decimal("0.5"), 0.5 + 0j],
    [0.5 + 1e-12j, np.float16(0.5)],
    {0: 0.5, 1: 0.5},
    {2: 0.5, 1: 0.5},
    {"a": 0.5, "b": 0.5}.values(),
    deque([0.5, 0.5]),
    array("d", [0.5, 0.5]),
    MappingProxyType({0: 0.5, 1: 0.5}),
    [Half(), Half()],
    np.array([Fraction(1, 2), Decimal("0.5")]),
    [[[0.5, 0.5]]],
    torch.tensor([0.5 + 0j, 0.5]),
    np.full((1, 2), 0.5),
    torch.full((2,), 0.5, dtype=torch.bfloat16),
    np.full(2, 0.5, dtype=np.float16),
    np.full(2, 0.5, dtype=">f8"),
    np.broadcast_to(np.float64(0.5), (2,)),
    torch.full((2,), 0.5, requires_grad=True) * 1,
    torch.full((2,), 0.5).to_sparse(),
]


@pytest.mark.parametrize("value", HALVES, ids=range(len(HALVES)))
def test_numbers_are_found_in_any_form(value):
    read = numbers(value)
    assert (read.flatten().tolist(), read.requires_grad) == ([0.5, 0.5], False)


NONE = [
    None, ..., "1", ["1"], [None], [[1], [1, 2]], {1, 2}, 1j, torch.tensor([1j]), slip,
    np.ma.array([1.0, 2.0], mask=[0, 1]), torch.zeros(1, device="meta"),
    torch.nested.nested_tensor([[1.0], [1.0, 2.0]], layout=torch.jagged),
]  # fmt: skip


@pytest.mark.parametrize("value", NONE, ids=range(len(NONE)))
def test_what_holds_no_numbers_is_none(value):
    assert [tensor(value), numbers(value), number(value), whole(value), truth(value)] == [None] * 5
    assert not has_shape(value, ())
    assert not near(value, 1.0)


def test_one_number():
    assert (number([0.25]), number([1, 2]), number([])) == (0.25, None, None)
    assert [whole(value) for value in (7, 7.0, torch.tensor(7), 7.5, True, float("inf"))] == [
        7, 7, 7, None, None, None,
    ]  # fmt: skip
    assert [truth(value) for value in (True, np.True_, torch.tensor(False), 1, 2, 0.5)] == [
        True, True, False, True, None, None,
    ]  # fmt: skip
    assert near(0.1234, 0.1238, places=3)
    assert not near(0.123, 0.1238, places=3)
    assert not near(True, 1.0)


def test_what_cannot_be_copied_is_heard():
    heard = RecordedFunction(lambda value: value)
    row = torch.ones(2, requires_grad=True) * 2
    assert heard(row).requires_grad
    assert heard(slip) is slip
    assert same(heard.said[0], [2.0, 2.0])


def test_a_generator_is_read_once():
    heard = RecordedFunction(lambda: (number for number in (1, 2)))
    assert (heard(), heard(), heard.said) == ([1, 2], [1, 2], [[1, 2], [1, 2]])


def test_an_input_is_a_copy():
    given, heard = torch.ones(2), RecordedFunction(torch.Tensor.zero_)
    assert heard(given).tolist() == [0.0, 0.0]
    assert (given.tolist(), heard.changed) == ([1.0, 1.0], True)
    heard = RecordedFunction(lambda table, word, count, row: table + 1)
    heard(given, "a", 1, (1, 2))
    assert not heard.changed


def test_leading_axes_of_one_may_be_too_many_and_no_others():
    assert same([[1.0, 2.0]], [1.0, 2.0])
    assert same([[[1.0, 2.0]]], [1.0, 2.0])
    assert near(np.array([[0.5]]), torch.tensor(0.5))
    assert has_shape(torch.ones(1, 2, 3), (2, 3))
    assert near([[0.123]], [0.12])
    assert not same([1.0, 2.0], [[1.0, 2.0]])
    assert not same([[1.0], [2.0]], [1.0, 2.0])
    assert not same([[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0])
    two = (torch.tensor([3.0, 0.0]), torch.tensor([False, True]))
    assert same([row[None] for row in two], two)
    assert not same([row[:, None] for row in two], two)
    assert not same([row[None] for row in two[::-1]], two)


def test_a_coarse_dtype_is_compared_as_closely_as_it_can_be():
    """Two more roundings than its own are allowed, and numbers that are worked out from it."""
    row = torch.softmax(torch.tensor([0.3, 1.7, -0.4]), dim=0)
    for dtype in (torch.float16, torch.bfloat16):
        got, unit = row.to(dtype), torch.finfo(dtype).eps
        assert same(got, row)
        assert not same(got.float(), row)
        assert not same(row.to(dtype) * (1 + 8 * unit), row)
        shaped = in_shape(got, (3,))
        assert shaped.unit == shaped.sum().unit == shaped[1:].unit == shaped.sort()[0].unit == unit
        assert same(shaped.sum(), 1.0)
    assert same(row.double() + 1e-6, row)
    assert not same(row.double() + 1e-3, row)


@pytest.mark.parametrize(
    "exercise",
    [exercise for exercise in ALL.values() if exercise.parts],
    ids=lambda exercise: exercise.id,
)
def test_parts_may_come_by_their_names(exercise):
    right = solved(exercise)
    for name in exercise.functions:
        right[name] = lambda *arguments, ask=right[name]: dict(
            reversed([*zip(exercise.parts, ask(*arguments), strict=True)])
        )
    assert earns_all(exercise, right)


def test_parts_and_lists():
    names = ("weights", "output")
    assert [parts(value, names) for value in ((1, 2), [1, 2], {"output": 2, "weights": 1})] == [
        (1, 2)
    ] * 3
    assert [parts(value, names) for value in ((1,), {"weights": 1}, 1, "ab", None)] == [None] * 5
    assert listed(np.array(["a", "b"])) == ["a", "b"]
    assert [listed(value) for value in ("ab", {"a": 1}, {0: 1, 2: 3}, {"a"}, {})] == [None] * 5


def test_checks_that_trip_have_failed():
    def checks(names, parameters):
        return [("it is 1", names["one"] == 1), ("its length is 0", len(names["one"]) == 0)]

    exercise = Exercise(
        id="01-a", chapter="01", title="", level=1, points=1, text="", starter="one = ...",
        solution="class One:\n    __eq__ = lambda *_: True\n    __len__ = lambda *_: 0\n"
        "one = One()",
        parameters=lambda seed: {}, checks=checks,
    )  # fmt: skip
    assert exercise.answer(exercise.solution) == [("it is 1", True), ("its length is 0", True)]
    assert exercise.answer("one = 1") == [("it is 1", False), ("its length is 0", False)]


def known(*mistakes):
    """The mistakes of an exercise whose solution is `a + 2 * b`."""
    return Exercise(
        id="01-a", chapter="01", title="", level=1, points=1, text="", starter="",
        solution="def f(a, b):\n    return a + 2 * b",
        parameters=lambda seed: {}, checks=lambda *_: [], mistakes=mistakes,
    ).mistakes  # fmt: skip


def test_a_change_is_the_solution_but_for_a_text():
    whole = Mistake("def f(a, b):\n    return 0", "none")
    assert known(
        change("2 * b", "b", hint="one b is missing", name="no-scale"),
        change(("a + 2 * b", "b + 2 * a"), ("f(a, b)", "f(b, a)"), hint="twice turned round"),
        change(("(a", "(b"), ("b)", "a)"), hint="they have changed places"),
        whole,
    ) == (
        Mistake("def f(a, b):\n    return a + b", "one b is missing", "no-scale"),
        Mistake("def f(b, a):\n    return b + 2 * a", "twice turned round"),
        Mistake("def f(b, a):\n    return a + 2 * b", "they have changed places"),
        whole,
    )


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("3 * b", "b"), "must stand in the solution once, and '3 * b' does not stand there"),
        (("a", "b"), "must stand in the solution once, and 'a' stands there more than once"),
        (("", "b"), "'' stands there more than once"),
        (("  ", ""), "'  ' stands there more than once"),  # three times, one over the other
        ((("2 * b", "b"), ("3 *", "")), "'3 *' does not stand there"),
        ((("a + 2", "a"), ("2 * b", "b")), "must lie apart, got ['a + 2', '2 * b']"),
        (
            ("+", "-", "*", "/"),
            "must get an old and a new text, or such pairs, got ('+', '-', '*', '/')",
        ),
        (("+",), "must get an old and a new text, or such pairs"),
        ((("+", "-", "*"),), "must get an old and a new text, or such pairs"),
        ((), "must get an old and a new text, or such pairs"),
    ],
)
def test_an_unfit_change_is_said_in_a_sentence(texts, words):
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        known(change(*texts, hint="no"))
    said = str(raised.value)
    assert said.startswith(("change must get", "01-a: the old text"))
    assert "\n" not in said


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
