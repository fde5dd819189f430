"""The page trains as attn_core does: each number of each step, node and Python."""

import json

import numpy as np
import pytest

from generate import training_vectors
from machine import node
from publishing.notebooks.outputs import vectors_differ

TRAINED = "attn_core/views/page/test/trained.js"
ROOM = 1e-9
START = {"task": {"hasStart": True}}
# Training multiplies what the last bits of two processors differ by: slowly while it learns, fast
# where a rate is at the edge of what is stable. Beyond these steps more than ROOM can be left.
LONG = {
    "as it begins": ({}, 600),
    "a start token": (START, 600),
    "one layer": ({"layers": 1}, 600),
    "no mask": ({"isMasked": False}, 600),
    "seed 3": ({"seed": 3}, 600),
    "SGD": ({"optimiser": {"kind": "sgd"}}, 600),
    "one length": ({"task": {"shortest": 4, "longest": 4}}, 300),
}


def compare(settings, steps, folder):
    """How far the page's numbers are from Python's, step by step."""
    asked, numbers = folder / "asked.json", folder / "numbers"
    asked.write_text(json.dumps({"settings": settings, "steps": steps}), encoding="utf-8")
    done = node.run("node", TRAINED, asked, numbers, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    page, at = np.fromfile(numbers, dtype="<f8"), 0
    training = training_vectors.training_of(settings)
    apart = []
    for _ in range(steps):
        losses = training.step()[1:]
        parts = [training_vectors.flat(training, part).numpy() for part in ("gradient", "after")]
        maps = [weights.numpy().ravel() for weights in training.maps()]
        python = np.concatenate([losses, *parts, *maps])
        apart.append(np.abs(page[at : at + len(python)] - python).max())
        at += len(python)
    assert at == len(page)
    return apart


def test_the_vectors_are_those_of_attn_core():
    wrong = vectors_differ(training_vectors.STORED, training_vectors.text())
    assert not wrong, f"python -m generate.training_vectors writes these again: {wrong}"


@pytest.mark.parametrize("name", ["as it begins", "a start token"])
def test_the_page_has_pythons_numbers(name, tmp_path):
    settings, _ = LONG[name]
    assert max(compare(settings, 20, tmp_path)) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["as it begins", "a start token"])
def test_the_page_has_pythons_numbers_to_the_end(name, tmp_path, record_property):
    settings, steps = LONG[name]
    apart = compare(settings, steps, tmp_path)
    record_property("summary", f"page and Python over {steps} steps, {name}: {max(apart):.1e}")
    assert max(apart) < ROOM


@pytest.mark.deep
@pytest.mark.parametrize("name", [*LONG][2:])
def test_the_page_has_pythons_numbers_with_every_setting(name, tmp_path):
    settings, steps = LONG[name]
    assert max(compare(settings, steps, tmp_path)) < ROOM


def test_a_number_that_differs_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(training_vectors.RATES, "lr", "weight_decay")
    assert max(compare({"optimiser": {"lr": 0.02}}, 2, tmp_path)) > 1e-4
