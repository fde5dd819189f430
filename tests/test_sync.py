"""`make sync`: what it runs, what it leaves, and what it says to whoever changed a page."""

from __future__ import annotations

from copy import deepcopy

import nbformat
import pytest

from publishing import ROOT, sync
from publishing.sync import has_changed, is_new, needs_run, say

CHAPTER = ROOT / "chapters" / "06_masking.ipynb"


@pytest.fixture
def committed(monkeypatch):
    """A chapter, and a commit that has it; attn_core is as the commit has it."""
    text = CHAPTER.read_text(encoding="utf-8")
    said = {"show": text, "status": ""}
    monkeypatch.setattr(sync, "git", lambda command, *_: said[command])
    return nbformat.reads(text, as_version=4), said


@pytest.mark.parametrize(
    ("kind", "wanted"), [("markdown", False), ("code", True)], ids=["a sentence", "code"]
)
def test_a_notebook_is_run_only_for_its_code(committed, kind, wanted):
    notebook = deepcopy(committed[0])
    next(cell for cell in notebook.cells if cell.cell_type == kind).source += " "
    assert is_new(CHAPTER, notebook) is wanted


@pytest.mark.parametrize(
    ("state", "wanted"), [("", False), (" M attn_core/api.py", True), (None, True)]
)
def test_all_are_run_for_what_they_import(committed, state, wanted):
    committed[1]["status"] = state
    assert has_changed() is wanted


def test_a_notebook_is_run_outside_of_a_clone(committed):
    notebook, said = committed
    said["show"] = None
    assert is_new(CHAPTER, notebook)


@pytest.mark.parametrize(("cells", "wanted"), [([], False), (["see-one"], True)])
def test_a_notebook_is_run_for_the_words_of_its_plots(committed, monkeypatch, cells, wanted):
    monkeypatch.setattr(sync.plots, "stale", lambda *_: cells)
    assert needs_run(CHAPTER, committed[0]) is wanted


def test_a_notebook_without_a_chinese_one_is_not_run_for_it(committed, monkeypatch, tmp_path):
    monkeypatch.setattr(sync, "beside", lambda path: tmp_path / path.name)
    assert not needs_run(CHAPTER, committed[0])


def test_what_is_left_is_said_in_a_few_lines(capsys):
    with pytest.raises(SystemExit, match="1"):
        say([f"line {n}" for n in range(7)])
    assert capsys.readouterr().out.splitlines() == [
        *(f"line {n}" for n in range(5)),
        "… and 2 more",
        "7 left for you: mend these, and run it again",
    ]
    with pytest.raises(SystemExit, match="0"):
        say([])
    assert capsys.readouterr().out == "nothing is left\n"
