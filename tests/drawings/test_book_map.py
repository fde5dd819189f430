"""The map fills what each chapter says of itself."""

from __future__ import annotations

import re

import nbformat

from attn_core.checks import STAGES
from attn_core.views.drawings.book_map import CHAPTERS
from publishing import ROOT

PATHS = sorted((ROOT / "chapters").glob("*.ipynb"))
LINE = re.compile(r"^.*scores.*→.*output.*$", re.MULTILINE)


def test_it_has_every_chapter():
    assert [name[:2] for name in CHAPTERS] == [path.name[:2] for path in PATHS]


def test_what_a_chapter_has_in_bold_is_filled():
    said = 0
    for path, lit in zip(PATHS, CHAPTERS.values(), strict=True):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        if line := LINE.search(text):
            bold = [stage for stage in STAGES if f"**{stage}**" in line[0]]
            assert bold == lit.split(), path.name
            said += 1
    assert said >= 8
