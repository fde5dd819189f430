"""Runs a notebook in another process, whose Python and environment the test chooses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import nbformat

from publishing import ROOT
from publishing.notebooks.chapters import tags
from publishing.notebooks.outputs import differences
from tests.patience import TO_START

# What torch and the libraries under it read when they start: as if this were another processor.
PLAINEST = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OMP_NUM_THREADS": "1",
}
AVX2_AND_THREADS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OMP_NUM_THREADS": "3",
    # Three threads for what may be two processors: whoever waits gives way.
    "OMP_WAIT_POLICY": "PASSIVE",
    "KMP_BLOCKTIME": "0",
}

# python -c EXECUTE notebook result
EXECUTE = f"""
import sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
waits = dict(timeout=None, startup_timeout={TO_START}, iopub_timeout={TO_START})
log = ["--log-level=ERROR"]
client = NotebookClient(
    notebook, coalesce_streams=True, extra_arguments=log, raise_on_iopub_timeout=True, **waits
)
client.execute()
nbformat.write(notebook, sys.argv[2])
"""


def execute(path: Path, new: Path, variables: Mapping[str, str], before: str = "") -> None:
    """Run a notebook where it is, with more in its environment; what it gives is stored in `new`.

    before: code that its kernel runs before the first cell.
    """
    profile = new.parent / "ipython"
    startup = profile / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "before.py").write_text(before, encoding="utf-8")
    ours = {"IPYTHONDIR": str(profile), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, path, new],
        cwd=path.parent, capture_output=True, text=True, env={**os.environ, **ours, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def wrong_cells(
    stored: Path,
    new: Path,
    known: Collection[str] = (),
    chosen: Callable[[list], list] = list,
) -> dict[str, list[str]]:
    """What differs, by the cells' ids: of each cell the chosen outputs, but of none that is known.

    The setup cell is left out: it says where attn_core comes from.
    """
    pairs = zip(nbformat.read(stored, 4).cells, nbformat.read(new, 4).cells, strict=True)
    by_cell = {
        before.id: list(differences(chosen(before.outputs), chosen(after.outputs)))
        for before, after in pairs
        if before.cell_type == "code" and "setup" not in tags(before) and before.id not in known
    }
    return {name: sentences for name, sentences in by_cell.items() if sentences}
