"""The exercises on the site: an answer field for each, and solutions as the edition has them.

    public      the solution folded under the exercise
    student     no solution: neither on the page nor in its source nor in the search; no cell with
                the tag `solution`, as the worksheet's key
    instructor  the solution open, with the checks, the points and the known mistakes

BOOK_EDITION says which one is built; `make book EDITION=student` sets it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
from docutils.nodes import make_id
from markdown_it import MarkdownIt
from nbformat.v4 import new_markdown_cell
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import exercises
from attn_core.mistakes import MISTAKES
from exercises import Exercise
from exercises.keys import key
from publishing import ROOT
from publishing.translation.exercises import here
from publishing.translation.language import ENGLISH, _, language, said
from publishing.translation.scripts import exchanged
from publishing.translation.sentences import in_chinese

EDITIONS = ("public", "student", "instructor")
FIELD = Path(__file__).parent / "built" / "answer.js"
MARKDOWN = MarkdownIt("commonmark")


def edition() -> str:
    """The edition that is built: the value of BOOK_EDITION, "public" where it is not set."""
    name = os.environ.get("BOOK_EDITION") or "public"
    if name not in EDITIONS:
        raise ExtensionError(f"EDITION must be one of {', '.join(EDITIONS)}, got {name!r}")
    return name


def entry(name: str | None) -> str:
    """What a hint begins with if the mistake has an entry in the gallery."""
    if name is None:
        return ""
    title = MISTAKES[name].title
    link = f'<a href="14_mistakes.html#{make_id(title)}">{said(title, "exercises")}</a>'
    return _("It looks like {mistake}.").format(mistake=link) + " "


def field(exercise: Exercise) -> str:
    """The element that asks for numbers, with all that it needs; "" if the page asks for none."""
    if not exercise.fields:
        return ""
    keys = [key(exercise, number) for number in range(len(exercise.fields))]
    for answer_key in keys:
        answer_key["label"] = MARKDOWN.renderInline(answer_key["label"])
        for mistake in answer_key["mistakes"]:
            hint = MARKDOWN.renderInline(mistake["hint"])
            mistake["hint"] = entry(mistake.pop("name")) + hint
    text = json.dumps({"id": exercise.id, "fields": keys}).replace("<", "\\u003c")
    return (
        f'<attention-answer>\n<script type="application/json">{text}</script>\n</attention-answer>'
    )


def worth(exercise: Exercise, sentences: list[str]) -> str:
    """The checks as a list, each with the points that it is worth in grading."""
    lines = []
    for share, sentence in zip(exercise.worth(sentences), sentences, strict=True):
        points = f"{share:.2f}".rstrip("0").rstrip(".") if share else _("a clue")
        told = sentence if language() == ENGLISH else in_chinese(sentence)
        lines.append(f"- {points} · {told}")
    return "\n".join(lines)


def key_of_instructor(exercise: Exercise) -> str:
    """Solution, checks and known mistakes, open."""
    sentences = [sentence for sentence, _ in exercise.answer(exercise.solution)]
    if exercise.probes:
        asked = len(exercise.probes(exercise.parameters(0)))
        more = _("it is right for {count} more inputs that appear nowhere in the exercise")
        sentences.append(more.format(count=asked))
    head = _("For instructors")
    lines = [
        f"**{head} · {exercise.id}** · {said(exercise.kind)}",
        f"```python\n{exercise.solution.strip()}\n```",
    ]
    if exercise.rubric:
        reads = _("A person reads the answer, for {count} points:").format(count=exercise.points)
        lines += [reads, exercise.rubric.strip()]
    else:
        shares = _(
            "What each check is worth in grading, out of {count}; a clue says where to look, and "
            "earns nothing:"
        )
        lines.append(shares.format(count=exercise.points))
        lines.append(worth(exercise, sentences))
    for mistake in exercise.mistakes:
        title = said(MISTAKES[mistake.name].title, "exercises") if mistake.name else ""
        title = f"*{title}* · " if title else ""
        lines.append(f"{title}{mistake.hint}\n\n```python\n{mistake.code.strip()}\n```")
    body = "\n\n".join(lines)
    return f'<div class="exercise">\n\n{body}\n\n</div>'


def exercise_of(cell) -> str | None:
    tags = cell.metadata.get("tags", [])
    return next((tag.split(":", 1)[1] for tag in tags if tag.startswith("exercise:")), None)


def ways(chapter: str, options: dict) -> str:
    """The line under a chapter's last exercise: all of them as a notebook."""
    url = options["repository_url"].rstrip("/")
    folder = "exercises/notebooks" if language() == ENGLISH else f"exercises/notebooks/{language()}"
    place = f"blob/{options['repository_branch']}/{folder}/{chapter}_exercises.ipynb"
    owner = url.removeprefix("https://github.com/")
    if owner == url:  # Colab opens what lies on GitHub
        return ""
    colab = f"https://colab.research.google.com/github/{owner}/{place}"
    line = _(
        "*These exercises as a notebook that checks answers:* "
        "[open it in Colab]({colab}), [see it on GitHub]({github})."
    )
    return line.format(colab=colab, github=f"{url}/{place}")


def edit(notebook, known: dict[str, Exercise], which: str, options: dict) -> list[str]:
    """Write fields and solutions into a notebook; returns the ids of its exercises."""
    cells, ids, last = [], [], 0
    for cell in notebook.cells:
        name = exercise_of(cell)
        is_solution = name is not None and cell.id == f"exercise-{name}-solution"
        if not is_solution:
            cells.append(cell)
            continue
        ids.append(name)
        asked = field(known[name])
        if asked:
            cells.append(new_markdown_cell(asked, id=f"exercise-{name}-field"))
        if which == "public":
            cells.append(cell)
        elif which == "instructor":
            cells.append(new_markdown_cell(key_of_instructor(known[name]), id=cell.id))
        last = len(cells)
    if ids and (line := ways(known[ids[0]].chapter, options)):
        cells.insert(last, new_markdown_cell(line, id="exercise-notebook"))
    notebook.cells = cells
    return ids


def without_solutions(notebook) -> bool:
    """Take out what has the tag `solution`, as the worksheet's key; True if there was any."""
    kept = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    had_solutions = len(kept) < len(notebook.cells)
    notebook.cells = kept
    return had_solutions


def on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = nbformat.reads(source[0], as_version=4)
    changed = edition() == "student" and without_solutions(notebook)
    if docname.startswith("chapters/"):
        known = {name: here(exercise) for name, exercise in exercises.load().items()}
        options = app.config.html_theme_options
        if edit(notebook, known, edition(), options):
            changed = True
            for path in (ROOT / "exercises").glob("*.py"):
                app.env.note_dependency(str(path))
    if changed:
        source[0] = nbformat.writes(notebook)


def script() -> str:
    """That of the answer fields; it reads numbers as the explorer does."""
    return exchanged(FIELD.read_text(encoding="utf-8"))


def on_config(app: Sphinx, config) -> None:
    folder = Path(app.doctreedir).parent / "answer_field"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FIELD.name).write_text(script(), encoding="utf-8")
    config.html_static_path.append(str(folder))
    if edition() == "student":
        # The sources that Sphinx copies beside the pages are those of the public edition.
        config.html_copy_source = False


def setup(app: Sphinx) -> dict:
    edition()
    app.connect("config-inited", on_config)
    app.connect("source-read", on_source_read)
    app.add_js_file("answer.js", loading_method="defer")
    app.add_css_file("answer.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
