"""The Chinese edition says all that the English one says, with the same numbers, code and links."""

from __future__ import annotations

import re

import pytest

import exercises
from exercises.messages import Messages, sentence
from publishing.translation import catalogues, checking
from publishing.translation.__main__ import messages, names
from publishing.translation.checking import differences
from publishing.translation.markdown import pieces, translated

NAMES = names()


@pytest.mark.parametrize("name", NAMES)
def test_translation(name):
    """Nothing is missing, nothing fuzzy; numbers, code, formulas, links and terms are right."""
    faults = list(checking.faults(name, [message for message, _ in messages(name)]))
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize("name", NAMES)
def test_catalogue_is_up_to_date(name):
    """`make sync` would change nothing."""
    path = catalogues.path_of(name)
    stored = catalogues.load(path)
    wanted = list(dict.fromkeys(message for message, _ in messages(name)))
    assert [message.id for message in stored if message.id] == wanted, f"{name}: run `make sync`"
    assert not stored.obsolete, f"{name}: run `make sync`"


@pytest.mark.parametrize("name", catalogues.SHIPPED)
def test_a_shipped_catalogue_is_up_to_date(name):
    """What the wheel and grading say is what the catalogue says."""
    path = catalogues.SHIPPED[name]
    said = path.read_text(encoding="utf-8")
    assert said == catalogues.shipped()[path], "run `make sync`"


@pytest.mark.parametrize("name", catalogues.SHIPPED)
def test_each_form_is_found_again(name):
    """A sentence is translated by its own form, and by no other one that fits it, too."""
    say = Messages(catalogues.translations(name))
    for form in say.known:
        if places := re.findall(r"\{\d\}", form):
            parts = [f"x-{number}" for number in range(len(places))]
            assert say.tell(sentence(form, *parts)) == say.known[form].format(*parts)


@pytest.mark.usefixtures("translated_once")
@pytest.mark.parametrize("exercise", exercises.load().values(), ids=lambda exercise: exercise.id)
def test_every_sentence_of_a_check_is_translated(exercise):
    """Those too that are made while the check runs."""
    say = Messages(catalogues.translations("exercises"))
    sentences = {said for seed in (0, 1) for said, _ in exercise.checked(seed)}
    assert [said for said in sorted(sentences) if say.tell(said) == said] == []


def test_no_catalogue_is_left_over():
    there = {path.relative_to(catalogues.path_of("x").parent) for path in catalogues.files()}
    assert {path.with_suffix("").as_posix() for path in there} == set(NAMES)


def test_underway_names_catalogues():
    assert checking.underway() <= set(NAMES)


@pytest.mark.parametrize(
    ("english", "chinese", "fault"),
    [
        ("0.25 of it", "其中的 0.52", "it lacks the number 0.25"),
        ("the `keep` of it", "它的 `mask`", "it lacks the code `keep`"),
        ("where $q_i$ lies", "$q_j$ 的位置", "it lacks the formula $q_i$"),
        ("see [it](a.md#b)", "见[它](a.md#c)", "it lacks the link a.md#b"),
        ("<b>one</b>", "<i>一个</i>", "it lacks the tag <b>"),
        ("from {{ token }}", "从 {{ x }}", "it lacks the placeholder {{ token }}"),
        ("two `q` and `q`", "两个 `q`", "it lacks the code `q`"),
        (
            "**So:** it",
            "**所以：**它",
            "4 of its * are no emphasis: put its signs outside",
        ),
        ("a row", "一行，共 3 个", "it has the number 3, which the English has not"),
        ("three of the rows", "其中四行", "it lacks the number three"),
    ],
)
def test_a_difference_is_found(english, chinese, fault):
    assert fault in list(differences(english, chinese))


def test_what_may_differ():
    """The order, the signs around a number, and what is said of a picture."""
    assert not list(differences("of 1,000 rows 3.5 stay", "3.5 行留在 1000 行里"))
    assert not list(
        differences('<span aria-label="level 1">●</span>', '<span aria-label="一级">●</span>')
    )


TEXT = """\
# A heading with `code`

A paragraph
of two lines, $x$ and ![a picture](a.png).

- an item
  that goes on
  1. and one inside

> said by somebody

| head | `q` |
|---|---|
| a \\| b row | 2 |

Term
: what it means

<details><summary>Answer</summary>

Yes. <span aria-label="level 1">●</span>

</details>

:::{note} Title
Inside.
:::

```python
not = "this"
```
"""


def test_pieces():
    messages = [piece.message for piece in pieces(TEXT)]
    assert messages == [
        "A heading with `code`",
        "A paragraph of two lines, $x$ and ![a picture](a.png).",
        "an item that goes on",
        "and one inside",
        "said by somebody",
        "head",
        "a | b row",
        "Term",
        "what it means",
        "Answer",
        'Yes. <span aria-label="level 1">●</span>',
        "Title",
        "Inside.",
    ]
    assert translated(TEXT, str) == TEXT
    again = translated(TEXT, lambda message: f"<<{message}>>")
    assert again.count("<<") == len(messages)
    assert "| <<a \\| b row>> | 2 |" in again
    assert "- <<an item that goes on>>\n  1. <<and one inside>>" in again
    assert 'not = "this"' in again
