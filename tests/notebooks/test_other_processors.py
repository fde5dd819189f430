"""The notebooks print the same digits on other processors, and with another number of threads.

Vector instructions add in another order, and round functions such as sin in another way: what a
notebook prints may not depend on it. test_colab.py runs the chapters under the plainest ones.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.notebooks.execution import AVX2_AND_THREADS, EXECUTE, PLAINEST, wrong_cells
from tools.notebooks import NOTEBOOKS, ROOT

PAGES = [path for path in NOTEBOOKS if path.parent.name != "chapters"]
OF_EXERCISES = sorted(ROOT.glob("exercises/notebooks/*.ipynb"))
RUNS = [(path, "DEFAULT", PLAINEST) for path in PAGES + OF_EXERCISES]
RUNS += [(path, "AVX2", AVX2_AND_THREADS) for path in NOTEBOOKS + OF_EXERCISES]


def named(path, capability, variables):
    # One in every run, whose numbers once depended on the processor.
    is_quick = path.stem == "for_engineers" and variables is PLAINEST
    marks = [] if is_quick else [pytest.mark.slow]
    return pytest.param(path, capability, variables, id=f"{path.stem}-{capability}", marks=marks)


@pytest.mark.parametrize(("path", "capability", "variables"), [named(*run) for run in RUNS])
def test_its_digits_are_the_stored_ones(path, capability, variables, tmp_path):
    environment = os.environ | variables

    def run(*command):
        done = subprocess.run(
            [sys.executable, "-c", *command],
            cwd=path.parent, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    found = run("import torch; print(torch.backends.cpu.get_cpu_capability())")
    if found != capability:
        pytest.skip(f"this processor has no {capability}: torch takes {found}")
    run(EXECUTE, path.name, tmp_path / path.name)
    assert wrong_cells(path, tmp_path / path.name) == {}
