"""The page computes a whole model as attn_core does: node and Python over 300 sentences."""

import json
from functools import cache

import numpy as np
import pytest
import torch

from attn_core.digits import fixed
from attn_core.steps import Changes, recording, run, workings
from attn_core.steps.changes import switches_of
from attn_core.translators import recurrent, training, transformer
from attn_core.translators.grammar import CHINESE, END, ENGLISH, START, ids, sentence
from attn_core.views.model_payload import model_payload
from benchmarks.switched import MARKS
from machine import node

NUMBERS = "attn_core/views/page/test/numbers.js"
LONGEST = 60  # words that attn_core writes at most
AT_ONCE = 20  # sentences that node is asked for together: what it answers is large
# All of 300 sentences, the first sixty of them in every run: in these each switch has its turn.
SIXTY = pytest.param(range(60), marks=pytest.mark.slow, id="sixty")
THE_OTHERS = pytest.param(range(60, 300), marks=pytest.mark.deep, id="the others of 300")
# By the name of a model: what makes it, and how long its sentences may be.
MODELS = {
    "transformer": (transformer.stored, transformer.LONGEST),
    "recurrent with attention": (lambda: recurrent.stored(attends=True), recurrent.LONGEST),
    "recurrent with one vector": (lambda: recurrent.stored(attends=False), recurrent.LONGEST),
}


def halved(model):
    """With weights that float16 holds, as a page gets them."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())
    return model


@cache
def recorded(name):
    make, _ = MODELS[name]
    model = halved(make())
    source, target = ids(["Tom", "chases", "Jerry"], ENGLISH)[None], ids([START], CHINESE)[None]
    with recording(model, {"source": ENGLISH, "target": CHINESE}) as steps:
        _ = model(source, target) if name == "transformer" else model(source, [3], target)
    return model, steps.with_softmax()


def translated(model, english):
    if isinstance(model, recurrent.Translator):
        return model.translate(english)
    return [word for word in transformer.translate(model, english).words if word != END]


def switches(steps):
    """Each thing that may be switched off, alone; the last one is all of them together."""

    found = [(step.name, *one) for step in steps.values() for one in switches_of(step)]
    heads = [one for one in found if one[2] is not None]
    others = [one for one in found if one[2] is None]
    return [*(changes_of([one]) for one in heads + others), changes_of(heads[::2] + others)]


def changes_of(found):
    lists = {}
    for name, kind, head in found:
        lists.setdefault(kind, []).append(name if head is None else (name, head))
    return Changes(**lists)


def passes_of(name, number, switched=3):
    """A sentence with its translation: a pass without a change, and some with those in turn."""
    model, steps = recorded(name)
    pair = sentence(training.TESTING, number, MODELS[name][1])
    source = ids(pair.english, ENGLISH).tolist()
    target = ids([START, *translated(model, pair.english)], CHINESE).tolist()
    known = switches(steps)
    turn = (known[(switched * number + n) % len(known)] for n in range(switched))
    for change in [Changes(), *turn]:
        forward = run(steps, change, source=source, target=target)
        places = list(addresses(forward, number))
        words = {"source": source, "target": target}
        yield forward, words | {"changes": change.to_json(), "addresses": places}


def addresses(forward, number):
    """A few places anywhere in a pass, counted, not drawn."""
    names = list(forward.steps)
    for n in range(4):
        step = forward.steps[names[(31 * number + 17 * n) % len(names)]]
        stage = step.arrays[(number + n) % len(step.arrays)]
        shape = forward.value(step.name, stage).shape[1:]
        index = [(13 * number + 7 * n + axis) % size for axis, size in enumerate(shape)]
        yield step.name, index, stage


def numbers(forward):
    """All numbers of a pass, in the order in which numbers.js writes them."""
    steps = forward.steps.values()
    arrays = [forward.value(step.name, stage) for step in steps for stage in step.arrays]
    return np.concatenate([array.double().numpy().ravel() for array in arrays])


def check_equal(page, python):
    assert page.shape == python.shape
    hidden = np.isneginf(python)
    assert (np.isneginf(page) == hidden).all()
    page, python = page[~hidden], python[~hidden]
    error = np.abs(page - python) / np.maximum(1, np.abs(python))
    assert error.max() < 1e-12
    # Digits can differ only beside the middle of two printed numbers, and near zero.
    middle = np.abs(python * 1e4 % 1 - 0.5) < 1e-4
    doubtful = (middle | (np.abs(python) < 1e-4)) & (page != python)
    for x, y in zip(page[doubtful].tolist(), python[doubtful].tolist(), strict=True):
        assert fixed(x) == fixed(y), (x, y)


def compare(name, sentences, folder):
    """Asks node for the passes of some sentences; how many numbers it has in common with Python."""
    passes = [case for number in sentences for case in passes_of(name, number)]
    asked, binary, said = (folder / file for file in ("asked.json", "numbers", "said.json"))
    program = model_payload(recorded(name)[1], MARKS)
    question = {"program": program, "passes": [question for _, question in passes]}
    asked.write_text(json.dumps(question), encoding="utf-8")
    done = node.run("node", NUMBERS, asked, binary, said, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    page, at = np.fromfile(binary, dtype="<f8"), 0
    answers = json.loads(said.read_text(encoding="utf-8"))
    for (forward, question), answer in zip(passes, answers, strict=True):
        python = numbers(forward)
        check_equal(page[at : at + len(python)], python)
        at += len(python)
        lines = [workings(forward, *place).text for place in question["addresses"]]
        assert answer["lines"] == lines
        if question["changes"] == Changes().to_json():
            whole = [*question["target"][1:], CHINESE.index(END)]
            assert answer["written"][:LONGEST] == whole[:LONGEST]
    assert at == len(page)
    return at


@pytest.mark.parametrize("name", MODELS)
def test_the_page_has_pythons_numbers(name, tmp_path):
    assert compare(name, range(2), tmp_path) > 10_000


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sentences", [SIXTY, THE_OTHERS])
def test_the_page_has_pythons_numbers_of_many_sentences(name, sentences, tmp_path):
    """Each change is on in some of them, and off in the others."""
    starts = range(sentences.start, sentences.stop, AT_ONCE)
    counts = [compare(name, range(first, first + AT_ONCE), tmp_path) for first in starts]
    assert sum(counts) > 10_000 * len(sentences)
    assert len(switches(recorded(name)[1])) < len(sentences)


def test_a_number_that_differs_is_found():
    numbers = np.array([0.25, -np.inf, 3.0])
    check_equal(numbers, numbers.copy())
    with pytest.raises(AssertionError):
        check_equal(numbers, numbers + 1e-11)
    with pytest.raises(AssertionError):
        check_equal(np.array([0.25, 0.0, 3.0]), numbers)
    with pytest.raises(AssertionError):
        check_equal(np.array([0.00005000000001]), np.array([0.00004999999999]))
    with pytest.raises(AssertionError):
        check_equal(np.array([0.12345000000001]), np.array([0.12344999999999]))
