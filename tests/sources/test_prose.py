"""Each number in prose comes from somewhere: an output by its place, the code, a fact, a reason.

Where from stands in `origins/`, one file for each page, a line for each number; `make numbers`
writes what it can derive. Pages are the chapters, those of book/, and README.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from publishing import ROOT
from publishing.prose import checking, evaluating, origins, rules
from publishing.prose.numbers import find
from publishing.prose.origins import Entry
from publishing.prose.pages import (
    TAG,
    Cell,
    Page,
    Passage,
    by_line,
    markdown_page,
    pages,
    read,
)
from publishing.prose.updating import updated

ADVICE = "run `make sync`, which writes what it can derive and says what it needs you for"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.stem)
def test_each_number_of_a_page_is_what_its_origin_says(path):
    page = read(path)
    problems = checking.problems(page, origins.load(page))
    assert not problems, "\n".join([*problems, ADVICE])


def test_no_file_of_origins_without_a_page():
    stored = {path.stem for path in origins.FOLDER.glob("*.toml")}
    assert stored - {"phrases"} == {path.stem for path in pages()}


def test_phrases_are_true_and_said_somewhere():
    said = "\n".join(passage.text for path in pages() for passage in read(path).passages)
    for phrase, origin in rules.phrases().items():
        entry = Entry(tuple(number.written for number in find(phrase)), origin)
        assert entry.written, f"the phrase {phrase!r} has no number"
        assert checking.slip(Page(Path("phrases"), []), entry) is None, phrase
        assert phrase.lower() in said.lower(), f"the phrase {phrase!r} is said nowhere"


# What the parser shows and the site does not: directives, and addresses.
DIRECTIVE = re.compile(r"^:{3,}.*$|^:[a-z-]+:.*$|https?://\S+|[\w.-]+/[\w.-]+#\d+", re.MULTILINE)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin)


def visible(tokens) -> str:
    """What a reader sees of a text, by the parser of Markdown that the site is built with."""
    texts = []
    for token in tokens:
        if token.type == "inline":
            texts.append(visible(token.children) + "\n")
        elif token.type in {"softbreak", "hardbreak", "html_inline"}:
            texts.append("\n" if "break" in token.type else " ")
        elif token.type == "html_block":
            texts.append(TAG.sub(" ", token.content))
        elif token.type not in {"fence", "code_block"}:
            texts.append(token.content + "\n" * (token.type == "math_block"))
    return "".join(texts)


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.stem)
def test_every_number_that_a_reader_sees_is_looked_at(path):
    for passage in read(path).passages:
        seen = DIRECTIVE.sub(" ", visible(MARKDOWN.parse(passage.text)))
        shown = Counter(number.written for number in find(seen))
        assert shown == Counter(number.written for number in passage.numbers), passage.id


def page_of(text: str) -> Page:
    cells = [
        Cell("scores", by_line("range(3)"), by_line("0.9544, 1.4950, 1.4754\n2, 7, 1")),
        Cell("weights", [], by_line("0.1385, 0.2379, 0.2333")),
    ]
    return Page(Path("made_up.ipynb"), [Passage("text", text, place=1)], cells)


def stored(*entries: tuple[str, str]) -> dict[str, list[Entry]]:
    return {"text": [Entry(tuple(written.split()), origin) for written, origin in entries]}


def test_what_an_origin_can_say():
    page = page_of("")
    for origin, wanted in {
        "scores[0, 1]": [1.495],
        "scores[1]": [2, 7, 1],
        "scores[:, 0]": [0.9544, 2],
        "scores.code[0, 0] - 1": [2],
        "max(scores[0]), len(weights[0])": [1.495, 3],
        "03_self_attention/weights-row[0, 0]": [0.1385],
        'chapter("self_attention")': [3],
        "pairs(scores[1], weights[0])[:4]": [2, 0.1385, 7, 0.2379],
    }.items():
        assert [float(number) for number in evaluating.worth(page, origin)] == wanted, origin


@pytest.mark.parametrize(
    ("text", "entry", "said"),
    [
        ("It is 0.954.", ("0.954", "scores[0, 0]"), None),
        ("It is 0.955.", ("0.955", "scores[0, 0]"), "but scores[0, 0] is 0.9544"),
        ("It is 0.955.", ("0.954", "scores[0, 0]"), "has no origin"),
        ("It is 7 and 7.", ("7 7", "scores[1, 1]"), None),
        ("It is 7.", ("7", "7"), "names no output"),
        ("It is 2.", ("2", "len(scores[0, 0:2])"), "names no output"),
        ("It is 7.", ("7", "because it is a good number"), None),
        ("It is 7.", ("7", "? scores[1, 1]"), "may come from scores[1, 1]: if so, take out the ?"),
        ("It is 9.", ("9", "?"), "is in no output nearby: mend it, or write where it comes from"),
        ("It is 7.", ("7", "scores[1, 9]"), "scores has no number at (1, 9)"),
        ("It is 7.", ("7", "scoring[1, 9]"), "there is no cell named scoring"),
        ("Seven words.", ("Seven", "scores[1, 1]"), None),
        ("It is 0.", ("0", "law s + 0 == s"), None),
        ("It is 1.", ("1", "law s + 1 == s"), "this law is not true"),
        ("It is 3.", ("3", "law s + 0 == s"), "the law does not depend on 3"),
        ("It is 0.", ("0", "law 0 * s == s - s"), None),
        ("It is 1.", ("1", "law max(1, s) >= s"), "the law does not depend on 1"),
        ("It is 1.", ("1", "law s +"), "cannot be worked out"),
        ("Column 2.", ("2", "index of len(scores[1])"), None),
        ("Column 3.", ("3", "index of len(scores[1])"), "there are only 3, counted from 0"),
        ("- a\n- b\n\nAll three.", ("three", 'count("text", "^- ")'), 'count("text", "^- ") is 2'),
        ("It is.", ("7", "scores[1, 1]"), "gone is “⟨7⟩”, whose origin was: scores[1, 1]"),
    ],
)
def test_what_is_wrong_is_said(text, entry, said):
    problems = checking.problems(page_of(text), stored(entry))
    assert (not problems) if said is None else said in "\n".join(problems)


def test_an_output_that_changes_is_seen():
    page = page_of("It is 0.954.")
    known = stored(("0.954", "scores[0, 0]"))
    assert checking.problems(page, known) == []
    page.cells[0].printed[0][0] += Decimal("0.01")
    assert "is 0.9644" in checking.problems(page, known)[0]


@pytest.mark.parametrize(
    ("was", "now", "wanted", "dropped"),
    [
        ("First 7, then 0.954.", "It is 8: first 7, then 0.954.", ["?", "7", "0.954"], ""),
        ("First 7, then 0.954.", "Then 0.954, and first 7.", ["0.954", "7"], ""),
        ("These three rows have 0.954.", "Of these 3 rows have 0.954.", ["three", "0.954"], ""),
        ("Here are three rows.", "Three of the rows are here.", ["three"], ""),
        ("Here are three rows.", "Here are the rows.", [], "“Here are ⟨three⟩ rows.”"),
        ("A row has 3.", "Of 3 words, a row has 3.", ["?", "3"], ""),
    ],
)
def test_an_origin_follows_its_number_and_what_is_dropped_is_said(was, now, wanted, dropped):
    page = page_of(was)
    known = {n.written: f"because of {n.written}" for n in page.passages[0].numbers}
    known = origins.parse(origins.text(page, stored(*known.items())))
    new, gone = updated(page_of(now), known)
    said = [entry.origin.removeprefix("because of ") for entry in new.get("text", [])]
    assert [origin[:1] if origin[0] == "?" else origin for origin in said] == wanted
    assert [dropped in line for line in gone] == [True] * bool(dropped)


def test_a_wrong_number_is_not_taken_on_trust():
    known = stored(("7", "scores[1, 1]"), ("0.9544", "scores[0, 0]"))
    new, _ = updated(page_of("First 8, then 0.9554."), known)
    assert [entry.is_open for entry in new["text"]] == [True, True]
    new, _ = updated(page_of("First 7, then 0.9544 and 7."), known)
    assert [entry.is_open for entry in new["text"]] == [False, False, True]


def test_what_is_certain_is_filled_in():
    new, _ = updated(page_of("The weights are 0.1385 and 0.2379; the scores (2, 7, 1)."), {})
    assert new == stored(("0.1385 0.2379", "weights[0, 0:2]"), ("2 7 1", "scores[1]"))


def test_origins_follow_a_passage_with_a_new_name():
    known = {"old": stored(("7", "because I said so"))["text"]}
    assert updated(page_of("It is 7."), known) == (stored(("7", "because I said so")), [])


@pytest.mark.parametrize("text", ["three of the rows", "All three.", "a dozen heads", "six-by-six"])
def test_a_number_in_words_is_found_whatever_follows(text):
    assert find(text)


def test_what_is_written_can_be_read():
    page = page_of("It is 7 and 0.954.")
    known = stored(("7", 'len("a, \\\\ b") + 0'), ("0.954", 'because "it\'s"'))
    assert origins.parse(origins.text(page, known)) == known


def test_rules_vouch_only_for_what_is_right():
    def explained(text, page="05_trainable_weights.ipynb", name="p"):
        passage = Passage(name, text)
        rest = rules.explained(Page(Path(page), [passage]), passage)
        return [n.written for n in passage.numbers if n.start in rest]

    assert explained("[04: by hand](04_by_hand.ipynb)") == ["04"]
    assert explained("[04: by hand](03_self_attention.ipynb)") == []
    assert explained("[*Three states, four questions*](x.ipynb#three-states-four-questions)") == [
        "Three",
        "four",
    ]
    assert explained("# 05 Trainable weights") == ["05"]
    assert explained("# 06 Trainable weights") == []
    assert explained("**1.** Why?\n\n**3.** How?") == ["1"]
    assert explained("## Three questions first\n\n**1.** a\n\n**2.** b\n\n**3.** c")[:1] == [
        "Three"
    ]
    assert explained("## Four questions first\n\n**1.** a\n\n**2.** b\n\n**3.** c")[:1] == ["1"]
    assert explained("They add up to 1, and not to 2.") == ["1"]
    assert explained("`weights.sum(-1)`, `weights.sum(-7)` and `x[1, 2]`") == ["-1"]
    assert explained("Day 1: a. Day 2: b. Day 4: c.") == ["1", "2"]
    assert explained("「3 个词」 “3 words”, 「4 个词」 “5 words”") == ["3", "3"]
    assert explained("`masked_fill(mask == 0, -1e9)` and `masked_fill(mask == 1, -1e9)`") == [
        "0",
        "-1e9",
    ]
    assert explained("Bahdanau and others (2015), Vaswani et al., 2018, and in 2014") == ["2015"]
    assert explained("*On Layer Normalization in the Transformer Architecture*, 2020") == ["2020"]
    key_bias = "exercise-05-key-bias"
    assert explained("*Expected: three lines.*", name=key_bias) == ["three"]
    assert explained("*Expected: eight lines.*", name=key_bias) == []
    rows = "`scaled = torch.tensor([[0.0, 200.0, 1.0], [0.0, 1.0, 200.0], [2.0, 1.0, 0.0]])`"
    assert len(explained(rows, name="exercise-06-visible-shares")) == 9
    assert explained(rows.replace("2.0", "3.0"), name="exercise-06-visible-shares") == []


def test_the_places_of_a_page_of_markdown():
    example = "```pycon\n>>> x + 1\n5\n```"
    page = markdown_page(
        ROOT / "book" / "made_up.md",
        f"Top 3.\n\n## The one\n\nIt is 4.\n\n{example}\n\n## The one\n\nIt is 6.\n",
    )
    assert [(p.id, p.line) for p in page.passages] == [
        ("top", 1),
        ("the-one", 3),
        ("the-one-again-2", 12),
    ]
    assert page.cells == [Cell("the-one-1", [[1]], [[5]])]
    assert [n.written for p in page.passages for n in p.numbers] == ["3", "4", "6"]
