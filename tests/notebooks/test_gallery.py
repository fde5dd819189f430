"""The gallery's notebook: an entry for each mistake, from its own fields, and each is tried."""

from __future__ import annotations

import itertools

import nbformat

from attn_core.mistakes import MISTAKES, evidence
from exercises import load
from publishing import ROOT
from publishing.notebooks import mistake_cards
from publishing.notebooks.chapters import tagged

CELLS = nbformat.read(ROOT / "chapters" / "14_mistakes.ipynb", as_version=4).cells


def test_every_mistake_hangs_once():
    hung = [name for cell in CELLS if (name := tagged(cell, "mistake"))]
    assert sorted(hung) == sorted(MISTAKES)


def test_every_mistake_is_tried_below_its_entry():
    for cell, below in itertools.pairwise(CELLS):
        if name := tagged(cell, "mistake"):
            assert below.source == f'evidence(MISTAKES["{name}"])'
            shown = below.outputs[0].data["text/plain"]
            assert shown.splitlines()[0] == str(evidence(MISTAKES[name])).splitlines()[0]


def test_an_entry_says_all_that_the_mistake_knows():
    for mistake in MISTAKES.values():
        card = mistake_cards.card(mistake)
        for text in (mistake.does, mistake.symptom, f"- {mistake.wrong}", f"+ {mistake.right}"):
            assert text in card
        assert f"`{mistake.check}`" in card
        assert card.count("](") == len({mistake_cards.link(source) for source in mistake.source})


def test_the_tables_of_an_exercise_are_those_above_it():
    (cell,) = [cell for cell in CELLS if cell.id == "wrong-tables"]
    tables = load()["14-name-the-mistake"].parameters(0)["wrong_tables"]
    assert cell.outputs[0].data["text/plain"] == repr(tables)
