"""Runs a notebook in another process, whose Python and environment the test chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import nbformat

from tests.notebooks.compare import differences
from tools.notebooks import tags

# python -c EXECUTE notebook result
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
log = ["--log-level=ERROR"]
NotebookClient(notebook, timeout=300, coalesce_streams=True, extra_arguments=log).execute()
nbformat.write(notebook, sys.argv[2])
"""


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
    found = {
        before.id: list(differences(chosen(before.outputs), chosen(after.outputs)))
        for before, after in pairs
        if before.cell_type == "code" and "setup" not in tags(before) and before.id not in known
    }
    return {name: sentences for name, sentences in found.items() if sentences}
