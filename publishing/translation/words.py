"""What the site says apart from its pages: the words of its extensions, scripts and settings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import yaml
from babel.messages.extract import extract_from_file

import exercises
from attn_core.diagnosis.slips import SLIPS
from attn_core.mistakes import MISTAKES
from attn_core.views import drawings
from publishing import ROOT
from publishing.translation.docstrings import blocks, named, paragraphs, parts
from publishing.translation.exercises import texts
from publishing.translation.markdown import has_words
from publishing.translation.outputs import (
    HTML,
    PNG,
    SVG,
    WORDS,
    words_of,
    words_of_data,
    words_of_html,
)
from publishing.translation.pages import docnames, path_of, without_numbers, words_of_code
from publishing.translation.scripts import literals
from publishing.translation.sentences import said_in

DRAWING = re.compile(r"^```\{drawing\} (\w+)$", re.MULTILINE)
LISTED = re.compile(r"^\.\. auto\w+:: ([\w.]+)[^\n]*(?:\n +:members: ([^\n]*))?", re.MULTILINE)

# Python whose words are called with `_`, or with `sentence` where they are translated later.
PYTHON = ("publishing/site/*.py",)
BOXES = ("publishing/notebooks/chapters.py", "publishing/notebooks/exercises.py")
CHECK = ("exercises/notebook.py", "exercises/not_taken.py")
GRADING = ("grading/*.py",)
FEEDBACK = ("grading/templates/feedback_page/*.j2",)
CALLED = {"_": None, "sentence": None}
SCRIPTS = ("book/_static/*.js", "publishing/site/answer.js", "attn_core/views/drawings/*.js")
TEMPLATES = ("publishing/site/slide_deck.html",)
KINDS = ("values", "function", "text")  # of an exercise's answer
# Said in attributes of the theme's and myst-nb's templates, without a catalogue's help.
THEIR_LABELS = (
    "Main",
    "Page",
    "Color mode",
    "System Settings",
    "Toggle primary sidebar",
    "Toggle secondary sidebar",
    "Toggle hidden content",
    "Link to this heading",
    "Link to this definition",
)


# What reveal.js says, which has no other language.
REVEALS = ("previous slide", "next slide", "above slide", "below slide", "Resume presentation")


def of_python(patterns: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for path in files(patterns):
        for _, message, comments, _ in extract_from_file("python", str(path), keywords=CALLED):
            yield message, " ".join(comments) or path.name


def of_templates(patterns: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for path in files(patterns):
        extracted = extract_from_file("jinja2.ext:babel_extract", str(path), keywords={"_": None})
        yield from ((message, path.name) for _, message, _, _ in extracted)


def files(patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def of_settings() -> Iterator[tuple[str, str]]:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    yield settings["title"], "title of the book"
    options = settings["sphinx"]["config"]["html_theme_options"]
    yield options["search_bar_text"], "search field"
    yield settings["author"], "author of the book"
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    for part in toc["parts"]:
        yield part["caption"], "part of the contents"


def of_site() -> Iterator[tuple[str, str]]:
    yield from of_settings()
    yield from ((text, "a label of the theme") for text in THEIR_LABELS)
    yield from ((text, "kind of an exercise") for text in KINDS)
    yield from ((text, "reveal.js") for text in REVEALS)
    yield from of_python(PYTHON)
    yield from of_templates(TEMPLATES)
    for path in files(SCRIPTS):
        yield from ((text, path.name) for text in literals(path.read_text(encoding="utf-8")))


def of_drawings() -> Iterator[tuple[str, str]]:
    """What stored outputs show and say: drawings, views, and the words for pictures."""
    for docname in docnames():
        path = path_of(docname)
        if path.suffix == ".md":
            for name in DRAWING.findall(path.read_text(encoding="utf-8")):
                for word in words_of(getattr(drawings, name)().svg()):
                    yield word, name
            continue
        known = words_of_code(docname)
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                for word in words_of(output.get("data", {}).get(SVG, "")):
                    yield word, docname
                html = output.get("data", {}).get(HTML, "")
                for word in (*words_of_html(html), *words_of_data(html)):
                    yield without_numbers(word)[0], f"{docname}: a view"
                for metadata in output.get("metadata", {}).values():
                    if isinstance(metadata, dict) and has_words(metadata.get("alt", "")):
                        yield metadata["alt"], f"{docname}: a picture in words"
                for word in output.get("metadata", {}).get(PNG, {}).get(WORDS, []):
                    if word not in known:
                        yield without_numbers(word)[0], f"{docname}: a plot"


def of_docstrings() -> Iterator[tuple[str, str]]:
    """The docstrings of the names that the reference lists."""
    text = path_of("book/api").read_text(encoding="utf-8")
    for name, members in LISTED.findall(text):
        top = named(name)
        own = [getattr(top, member.strip()) for member in members.split(",") if member.strip()]
        for documented in (top, *own):
            for paragraph in paragraphs((inspect.getdoc(documented) or "").split("\n")):
                if paragraph.startswith(">>>"):
                    continue
                for block in blocks(paragraph.split("\n")):
                    for part in parts(block.removeprefix("* ")):
                        if has_words(part):
                            yield part, name


def of_exercises() -> Iterator[tuple[str, str]]:
    yield from of_python(BOXES + CHECK)
    for mistake in (MISTAKES | SLIPS).values():
        yield mistake.title, "title of a mistake"
    for exercise in exercises.load().values():
        yield from texts(exercise)
    for path in files(("exercises/[0-9]*.py",)):
        yield from ((sentence, f"{path.stem}: check") for sentence in said_in(path))


def of_grading() -> Iterator[tuple[str, str]]:
    """What a course says: handouts, feedback, keys and tables."""
    yield from of_python(GRADING)
    yield from of_templates(FEEDBACK)
