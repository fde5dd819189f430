"""What is stored is the same on every processor: notebooks, vectors, handouts.

Some processors are pretended, see `pretend.py`; some are this one, told to do without what it can.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import exercises
from generate import model_vectors, page_vectors
from grading.numbers import given
from publishing import ROOT
from publishing.notebooks.chapters import NOTEBOOKS
from publishing.notebooks.outputs import vectors_differ
from tests.notebooks.execution import AVX2_AND_THREADS, PLAINEST, execute, wrong_cells
from tests.processors.pretend import RULES, Processor

pytestmark = pytest.mark.gate

STARTUP = """
from tests.processors import pretend
pretend.enter()
del pretend
"""
# What torch's capability must be, and what makes it so; test_colab.py has the plainest one.
REAL = {
    "AVX2": ("AVX2", AVX2_AND_THREADS),
    "compatible MKL": ("", {"MKL_CBWR": "COMPATIBLE"}),
    "MKL for AVX2": ("", {"MKL_CBWR": "AVX2"}),
    "MKL for AVX512": ("AVX512", {"MKL_CBWR": "AVX512"}),
    "two threads": ("", {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}),
    "plainest": ("DEFAULT", PLAINEST),
}
# About a minute each on a processor that is pretended.
LONG = ("01", "09", "10", "11", "12", "13", "14", "own_model")
OF_EXERCISES = sorted(ROOT.glob("exercises/notebooks/*.ipynb"))


# One of them finds nearly all that the others do.
OFTEN = "mixed"


RULE = pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=() if rule == OFTEN else pytest.mark.deep) for rule in RULES]
)
SETTINGS = [
    pytest.param(
        "",
        {"PRETEND_PROCESSOR": rule},
        id=rule,
        marks=pytest.mark.slow if rule == OFTEN else pytest.mark.deep,
    )
    for rule in RULES
]
SETTINGS += [pytest.param(*how, id=name, marks=pytest.mark.deep) for name, how in REAL.items()]


@cache
def capability_with(**variables: str) -> str:
    command = [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"]
    env = os.environ | variables
    return subprocess.run(command, env=env, capture_output=True, text=True).stdout.strip()


def differing(path, folder, capability: str, variables: dict[str, str]) -> dict[str, list[str]]:
    """What differs when a notebook is run with these variables, by the cells' ids."""
    if capability and capability_with(**variables) != capability:
        had = capability_with(**variables)
        pytest.skip(f"this processor has no {capability}: torch takes {had}")
    new = folder / path.name
    execute(path, new, variables, STARTUP if "PRETEND_PROCESSOR" in variables else "")
    return wrong_cells(path, new)


@pytest.mark.parametrize(("capability", "variables"), SETTINGS)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=pytest.mark.deep if path.name.startswith(LONG) else (), id=path.stem
        )
        for path in NOTEBOOKS
    ],
)
def test_a_notebook_gives_what_is_stored(path, capability, variables, tmp_path):
    assert differing(path, tmp_path, capability, variables) == {}


def test_a_notebook_gives_what_is_stored_on_one_that_is_pretended(tmp_path):
    """In every run: a notebook whose numbers once depended on the processor."""
    (path,) = (path for path in NOTEBOOKS if path.stem == "for_engineers")
    assert differing(path, tmp_path, "", {"PRETEND_PROCESSOR": OFTEN}) == {}


@pytest.mark.parametrize(("capability", "variables"), SETTINGS)
def test_exercises_give_what_is_stored(capability, variables, tmp_path):
    """One after the other in one kernel, which forgets every name between them."""
    cells = []
    for path in OF_EXERCISES:
        cells.append(new_code_cell("%reset -f"))
        for cell in nbformat.read(path, as_version=4).cells:
            cell.id = f"{path.stem}-{cell.id}"
            cells.append(cell)
    path = tmp_path / "exercises.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    assert differing(path, tmp_path / "new", capability, variables) == {}


@RULE
@pytest.mark.parametrize("vectors", [page_vectors, model_vectors], ids=["page", "model"])
def test_vectors_are_the_stored_ones(vectors, rule):
    with Processor(rule):
        made = vectors.text()
    assert vectors_differ(vectors.STORED, made) is None


def handouts() -> dict[str, str]:
    """What students are told, with numbers that a seed has drawn."""
    return {
        f"{exercise.id}, {seed}": exercise.task(seed) + given(exercise, seed)
        for exercise in exercises.load().values()
        for seed in range(4)
    }


@RULE
def test_handouts_are_the_same(rule):
    here = handouts()
    with Processor(rule):
        assert handouts() == here
