"""The form of the stored notebooks: generated cells up to date, nothing that changes by the run."""

from __future__ import annotations

import re

import nbformat
import pytest

import exercises
from publishing import ROOT
from publishing.notebooks.chapters import NOTEBOOKS, generate, normalise, repository_url

CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "chapters"]
TAG = re.compile(
    r"setup|solution|sentences|(hide|remove)-(input|output|cell)|raises-exception"
    r"|(ledger|exercise|mistake):[\w.-]+"
)
# Heavier outputs make a repository that nobody wants to clone.
MOST_BYTES = 1_000_000


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


def read(path):
    return nbformat.read(path, as_version=4)


def test_the_chapters_are_those_of_the_contents_each_with_a_number_of_its_own():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert re.findall(r"file: chapters/(\w+)", contents) == [path.stem for path in CHAPTERS]
    numbers = [path.name[:2] for path in CHAPTERS]
    assert numbers == [f"{n:02}" for n in range(1, len(numbers) + 1)]


def test_generated_cells_and_metadata_are_what_make_notebooks_writes(path):
    notebook = read(path)
    generate(notebook, path, repository_url(), exercises.load())
    counts = {cell.id: cell for cell in read(path).cells if cell.cell_type == "code"}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id in counts:
            cell.execution_count = counts[cell.id].execution_count
            cell.outputs = counts[cell.id].outputs
    normalise(notebook)
    assert nbformat.writes(notebook) + "\n" == path.read_text(encoding="utf-8"), (
        "run `make notebooks`"
    )


def test_counts_run_from_one(path):
    counts = [c.execution_count for c in read(path).cells if c.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_setup_says_nothing(chapter):
    first = next(cell for cell in read(chapter).cells if cell.cell_type == "code")
    assert "setup" in first.metadata["tags"]
    assert repository_url() in first.source
    assert first.outputs == []


def test_ids_and_tags(path):
    cells = read(path).cells
    ids = [cell.id for cell in cells]
    assert len(set(ids)) == len(ids)
    assert [i for i in ids if not re.fullmatch(r"[a-z0-9-]+", i)] == []
    tags = {tag for cell in cells for tag in cell.metadata.get("tags", [])}
    assert [tag for tag in sorted(tags) if not TAG.fullmatch(tag)] == []


def test_outputs_hold_no_address_no_path_no_warning(path):
    for cell in read(path).cells:
        for output in cell.get("outputs", []):
            text = str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
            assert not re.search(r"0x[0-9a-f]{6,}|/home/|/root/|site-packages", text), cell.id
            assert output.get("name") != "stderr", f"{cell.id} writes to stderr"


def test_size(path):
    assert path.stat().st_size < MOST_BYTES
