"""The reference pages: every public name is documented, and every chapter is found again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import attn_core
from attn_core import learning, steps, views
from publishing.site import api_reference

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
# They come back from `explore` and `figure`; nobody makes one.
RESULTS = {"Explorer", "Picture"}
PUBLIC = [f"attn_core.{name}" for name in attn_core.__all__]
PUBLIC += [f"attn_core.steps.{name}" for name in steps.__all__]
PUBLIC += [f"attn_core.learning.{name}" for name in learning.__all__]
PUBLIC += [f"attn_core.views.{name}" for name in views.__all__ if name not in RESULTS]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_in_the_reference_and_says_where_it_is_taught(name):
    page = (BOOK / "api.md").read_text(encoding="utf-8")
    assert re.search(rf"auto(function|class):: {re.escape(name)}(\(\))?$", page, re.MULTILINE)
    said = api_reference.taught_in(api_reference.named(name).__doc__)
    assert said, f"the docstring of {name} must say: Taught in chapter NN."


def test_signs_of_a_docstring_mean_nothing():
    text = "A box [*B, T].\n\n>>> 2 ** 3\n8\n\nkeep: `x`, a_\n    or |b|"
    made = api_reference.to_rst(text.split("\n"), {})
    assert made[0] == r"A box [\*B, T]."
    assert made[2:4] == [">>> 2 ** 3", "8"]
    assert made[5] == r"* keep: ``x``, a\_ or \|b\|"


def test_a_chapter_becomes_a_link():
    made = api_reference.plain("Taught in chapters 04 and 99.", {"04": "chapters/04_by_hand"})
    assert made == "Taught in chapters :doc:`04 </chapters/04_by_hand>` and 99."


@pytest.mark.parametrize("page", ["errata.md", "your_notes.md"])
def test_every_chapter_of_the_sources_is_led_to(page):
    text = (BOOK / page).read_text(encoding="utf-8")
    of_our_own = {"10_whole_model.ipynb", "12_language_model.ipynb"}
    of_our_own |= {"13_learning.ipynb", "14_mistakes.ipynb"}
    chapters = {path.name for path in ROOT.glob("chapters/*.ipynb")} - of_our_own
    assert set(re.findall(r"chapters/(\d\d_\w+\.ipynb)", text)) >= chapters
