"""The answer fields in the pages: what is right, which mistake it is, and what can't be read."""

from __future__ import annotations

import json
import re

import pytest
from markdown_it import MarkdownIt

import exercises
from exercises.keys import is_near, known, rows_of, units
from tests.conftest import HTML
from tests.site.test_accessibility import AXE, RUN, excused

ALL = exercises.load()
ASKING = {name: exercise for name, exercise in ALL.items() if exercise.fields}
CHAPTERS = {path.name[:2]: path.name for path in (HTML / "chapters").glob("[0-9]*.html")}


@pytest.fixture(scope="module")
def chapter(browser, site):
    """chapter("03") is the page of a chapter, opened once."""
    context = browser.new_context()
    pages = {}

    def chapter(number):
        if number not in pages:
            pages[number] = context.new_page()
            pages[number].goto(f"{site}/chapters/{CHAPTERS[number]}", wait_until="load")
        return pages[number]

    yield chapter
    context.close()


def typed(table, places):
    """A table in units of its last place as a reader would type it."""
    return "\n".join(" ".join(f"{cell / 10**places:.{places}f}" for cell in row) for row in table)


# For each text: type it into a field, press the button, and read what is said. In the page itself,
# as a browser that is driven takes ten times as long; `test_by_keyboard` types and presses keys.
ASK = """([id, texts]) => texts.map((text) => {
  const box = document.getElementById(id), form = box.closest("form");
  box.value = text;
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  form.querySelector("button").click();
  return [form.querySelector("[role=status]").innerText, form.dataset.verdict];
})"""


def ask_all(page, name, number, texts):
    answers = page.evaluate(ASK, [f"answer-{name}-{number}", texts])
    return [tuple(answer) for answer in answers]


def ask(page, name, number, text):
    return ask_all(page, name, number, [text])[0]


def plain(markdown):
    html = MarkdownIt("commonmark").renderInline(markdown)
    for tag in ("code", "em", "strong"):
        html = html.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    return html.replace("&gt;", ">").replace("&lt;", "<").replace("&quot;", '"')


@pytest.mark.gate
@pytest.mark.parametrize("exercise", ASKING.values(), ids=ASKING.keys())
def test_right_and_known_mistakes(chapter, exercise):
    """And the page holds no answer, neither in the element's data nor in what it shows."""
    page = chapter(exercise.chapter)
    for number, field in enumerate(exercise.fields):
        table = rows_of(exercise, field, exercise.solution)
        wrong = [
            (typed(cells, field.places), plain(mistake.hint))
            for mistake, cells in known(exercise, field)
            if list(map(len, cells)) == list(map(len, table))
        ]
        texts = [typed(table, field.places), *(text for text, _ in wrong)]
        right, *mistakes = ask_all(page, exercise.id, number, texts)
        assert right == ("Right.", "right")
        for (said, verdict), (text, hint) in zip(mistakes, wrong, strict=True):
            assert verdict == "mistake", text
            assert said.endswith(hint), text
    box = page.locator(f"#answer-{exercise.id}-0")
    data = box.locator("xpath=ancestor::attention-answer").locator("script").inner_text()
    for key in json.loads(data)["fields"]:
        assert all(len(cell) == 8 and int(cell, 16) >= 0 for cell in key["right"])
        assert set(key) == {"label", "rows", "columns", "places", "right", "mistakes"}


@pytest.mark.gate
def test_each_chapter_asks(chapter):
    for number in sorted({exercise.chapter for exercise in ALL.values()}):
        wanted = [f"answer-{e.id}-{i}" for e in ALL.values() if e.chapter == number
                  for i in range(len(e.fields))]  # fmt: skip
        boxes = chapter(number).locator("attention-answer textarea")
        ids = boxes.evaluate_all("all => all.map((box) => box.id)")
        assert sorted(ids) == sorted(wanted) != []


ROW = "04-a-fourth-character"  # its scores are three whole numbers, its weights have two decimals
TABLE = "06-visible-shares"


# fmt: off
UNREAD = [
    (ROW, 1, "", "Type a row of 3 numbers first."),
    (ROW, 1, "  \n ", "Type a row of 3 numbers first."),
    (ROW, 1, "1 2", "This should be a row of 3 numbers; yours has 2 numbers."),
    (ROW, 1, "1 two 3", "“two” is no number."),
    (ROW, 1, "1 nan 3", "“nan” is no number."),
    (ROW, 1, "1 2 1/0", "“1/0” is no number."),
    (ROW, 2, "0,1 0,6 0,3", "This should be a row of 3 numbers; yours has 6 numbers. "
     "Write 0.5 with a point, not 0,5."),
    (TABLE, 0, "1 2 3 4\n1 2\n1 2 3", "This should be a table of 3 rows with 3 numbers each: "
     "one row per line. Your rows are not equally long."),
    ("08-place", 0, "1 2", "This should be one number; yours has 2 numbers."),
    ("01-same-influence", 1, "0,128", "This should be one number; yours has 2 numbers. "
     "Write 0.5 with a point, not 0,5."),
    ("01-same-influence", 1, "1,280", "This should be one number; yours has 2 numbers. "
     "Write 0.5 with a point, not 0,5."),
    ("08-place", 0, "<b>1</b>", "“<b>1</b>” is no number."),
]
# fmt: on


def test_what_cannot_be_read(chapter):
    for name, number, text, said in UNREAD:
        page = chapter(name[:2])
        assert ask(page, name, number, text) == (said, "unread")
        box = page.locator(f"#answer-{name}-{number}")
        assert box.get_attribute("aria-invalid") == "true"
        box.fill("1")
        assert box.get_attribute("aria-invalid") is None
        assert box.locator("xpath=ancestor::form").locator("[role=status]").inner_text() == ""


def test_ways_to_write_a_table(chapter):
    exercise = ALL[TABLE]
    table = rows_of(exercise, exercise.fields[0], exercise.solution)
    rows = typed(table, 3).split("\n")
    listed = ",\n        ".join(f"[{row.replace(' ', ', ')}]" for row in rows)
    texts = (
        " ".join(rows),
        " ; ".join(rows),
        f"[{listed}]",
        f"tensor([{listed}])",
        f"tensor([{listed}], dtype=torch.float64)",
        f"tensor([{listed}], device='cuda:0', grad_fn=<SoftmaxBackward0>)",
        f"Array([{listed}], dtype=float32)",
        f"tf.Tensor([{listed}], shape=(2, 3), dtype=float32)",
        f"<tf.Tensor: shape=(2, 3), dtype=float32, numpy=\narray([{listed}], dtype=float32)>",
    )
    for text, answer in zip(texts, ask_all(chapter("06"), TABLE, 0, texts), strict=True):
        assert answer == ("Right.", "right"), text


def test_ways_to_write_a_number(chapter):
    page = chapter("11")
    for text in ("8000000", "8,000,000", "8e6", " 8000000.0 ", "16000000/2", "[8000000]"):
        assert ask(page, "11-an-eighth-each", 0, text) == ("Right.", "right"), text
    assert ask(page, "11-an-eighth-each", 0, "8000000.5")[1] == "wrong"
    minus = ask(chapter("02"), "02-the-query-behind", 0, "0.78 \N{MINUS SIGN}0.26")
    assert minus == ("Right.", "right")


def test_the_last_decimal_may_be_off_by_one_and_no_more(chapter):
    exercise = ALL["07-exactly-half"]
    right = rows_of(exercise, exercise.fields[1], exercise.solution)[0][0]
    verdicts = {
        step: ask(chapter("07"), exercise.id, 1, f"{(right + step) / 1000}")[1]
        for step in (-2, -1, 0, 1, 2)
    }
    assert verdicts == {-2: "wrong", -1: "right", 0: "right", 1: "right", 2: "wrong"}


def test_what_is_no_known_mistake(chapter):
    said, verdict = ask(chapter("04"), ROW, 1, "1 4 5")
    assert (said, verdict) == (
        "Not yet. 2 of 3 are right; number 3 is not. It does not look like any known mistake.",
        "wrong",
    )
    assert "row 2" in ask(chapter("06"), TABLE, 0, "1 0 0\n0.5 0.5 0\n0.665 0.245 0.09")[0]


def test_by_keyboard(chapter):
    """Enter checks a row; in a table it makes a new line, and Ctrl+Enter checks."""
    page = chapter("04")
    box = page.locator(f"#answer-{ROW}-1")
    box.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("1 4 3")
    page.keyboard.press("Enter")
    form = box.locator("xpath=ancestor::form")
    assert form.get_attribute("data-verdict") == "right"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Check scores"
    page = chapter("06")
    box = page.locator(f"#answer-{TABLE}-0")
    box.fill("")
    box.focus()
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.keyboard.type("2")
    assert box.input_value() == "1\n2"
    page.keyboard.press("Control+Enter")
    assert box.locator("xpath=ancestor::form").get_attribute("data-verdict") == "unread"


@pytest.mark.gate
@pytest.mark.parametrize(
    ("scheme", "phone"),
    [
        pytest.param("light", False, marks=pytest.mark.slow, id="wide-light"),
        pytest.param("dark", True, id="phone-dark"),
    ],
)
def test_axe_and_width(open_page, site, edition, scheme, phone):
    size = {"width": 360, "height": 740} if phone else {"width": 1280, "height": 800}
    address = f"{site}/{edition}chapters/{CHAPTERS['04']}"
    page = open_page(address, color_scheme=scheme, viewport=size)
    for number, text in enumerate(("1 0 1", "1 4", "0.1 0.1 0.1", "x")):
        ask(page, ROW, number, text)
    page.add_script_tag(path=AXE)
    wrong = page.evaluate(RUN)
    nodes = [(violation["id"], node["html"]) for violation in wrong for node in violation["nodes"]]
    assert [node for node in nodes if not excused(*node)] == []
    widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]
    sizes = page.locator("attention-answer textarea").evaluate_all(
        "boxes => boxes.map(box => parseFloat(getComputedStyle(box).fontSize))"
    )
    assert min(sizes) >= 16  # else a phone zooms in


def test_without_scripts_there_is_no_empty_box(open_page, site):
    page = open_page(f"{site}/chapters/{CHAPTERS['04']}", java_script_enabled=False)
    heights = page.locator("attention-answer").evaluate_all("all => all.map(a => a.offsetHeight)")
    assert heights
    assert set(heights) == {0}


def test_hints_lead_to_the_gallery(chapter):
    """The entry of each named mistake has the place that hints link to."""
    links = set()
    for page in map(chapter, sorted({exercise.chapter for exercise in ASKING.values()})):
        data = page.locator("attention-answer script").evaluate_all(
            "s => s.map(t => t.textContent)"
        )
        links |= set(re.findall(r'href=\\"(.*?)\\"', "".join(data)))
    assert len(links) > 10
    ids = chapter("14").locator("[id]").evaluate_all("all => all.map(one => one.id)")
    for link in links:
        page, place = link.split("#")
        assert page == CHAPTERS["14"]
        assert place in ids


def test_units_and_nearness():
    assert [units(value, 2) for value in (0.306, -0.004, 2.0)] == [31, 0, 200]
    assert is_near([[1, 2]], [[3, 2]], places=2)
    assert not is_near([[1, 2]], [[4, 2]], places=2)
    assert not is_near([[1, 2]], [[2, 2]], places=0)
    assert not is_near([[1, 2]], [[1], [2]], places=0)
