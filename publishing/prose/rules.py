"""Numbers of prose that need no line: their place says what they must be, or a phrase does."""

from __future__ import annotations

import ast
import functools
import re
import tomllib

import torch

from publishing import ROOT
from publishing.prose.evaluating import EXERCISES
from publishing.prose.pages import Page, Passage, read

PHRASES = ROOT / "tests" / "sources" / "origins" / "phrases.toml"

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]*)\)")
CHAPTER = re.compile(r"(?:^|/)(\d\d)_\w+\.ipynb")
TITLE = re.compile(r"\A# (\d\d) ")
LABEL = re.compile(r"^\*\*(?:Question )?(\d+)\.\*\*", re.MULTILINE)
EXERCISE = re.compile(r"^\*\*Exercise (\d+) · (.*?)\*\* .*· (\d+) points?$", re.MULTILINE)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
GIVEN = re.compile(r"`(\w+) = (torch\.tensor\([^`]+)`")
EXPECTED = re.compile(r"\*Expected: (?:on paper half a page; in Python )?[\w ]*?\blines?\b")
TRANSLATED = re.compile(r"「([^」]*)」[：:,]?\s*(“[^”]*”|\*[^*]+\*)")


def linked(page: Page, passage: Passage) -> set[int]:
    """In a link, the number of the chapter that it leads to, and those of the heading's name.

    [08, *In five lines*](../chapters/08_…#in-five-lines): the build fails if it leads nowhere.
    """
    starts = set()
    for link in LINK.finditer(passage.text):
        path, _, anchor = link[2].partition("#")
        chapter = CHAPTER.search(path)
        named = {*anchor.lower().split("-"), *([chapter[1]] if chapter else [])}
        starts |= {
            number.start
            for number in passage.numbers
            if link.start(1) <= number.start < link.end(1) and number.written.lower() in named
        }
    return starts


YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
NAME = re.compile(r"[^\W\d_a-z][\w’'-]*\w")


@functools.cache
def papers() -> dict[str, set[str]]:
    """The years in references.md of each first author and each title."""
    years: dict[str, set[str]] = {}
    text = (ROOT / "book" / "references.md").read_text(encoding="utf-8")
    for paper in re.split(r"\n\n|<br>", text):
        title = re.search(r"\[([^\]]+)\]\(http", paper)
        year = YEAR.findall(re.sub(r"\([^)]*\)", "", paper.partition("\n: ")[0]))
        first = re.match(r"(?:(?:\w\.-?)+ )+(\w[\w -]*?)(?=[,.]| and )", paper)
        for name in (title and title[1].partition(":")[0].lower(), first and first[1]):
            if name and year:
                years.setdefault(name, set()).add(year[-1])
    return years


def cited(page: Page, passage: Passage) -> set[int]:
    """The year of a paper, after its title or its first author: as references.md has one."""
    if page.name == "references":
        return set()
    starts, known = set(), papers()
    for year in YEAR.finditer(passage.prose):
        before = YEAR.split(passage.prose[max(0, year.start() - 150) : year.start()])[-1]
        after = passage.prose[year.end() :][:30] if before.endswith("In ") else ""
        titles = [title for title in known if title in before.lower()]
        names = [name for name in [*NAME.findall(before), *NAME.findall(after)] if name in known]
        if any(year[0] in known[name] for name in titles + names[:1]):
            starts.add(year.start())
    return starts


def titled(page: Page, passage: Passage) -> set[int]:
    """A chapter's title begins with its number."""
    title = TITLE.match(passage.text)
    return {title.start(1)} if title and page.name.startswith(title[1]) else set()


def labelled(page: Page, passage: Passage) -> set[int]:
    """The labels of questions: 1, 2, 3, each in its turn."""
    labels = list(LABEL.finditer(passage.text))
    return {label.start(1) for turn, label in enumerate(labels, 1) if int(label[1]) == turn}


def counted(page: Page, passage: Passage) -> set[int]:
    """A heading that counts what stands below it: three questions, five lines."""
    heading = re.match(r"#+ (?:In )?(\w+) (questions|lines)\b", passage.text)
    if not heading or not passage.numbers or passage.numbers[0].start != heading.start(1):
        return set()
    below = LABEL if heading[2] == "questions" else re.compile(r"^\d+\. ", re.MULTILINE)
    is_right = len(below.findall(passage.text)) == passage.numbers[0].value
    return {heading.start(1)} if is_right else set()


def generated(page: Page, passage: Passage) -> set[int]:
    """The head of an exercise's box, as the exercise has it: its number, title and points."""
    name = passage.id.removeprefix("exercise-")
    if name not in EXERCISES or not (head := EXERCISE.search(passage.text)):
        return set()
    boxes = [p.id for p in page.passages if p.id.removeprefix("exercise-") in EXERCISES]
    inside = [n for n in passage.numbers if head.start() <= n.start < head.end()]
    right = {head.start(1): boxes.index(passage.id) + 1, head.start(3): EXERCISES[name].points}
    return {
        number.start
        for number in inside
        if number.value == right.get(number.start)
        or (head.start(2) <= number.start < head.end(2) and head[2] == EXERCISES[name].title)
    }


def quoted(page: Page, passage: Passage) -> set[int]:
    """Code in a sentence that stands in code that runs, when no slip of a digit would, too.

    That is the code of the page and of the library, and the ids of the exercises. Code of the
    sources is quoted twice: in its chapter and in the errata.
    """
    starts = set()
    sources = (page.source, library(), " ".join(EXERCISES), quotations(page.name != "errata"))

    def stands(text: str) -> bool:
        return any(text in source for source in sources)

    for code in CODE.finditer(passage.text):
        inside = [n for n in passage.numbers if code.start(1) <= n.start < code.end(1)]
        if inside and stands(code[1]):
            for number in inside:
                at = number.start - code.start(1)
                head, tail = code[1][:at], code[1][at + len(number.written) :]
                if not any(stands(head + new + tail) for new in neighbours(number.written)):
                    starts.add(number.start)
    return starts


@functools.cache
def quotations(are_in_errata: bool) -> str:
    paths = ["book/errata.md"] if are_in_errata else sorted(ROOT.glob("chapters/*.ipynb"))
    parts = [part.text for path in paths for part in read(ROOT / path).passages]
    return "\n".join(part for part in parts if "「" in part)


def translated(page: Page, passage: Passage) -> set[int]:
    """What is quoted in Chinese, 「共 3 个」, and its translation beside it: the same numbers."""
    starts = set()
    for pair in TRANSLATED.finditer(passage.prose):
        sides = [
            [n for n in passage.numbers if pair.start(side) <= n.start < pair.end(side)]
            for side in (1, 2)
        ]
        if len({tuple(n.value for n in side if n.written[-1].isdigit()) for side in sides}) == 1:
            starts |= {n.start for side in sides for n in side if n.written[-1].isdigit()}
    return starts


def in_turn(page: Page, passage: Passage) -> set[int]:
    """Parts that are counted: Day 1, Day 2, Day 3."""
    starts = set()
    for name in ("Day", "Week"):
        days = list(re.finditer(rf"\b{name} (\d+):", passage.prose))
        starts |= {day.start(1) for turn, day in enumerate(days, 1) if int(day[1]) == turn}
    return starts


def given(page: Page, passage: Passage) -> set[int]:
    """What an exercise is asked with, `rows = [[1, 2]]`, as its parameter `rows` has it."""
    starts, exercise = set(), EXERCISES.get(passage.id.removeprefix("exercise-"))
    for code in GIVEN.finditer(passage.text) if exercise else ():
        wanted = exercise.parameters(0).get(code[1])
        if wanted is not None and repr(wanted) == repr(eval(code[2], {"torch": torch})):
            span = code.span(2)
            starts |= {n.start for n in passage.numbers if span[0] <= n.start < span[1]}
    return starts


def expected(page: Page, passage: Passage) -> set[int]:
    """How many lines an answer takes: as many as the solution, which may have one more."""
    exercise = EXERCISES.get(passage.id.removeprefix("exercise-"))
    said = EXPECTED.search(passage.text) if exercise else None
    if not said:
        return set()
    numbers = [n for n in passage.numbers if said.start() <= n.start < said.end()]
    bounds = [int(n.value) for n in numbers] or [0]
    bounds += [{"one": 1, "two": 2}[word] for word in re.findall(r"\b(one|two)\b", said[0])]
    lines = sum(
        isinstance(node, ast.stmt)
        and not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
        for node in ast.walk(ast.parse(exercise.solution))
    )
    about = 2 * ("or so" in passage.text[said.end() :][:30])
    is_right = min(bounds) - about <= lines <= max(bounds) + 1
    return {number.start for number in numbers} if is_right else set()


@functools.cache
def library() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("attn_core/**/*.py"))


def neighbours(written: str) -> list[str]:
    """The numbers that a slip of one digit makes of this one."""
    return [
        written[:at] + digit + written[at + 1 :]
        for at, sign in enumerate(written)
        if sign.isascii() and sign.isdigit()
        for digit in "0123456789"
        if digit != sign
    ]


@functools.cache
def phrases() -> dict[str, str]:
    return tomllib.loads(PHRASES.read_text(encoding="utf-8"))


def said(page: Page, passage: Passage) -> set[int]:
    """What the book says again and again: the numbers of a phrase in phrases.toml."""
    starts, text = set(), passage.text.lower()
    for phrase in phrases():
        if phrase.lower() not in text:
            continue
        for place in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", passage.text, re.IGNORECASE):
            starts |= {
                number.start
                for number in passage.numbers
                if place.start() <= number.start and number.end <= place.end()
            }
    return starts


RULES = (
    *(linked, titled, labelled, counted, in_turn, generated, given, expected),
    *(quoted, translated, cited, said),
)


def explained(page: Page, passage: Passage) -> set[int]:
    """Where the numbers start that a rule vouches for."""
    return set().union(*(rule(page, passage) for rule in RULES))
