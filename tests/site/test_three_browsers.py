"""The site in Chromium, Firefox and WebKit: its pages, answers, search, slides, on paper, dark."""

from __future__ import annotations

import pytest

import exercises
from attn_core.mistakes import MISTAKES
from exercises.keys import rows_of
from tests.conftest import HTML
from tests.engines import SCRIPTS_OFF, served
from tests.site.conftest import explorers_in

pytestmark = pytest.mark.slow

START_ALL = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }));
  const left = [...document.querySelectorAll("attention-explorer:not(:has(.ax-root))")];
  left[0]?.scrollIntoView();
  return !left.length;
}"""
SETTLED = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"""


@pytest.fixture(scope="module")
def book():
    with served(HTML) as address:
        yield address


TOGETHER = 8  # pages that one browser opens: WebKit keeps the explorers of all in memory


def test_every_page_and_explorer_without_an_error(engine, book, kinds):
    explorers = 0
    for first in range(0, len(kinds), TOGETHER):
        with engine() as tab:
            explorers += count(tab, book, kinds[first : first + TOGETHER])
    assert explorers >= explorers_in(kinds) > 0


def count(tab, book, pages):
    """How many explorers these pages have, all of them alive."""
    explorers = 0
    for name in pages:
        tab.open(f"{book}/{name}")
        tab.wait(START_ALL)
        explorers += tab.evaluate("() => document.querySelectorAll('.ax-root').length")
        numbers = tab.evaluate(
            "() => Array.from(document.querySelectorAll('.ax-root'), (one) => one.innerText)"
        )
        assert all(any(c.isdigit() for c in text) for text in numbers), name
        # A map follows the width of its box.
        tab.resize(800, 800)
        tab.evaluate(SETTLED)
        tab.resize(1280, 800)
        tab.evaluate(SETTLED)
        assert tab.heard == [], name
    return explorers


def test_a_chapter_from_a_folder(tab):
    tab.open((HTML / "chapters" / "03_self_attention.html").as_uri())
    tab.wait(START_ALL)
    assert "0.1385" in tab.text(".ax-grid") or tab.texts(".ax-grid td")


def test_the_gallery(tab, book):
    """Each formula mistake of one explorer is switched on, and seen beside the right one."""
    tab.open(f"{book}/chapters/14_mistakes.html#x-scale?mistake=no-scale")
    said = 'attention-explorer[name="scale"] .ax-said'
    tab.until_text(said, MISTAKES["no-scale"].does)
    assert len(tab.texts('attention-explorer[name="scale"] .ax-grid td.ax-differs')) >= 2
    tab.wait(
        """() => { const box = document.querySelector('[name="scale"]').getBoundingClientRect();
        return box.top < innerHeight && box.bottom > 0; }"""
    )
    tab.click("attention-diagnosis button:nth-of-type(2)")
    tab.until_text("attention-diagnosis .ax-answer", "with the upper triangle kept")


def test_an_answer_field(tab, book):
    exercise = next(exercise for exercise in exercises.load().values() if exercise.fields)
    page = next((HTML / "chapters").glob(f"{exercise.chapter}_*.html"))
    field = exercise.fields[0]
    table = rows_of(exercise, field, exercise.solution)
    tab.open(f"{book}/chapters/{page.name}")
    box = f"#answer-{exercise.id}-0"
    form = f"form:has({box})"
    for cells, said in (
        (table, "Right."),
        ([[number + 50 for number in row] for row in table], "Not yet."),
    ):
        tab.click(box)
        tab.evaluate("() => { document.activeElement.value = ''; }")
        # As a fraction, with a typographic minus.
        text = " ".join(f"{number}/{10**field.places}" for row in cells for number in row)
        tab.type(text.replace("-", "−"))
        tab.click(f"{form} button")
        tab.until_text(f"{form} .answer-said", said)


def test_search(tab, book):
    tab.open(f"{book}/search.html?q=softmax")
    tab.until_there("#search-results li a")
    assert any("oftmax" in text for text in tab.texts("#search-results li"))


def test_the_slides(tab, book):
    tab.open(f"{book}/slides/index.html#s03-1")
    tab.wait("() => window.Reveal && Reveal.isReady()")
    kind = "() => Reveal.getCurrentSlide().className.split(' ')[0]"
    assert tab.evaluate(kind) == "question"
    tab.press("ArrowDown")
    tab.wait(f"() => ({kind})() === 'answer'")


def test_without_scripts_each_explorer_is_numbers(tab, book):
    tab.open(f"{book}/chapters/03_self_attention.html{SCRIPTS_OFF}")
    tables = tab.texts("attention-explorer > :is(table, pre)")
    assert len(tables) >= 3
    assert all(any(c.isdigit() for c in text) for text in tables)


def test_on_paper_stills_stand_for_explorers(tab, book):
    tab.open(f"{book}/chapters/06_masking.html")
    tab.on_paper()
    seen = """(css) => Array.from(document.querySelectorAll(css),
      (one) => one.getClientRects().length > 0)"""
    assert set(tab.evaluate(seen, ".ax-still")) == {True}
    assert set(tab.evaluate(seen, "attention-explorer:has(+ .ax-still)")) == {False}


def test_dark(engine, book):
    with engine(dark=True) as tab:
        tab.open(f"{book}/chapters/03_self_attention.html")
        tab.wait("() => document.documentElement.dataset.theme === 'dark'")
        paper = "(css) => getComputedStyle(document.querySelector(css)).backgroundColor"
        tab.wait(START_ALL)
        assert tab.evaluate(paper, "body") == "rgb(27, 27, 34)"
        assert tab.evaluate(paper, ".ax-root") == "rgb(27, 27, 34)"
        assert tab.heard == []
