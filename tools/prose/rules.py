"""Numbers of prose that need no line: their place says what they must be, or a phrase does."""

from __future__ import annotations

import functools
import re
import tomllib

from tools.prose.evaluating import EXERCISES
from tools.prose.pages import ROOT, Page, Passage

PHRASES = ROOT / "tests" / "sources" / "origins" / "phrases.toml"

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]*)\)")
CHAPTER = re.compile(r"(?:^|/)(\d\d)_\w+\.ipynb")
TITLE = re.compile(r"\A# (\d\d) ")
LABEL = re.compile(r"^\*\*(?:Question )?(\d+)\.\*\*", re.MULTILINE)
EXERCISE = re.compile(r"^\*\*Exercise (\d+) · (.*?)\*\* .*· (\d+) points?$", re.MULTILINE)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


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

    That is the code of the page and of the library, and the ids of the exercises.
    """
    starts, source = set(), f"{page.source}\n{library()}\n{' '.join(EXERCISES)}"
    for code in CODE.finditer(passage.text):
        if code[1] not in source:
            continue
        for number in passage.numbers:
            if code.start(1) <= number.start < code.end(1):
                at = number.start - code.start(1)
                if not any(
                    code[1][:at] + new + code[1][at + len(number.written) :] in source
                    for new in neighbours(number.written)
                ):
                    starts.add(number.start)
    return starts


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
    starts = set()
    for phrase in phrases():
        for place in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", passage.text, re.IGNORECASE):
            starts |= {
                number.start
                for number in passage.numbers
                if place.start() <= number.start and number.end <= place.end()
            }
    return starts


RULES = (linked, titled, labelled, counted, generated, quoted, said)


def explained(page: Page, passage: Passage) -> set[int]:
    """Where the numbers start that a rule vouches for."""
    return set().union(*(rule(page, passage) for rule in RULES))
