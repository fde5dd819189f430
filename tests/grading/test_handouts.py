"""Handouts say what their cells say: each is executed, and its text compared with its numbers."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import replace

import pytest
import torch

import exercises
from exercises.comparing import same
from grading.notebooks import task
from grading.numbers import given, seed_of

ALL = exercises.load()
FEW, MANY, ALL_OF_A_CLASS = 4, 24, 300
CODE = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?!\w)")
ELSEWHERE = re.compile(
    r"\b(?:from|table|tables|out|seen|stands?|see) (?:above|below)\b|\b(?:above|below)(?=[.,;:)])"
    r"|\bchapters?\b|\bthe (?:post|page|figure)\b|\bexercise notebook\b"
)
# Numbers that hold for whatever numbers a student has, and stand in the text as they are.
CONSTANTS = {
    "01-shares": "1 0.5 0.9 30",  # memory's rule; the two questions at its end
    "01-same-influence": "1",  # 1 − kept_share; a number grows by 1
    "02-sharpen": "0",
    "03-more-than-itself": "0.8",  # the cosine that is asked for
    "03-safe-softmax": "1000 −1000 0.0 1000.0 -1000.0",  # what it must hold for
    "03-context-vector": "0",  # the first word
    "04-a-fourth-character": "3",  # √3
    "04-leave-out-a-constant": "0.5 0.9",  # what is asked for
    "04-rows-that-add-up": "100 3 10 2",  # percentages; an example of places; units(row, 2)
    "05-a-trained-row": "1",  # the second word: every sentence has three
    "06-does-it-leak": "3",  # the width of every sentence here
    "06-left-padding": "1",  # shapes that broadcast
    "06-mask-to-add": "0",  # 0 · ∞
    "07-exactly-half": "0.5",  # the sentence that is wrong
    "07-a-dropped-row": "1",  # True counts as 1
    "07-one-bit": "5 0 3",  # examples of arguments
    "07-which-p": "0",  # a masked weight
    "08-mend": "1 2",  # axes
    "08-merge-heads": "0",
    "08-place": "1 2 0",  # axes; the word and the number that the sentence speaks of
    "09-layer-norm": "0 1 1e-5",  # mean, variance, eps
    "09-positions": "0 2 4 1 3 5",  # columns
    "09-word-by-word": "30 1 4 20 2 3",  # an example of its own, which is run
    "10-first-to-know": "0",  # counted from
    "10-who-chased-whom": "24 0",  # the stored translator's heads; a station's name
    "11-layers-needed": "3 6 12 24 48",  # k = 3, which is run
    "11-tile": "7 8 2 1",  # an example of rows, its shape, 1/√D
    "12-next-merge": "1",  # pieces[1:]
    "12-rms-norm": "1e-5",  # an example of eps
    "12-rotate": "2 1 0",  # columns; a pair (1, 0)
    "12-sink-gate": "1",  # the sum of a row's weights
    "12-top-p": "0",  # the probability of the others
    "13-a-row-back": "0",  # the sum of a row's gradients
    "13-hidden-cell": "0",  # what a hidden cell gets
    "13-adamw-step": "0.9 0.999 1e-8",  # the running means, eps
    "14-a-check-that-catches": "0 1",  # weights of a query that keeps none; a sum
    "14-name-the-mistake": "4",  # d_k
    "14-one-too-few": "1 -1",  # n − 1; X.mean(-1)
    "14-the-mark-it-leaves": "1 0",  # how the mask is written
}


def seeds(count: int) -> list[int]:
    """The seeds of so many students."""
    return [seed_of(b"a class of three hundred", "", f"student {n}") for n in range(count)]


def executed(exercise, seed: int) -> dict:
    """What a handout's cells leave when they are run one after the other, solved."""
    names: dict = {}
    exec(given(exercise, seed), names)
    exec(exercise.solution, names)
    return names


def claims(text: str) -> dict[str, str]:
    """What a text says that a name is: `d_k` is 5, `token` = (0, 1), or in words keep = 0.5."""
    value = r"(\([^()]*\)|[−-]?\d[\d,]*(?:\.\d+)?)"
    values = dict(re.findall(rf"`(\w+)` (?:=|is) {value}", text))
    return {name: said.replace("−", "-").replace(",", ", ") for name, said in values.items()}


def faults(exercise, seed: int) -> list[str]:
    """What is wrong with one handout, a sentence each."""
    text, names = task(1, exercise, seed).split("\n", 4)[-1], executed(exercise, seed)
    numbers: dict = {}
    exec(given(exercise, seed), numbers)
    wrong = [f"it speaks of what is elsewhere: {word}" for word in ELSEWHERE.findall(text)]
    for name, said in claims(text).items():
        if name not in numbers or not same(torch.as_tensor(ast.literal_eval(said)), numbers[name]):
            wrong.append(f"it says that {name} is {said}; the cell has {numbers.get(name)}")
    arguments = {
        argument.arg
        for node in ast.walk(ast.parse(exercise.starter))
        if isinstance(node, ast.arguments)
        for argument in node.args
    }
    for code in CODE.findall(text):
        try:
            tree = ast.parse(code)
        except SyntaxError:
            continue  # a sign, or a part of an expression
        asked = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = [node.func.id for node in asked if isinstance(node.func, ast.Name)]
        if not set(calls) & set(exercise.functions):
            continue
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}  # a lambda's
        unknown = used - own - set(names) - set(vars(builtins))
        if unknown and not unknown <= arguments:
            wrong.append(f"{code} names what is not there: {unknown}")
        if unknown:
            continue  # the signature: what it is called with has no value here
        try:
            eval(code, dict(names))
        except Exception as error:
            wrong.append(f"{code} raises {type(error).__name__}: {error}")
    return [f"seed {seed}: {sentence}" for sentence in wrong]


@pytest.mark.usefixtures("translated_once")
@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_a_few_handouts(exercise):
    assert [fault for seed in seeds(FEW) for fault in faults(exercise, seed)] == []


@pytest.mark.usefixtures("translated_once")
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(MANY, marks=pytest.mark.slow),
        pytest.param(ALL_OF_A_CLASS, marks=pytest.mark.deep),
    ],
)
@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_the_handouts_of_a_class(exercise, count):
    assert [fault for seed in seeds(count) for fault in faults(exercise, seed)] == []


@pytest.mark.parametrize("exercise", ALL.values(), ids=ALL.keys())
def test_a_number_in_a_text_is_a_students_or_a_constant(exercise):
    """Neither is a number of the chapter's variant, which would differ from the cell's."""
    raw = re.sub(r"{%-? if chapter -?%}.*?({%-? else -?%}|{%-? endif -?%})", "", exercise.text,
                 flags=re.S)  # fmt: skip
    raw = re.sub(r"{%-? if not chapter -?%}|{%-? (else|endif) -?%}|{{.*?}}", "", raw)
    numbers = {number.rstrip(",") for number in NUMBER.findall(raw)}
    assert numbers - set(CONSTANTS.get(exercise.id, "").split()) == set()


def test_a_slip_of_each_kind_is_noticed():
    exercise = ALL["04-a-fourth-character"]
    seed = next(seed for seed in seeds(9) if exercise.parameters(seed)["token"].sum() != 2)
    fixed = exercise.text.replace("{{ token }}", "(0, 1, 1, 0)")

    def said(exercise, text):
        return " ".join(faults(replace(exercise, text=text), seed))

    assert "it says that token is" in said(exercise, fixed)
    exercise = ALL["03-context-vector"]
    assert "names what is not there: {'y'}" in said(exercise, "Try `context_vector(y, 0)`.")
    assert "raises IndexError" in said(exercise, "Try `context_vector(x, 40)`.")
    assert "elsewhere: table above" in said(exercise, "As in the table above.")
    assert said(exercise, "Try `context_vector(x, 0)` of `context_vector(x, i)`.") == ""
