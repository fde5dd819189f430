"""The notebooks print the same digits on another device: on a GPU, or on a pretended one.

The pretended one keeps its tensors apart from the CPU's, as a GPU does. Attention on it is computed
by Triton's kernels in the chapters of BY_TRITON, as Triton's interpreter is slow, else by torch's
operations.
"""

from __future__ import annotations

import os

import nbformat
import pytest
import torch

from publishing.notebooks.chapters import NOTEBOOKS
from tests import missing
from tests.notebooks.execution import execute, wrong_cells

DEVICE = "cuda" if torch.cuda.is_available() else "pretend"
BY_TRITON = ("03", "04", "05", "06", "07")
# Up to a minute each on the pretended device: `make test-devices` and `make deep` run all of them.
FEW = ("03", "06", "for_engineers")
# torch fails on wrappers such as those of the pretended device while a mode changes heads.
CHANGED = () if DEVICE == "cuda" else ("12", "own_model")
# What another device may print otherwise, by the cells' ids.
KNOWN = {
    "widths": "Triton's kernels take values of any width as they are",
    "long": "Triton's kernels have row statistics at once, torch's operations when they are asked",
}

# Before a notebook's first cell: a device is added to torch, and attn_core takes it.
STARTUP = """
from tests.devices import pretend
pretend.serve(by_triton={})
del pretend
"""


def printed(outputs: list) -> list:
    """What a cell printed; pictures and payloads hold all bits of a number, also the last."""
    kept = []
    for output in outputs:
        if output.output_type == "stream":
            kept.append(output)
        elif "text/plain" in output.get("data", {}):
            data = {"text/plain": output.data["text/plain"]}
            kept.append(nbformat.from_dict({**output, "data": data}))
    return kept


def each_notebook():
    for path in NOTEBOOKS:
        if not path.name.startswith(CHANGED):
            is_often = (
                DEVICE == "cuda" or path.name.startswith(FEW) or "ALL_NOTEBOOKS" in os.environ
            )
            yield pytest.param(path, id=path.stem, marks=() if is_often else pytest.mark.deep)


@pytest.mark.parametrize("path", list(each_notebook()))
def test_its_digits_are_the_stored_ones(path, tmp_path):
    pytest.importorskip("triton", reason=missing.TRITON)
    variables, before = {"ATTN_DEVICE": DEVICE}, ""
    if DEVICE == "pretend":
        variables["TRITON_INTERPRET"] = "1"
        before = STARTUP.format(path.name.startswith(BY_TRITON))
    new = tmp_path / path.name
    execute(path, new, variables, before)
    assert wrong_cells(path, new, KNOWN, printed) == {}
