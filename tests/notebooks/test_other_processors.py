"""The notebooks print the same digits on other processors, and with another number of threads.

Vector instructions add in another order, and round functions such as sin in another way: what a
notebook prints may not depend on it. test_colab.py runs the chapters under the plainest ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from tests.notebooks.execution import AVX2_AND_THREADS, EXECUTE, PLAINEST, wrong_cells
from tools.notebooks import NOTEBOOKS, ROOT

PAGES = [path for path in NOTEBOOKS if path.parent.name != "chapters"]
OF_EXERCISES = sorted(ROOT.glob("exercises/notebooks/*.ipynb"))
SETTINGS = {"DEFAULT": PLAINEST, "AVX2": AVX2_AND_THREADS}
RUNS = [(path, "DEFAULT") for path in PAGES] + [(path, "AVX2") for path in NOTEBOOKS]


def named(path, capability):
    # One in every run, whose numbers once depended on the processor.
    is_quick = (path.stem, capability) == ("for_engineers", "DEFAULT")
    marks = [] if is_quick else [pytest.mark.slow]
    return pytest.param(path, capability, id=f"{path.stem}-{capability}", marks=marks)


def run(capability: str, *command: str | Path, cwd: Path = ROOT) -> str:
    """What a Python prints that takes this processor for one that can do so much."""
    done = subprocess.run(
        [sys.executable, "-c", *command],
        cwd=cwd, env=os.environ | SETTINGS[capability], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@cache
def found(capability: str) -> str:
    return run(capability, "import torch; print(torch.backends.cpu.get_cpu_capability())")


def wrong(path: Path, capability: str, new: Path, cwd: Path) -> dict[str, list[str]]:
    """What differs when a notebook is run so, by the cells' ids."""
    if found(capability) != capability:
        pytest.skip(f"this processor has no {capability}: torch takes {found(capability)}")
    run(capability, EXECUTE, path, new, cwd=cwd)
    return wrong_cells(path, new)


@pytest.mark.parametrize(("path", "capability"), [named(*pair) for pair in RUNS])
def test_its_digits_are_the_stored_ones(path, capability, tmp_path):
    assert wrong(path, capability, tmp_path / path.name, path.parent) == {}


@pytest.mark.slow
@pytest.mark.parametrize("capability", SETTINGS)
def test_the_exercises_digits_are_the_stored_ones(capability, tmp_path):
    """One after the other in one kernel, which forgets every name between them."""
    cells = []
    for path in OF_EXERCISES:
        cells.append(new_code_cell("%reset -f"))
        for cell in nbformat.read(path, as_version=4).cells:
            cell.id = f"{path.stem}-{cell.id}"
            cells.append(cell)
    path = tmp_path / "exercises.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert wrong(path, capability, tmp_path / "new.ipynb", OF_EXERCISES[0].parent) == {}
