"""The Chinese notebooks are those that the English ones and the catalogues make."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tools.chinese_notebooks import all_made, of_page, relinked
from tools.notebooks import NOTEBOOKS, ROOT


def test_stored_notebooks():
    """`make translations` would change nothing, and leaves nothing over."""
    made = all_made(NOTEBOOKS)
    for path, text in made.items():
        name = path.relative_to(ROOT)
        assert path.is_file() and path.read_text(encoding="utf-8") == text, (
            f"{name}: run `make translations`"
        )
    folders = ("chapters/zh", "book/zh", "exercises/notebooks/zh")
    there = {path for folder in folders for path in (ROOT / folder).glob("*")}
    assert there == set(made)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_and_outputs_are_the_same(path):
    """Cell by cell: code, printed text, data of explorers and pictures; only words may differ."""
    english, chinese = nbformat.read(path, as_version=4), of_page(path)
    assert [cell.id for cell in chinese.cells] == [cell.id for cell in english.cells]
    for before, after in zip(english.cells, chinese.cells, strict=True):
        assert after.cell_type == before.cell_type
        assert after.metadata.get("tags") == before.metadata.get("tags")
        if before.cell_type == "code":
            assert after.source == before.source
            assert after.execution_count == before.execution_count
            assert len(after.outputs) == len(before.outputs)
            for old, new in zip(before.outputs, after.outputs, strict=True):
                assert new.get("text") == old.get("text")
                for kind in ("text/plain", "text/html", "image/png"):
                    assert new.get("data", {}).get(kind) == old.get("data", {}).get(kind)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("[B](02_three_stages.ipynb#a)", "[B](02_three_stages.ipynb#a)"),
        ("[map](../book/map.md#a)", "[map](../../book/map.md#a)"),
        ("[page](../book/index.ipynb)", "[page](../../book/zh/index.ipynb)"),
        ("[here](#a) [there](https://a.b/c.ipynb)", "[here](#a) [there](https://a.b/c.ipynb)"),
        ('<a href="../genindex.html">', '<a href="../../genindex.html">'),
    ],
)
def test_links_lead_where_they_led(text, moved):
    assert relinked(text, Path(ROOT / "chapters")) == moved
