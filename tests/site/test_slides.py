"""The deck of slides: it asks all predictions of the chapters, fits a screen, and needs no net."""

from __future__ import annotations

import html
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from publishing.site.slides import slides as find
from tests.conftest import HTML, ROOT

pytestmark = pytest.mark.gate

DECK = HTML / "slides" / "index.html"
CHAPTERS = sorted(ROOT.glob("chapters/*.ipynb"))
OPENING = 'class="opening"'
WORD = re.compile(r"[^\W\d_]+")
# What stands on each slide, and how high it is on a screen of 720 lines.
# Letters are loaded when a slide that has them is laid out; until then others stand for them.
SEE = """(async () => {
  const seen = [];
  for (const slide of Reveal.getSlides()) {
    const place = Reveal.getIndices(slide);
    Reveal.slide(place.h, place.v);
    slide.getBoundingClientRect();
    await document.fonts.ready;
    const { id, className, scrollHeight } = slide;
    seen.push({ id, kind: className.split(" ")[0], high: scrollHeight, wide: slide.scrollWidth });
  }
  return seen;
})()"""

COLOURS = """(() => {
  const seen = (one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color];
  const patch = document.body.appendChild(document.createElement("p"));
  patch.style.cssText = "background: var(--paper); color: var(--ink); transition: none";
  const site = seen(patch);
  return { body: seen(document.body), site, paper: site[0].match(/[0-9]+/g).map(Number) };
})()"""


@pytest.fixture(scope="module")
def deck():
    assert DECK.is_file(), "the site is not built: run `make book`"
    return DECK.read_text(encoding="utf-8")


def test_it_has_the_books_name(deck):
    assert "<title>Questions and figures · Attention, Number by Number</title>" in deck
    assert "not set" not in deck


def words(text: str) -> str:
    """The words of a text, without links, formulas and tags; a tag in code is a word."""
    text = re.sub(r"`([^`\n]*)`", lambda code: html.escape(code[1]), text)
    text = re.sub(r"\$[^$]*\$|<math.*?</math>|\]\([^)]*\)|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(WORD.findall(html.unescape(text)))


def part(deck: str, number: str) -> str:
    """The slides of one chapter."""
    return deck.partition(f'id="chapter-{number}" {OPENING}')[2].partition(OPENING)[0]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_prediction_is_asked(deck, path):
    said = words(part(deck, path.name[:2]))
    cells = nbformat.read(path, as_version=4).cells
    texts = [cell.source.partition("<details>")[0] for cell in cells]
    asked = [
        text.split("before you look")[1] for text in texts if "Predict before you look" in text
    ]
    assert [text for text in asked if words(text) not in said] == []
    assert part(deck, path.name[:2]).count('class="question"') >= 2
    assert part(deck, path.name[:2]).count('class="answer"') >= 2


def test_a_question_comes_before_its_answer(deck):
    kinds = re.findall(r'<section[^>]*class="(question|answer)"', deck)
    pairs = zip(kinds, [*kinds[1:], ""], strict=True)
    assert all(after == "answer" for kind, after in pairs if kind == "question")


def test_each_slide_leads_to_its_chapter(deck):
    sections = deck.split("<section")[1:]
    slides = [
        section
        for section in sections
        if 'class="question"' in section or 'class="answer"' in section
    ]
    assert len(slides) > 60
    for slide in slides:
        assert re.search(r'<p class="place"><a href="\.\./chapters/\d\d_\w+\.html', slide)


def test_nothing_comes_from_another_host(deck):
    addresses = re.findall(r'(?:src|href)="([^"]+)"', deck)
    assert any(address.endswith("reveal.js") for address in addresses)
    assert [address for address in addresses if "//" in address] == []
    for name in ("reveal.css", "reveal.js"):
        text = (DECK.parent / name).read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?https?:", text)


def test_it_opens_from_a_folder_and_every_slide_fits(open_page, edition):
    page = open_page(
        (HTML / edition / "slides" / "index.html").as_uri(), viewport={"width": 1280, "height": 720}
    )
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    page.evaluate("document.querySelectorAll('img').forEach((one) => (one.loading = 'eager'))")
    page.wait_for_function("[...document.images].every((one) => one.complete)")
    seen = page.evaluate(SEE)
    assert {slide["kind"] for slide in seen} >= {"question", "answer", "opening"}
    assert [slide for slide in seen if slide["high"] > 720 or slide["wide"] > 1280] == []


def test_the_keys_go_on(open_page):
    page = open_page(DECK.as_uri() + "#s03-1", viewport={"width": 1280, "height": 720})
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    current = "Reveal.getCurrentSlide().className.split(' ')[0]"
    assert page.evaluate(current) == "question"
    page.keyboard.press("Space")
    assert page.evaluate(current) == "answer"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_the_sites_colours(open_page, scheme):
    page = open_page(DECK.as_uri(), color_scheme=scheme)
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    colours = page.evaluate(COLOURS)
    assert colours["body"] == colours["site"]
    assert (max(colours["paper"]) < 60) == (scheme == "dark")


def test_without_scripts_all_is_there_to_read(open_page):
    page = open_page(DECK.as_uri(), java_script_enabled=False)
    slides = page.locator(".question, .answer").all()
    boxes = [slide.bounding_box() for slide in slides]
    ends = [box["y"] + box["height"] for box in boxes]
    assert all(box["y"] >= end for box, end in zip(boxes[1:], ends, strict=False))
    assert slides[-1].is_visible()


def test_what_is_no_question_makes_no_slide():
    plot = new_code_cell(
        "plot()", outputs=[new_output("display_data", data={"image/png": "AAAA", "text/plain": ""})]
    )
    fold = "<details><summary>Answer</summary>\n\nTwo.\n\n</details>"
    asks = new_markdown_cell(f"# 01 · A\n\n**Predict before you look.** How many?\n\n{fold}")
    exercise = new_markdown_cell("**Predict before you look.** An exercise.")
    exercise.metadata["tags"] = ["exercise:01-a"]
    slides = find(new_notebook(cells=[asks, plot, new_markdown_cell("Text."), exercise]))
    assert [(slide.question, slide.answer) for slide in slides] == [
        ("### 01 · A\n\n**Predict before you look.** How many?", "Two.")
    ]
    assert slides[0].picture
    assert find(new_notebook(cells=[new_markdown_cell("## Text"), plot])) == []
