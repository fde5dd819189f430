"""Write a notebook for the exercises of each chapter, from `exercises/`, and store its outputs.

Stored they are blank: each answer is what the starter leaves, and `check` says so. They are for
Jupyter and Colab; nothing in them is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import exercises
from exercises import Exercise
from exercises.notebook import feedback
from publishing import ROOT
from publishing.notebooks.chapters import (
    box_of,
    normalise,
    run,
    setup_cell,
    tagged,
)
from publishing.notebooks.outputs import keep_same
from publishing.translation import sentences
from publishing.translation.exercises import chinese, say
from publishing.translation.language import in_chinese

Say = Callable[[str], str]
FOLDER = ROOT / "exercises" / "notebooks"
CODE = re.compile(r"`([^`]+)`")


def top_of(chapter: str, title: str, url: str, _: Say = str) -> str:
    """What an exercise notebook begins with; `url`: where its chapter lies."""
    heading = _("Exercises of chapter {chapter}: {title}").format(chapter=chapter, title=title)
    text = _(
        "Write your answer where the dots are, run the cell, and then run the `check` below it, "
        "which says what is right and which mistake a wrong answer looks like. “Above” and any "
        "names that are not given here refer to [the chapter]({url})."
    )
    return f"# {heading}\n\n{text.format(url=url)}"


IMPORTS = """\
import torch

from {module} import check, given"""


def stored(chapter: str) -> Path:
    return FOLDER / f"{chapter}_exercises.ipynb"


def chapter_file(chapter: str) -> Path:
    (path,) = ROOT.glob(f"chapters/{chapter}_*.ipynb")
    return path


def title_of(chapter: str) -> str:
    """The heading of a chapter, without its number."""
    cells = nbformat.read(chapter_file(chapter), as_version=4).cells
    heading = next(cell.source for cell in cells if cell.source.startswith("# "))
    return heading.split("\n")[0].removeprefix("# ").removeprefix(chapter).strip(" ·")


def given_code(exercise: Exercise) -> str:
    """The line that gives the reader the parameters that the text names."""
    if plain := exercise.given().strip():
        return plain
    named = " ".join([*CODE.findall(exercise.task()), exercise.starter])
    words = set(re.findall(r"\w+", named))
    wanted = [name for name in exercise.parameters(0) if name in words]
    if not wanted:
        return ""
    if len(wanted) == len(exercise.parameters(0)) > 1:
        return f'{", ".join(wanted)} = given("{exercise.id}").values()'
    return "\n".join(f'{name} = given("{exercise.id}")["{name}"]' for name in wanted)


def cells_of(exercise: Exercise, number: int, answer: str, _: Say = str) -> list:
    """The task, its numbers with a place for the answer, and the check."""
    name = f"exercise-{exercise.id}"
    cells = [new_markdown_cell(box_of(exercise, number, _), id=name)]
    if code := given_code(exercise):
        cells.append(new_code_cell(code, id=f"{name}-given"))
    cells.append(new_code_cell(answer.strip(), id=f"{name}-answer"))
    cells.append(new_code_cell(f'check("{exercise.id}")', id=f"{name}-check"))
    for cell in cells:
        cell.metadata["tags"] = [f"exercise:{exercise.id}"]
    return cells


def notebook(chapter: str, *, solved: bool = False):
    """The exercises of one chapter, in the order of the chapter, blank or solved."""
    text = chapter_file(chapter).read_text(encoding="utf-8")
    own = [exercise for exercise in exercises.load().values() if exercise.chapter == chapter]
    own.sort(key=lambda exercise: text.index(f'"exercise-{exercise.id}"'))
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    url = f"{settings['url']}/blob/{settings['branch']}/chapters/{chapter_file(chapter).name}"
    top = top_of(chapter, title_of(chapter), url)
    cells = [
        new_markdown_cell(top, id="top"),
        setup_cell(settings["url"]),
        new_code_cell(IMPORTS.format(module="exercises.notebook"), id="imports"),
    ]
    for number, exercise in enumerate(own, start=1):
        answer = exercise.solution if solved else exercise.starter
        cells += cells_of(exercise, number, answer)
    return new_notebook(cells=cells)


def localized(chapter: str):
    """The stored notebook of a chapter's exercises in Chinese, whose `check` answers in Chinese."""
    made = nbformat.read(stored(chapter), as_version=4)
    file, docname = chapter_file(chapter), f"chapters/{chapter_file(chapter).stem}"
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    url = f"{settings['url']}/blob/{settings['branch']}/chapters/zh/{file.name}"
    heading = in_chinese(f"{chapter} {title_of(chapter)}", docname)
    title = heading.removeprefix(chapter).strip(" ·")
    known, count = exercises.load(), 0
    for cell in made.cells:
        name = tagged(cell, "exercise")
        if cell.id == "top":
            cell.source = top_of(chapter, title, url, say)
        elif cell.id == "imports":
            cell.source = IMPORTS.format(module="exercises.zh")
        elif name and cell.cell_type == "markdown":
            count += 1
            cell.source = box_of(chinese(known[name]), count, say)
        elif name and cell.id.endswith("-check"):
            blank = known[name].run(known[name].starter)
            (printed,) = cell.outputs
            printed.text = f"{feedback(chinese(known[name]), blank, sentences.known())}\n"
    return made


def chapters() -> list[str]:
    """The chapters that have exercises."""
    return sorted({exercise.chapter for exercise in exercises.load().values()})


def store(paths: list[Path]) -> None:
    """Run and store the exercises of these chapters."""
    numbers = {path.name[:2] for path in paths}  # a page's is none of a chapter
    FOLDER.mkdir(exist_ok=True)
    for chapter in sorted(numbers & {*chapters()}):
        path, made = stored(chapter), notebook(chapter)
        run(made, path)
        normalise(made)
        if path.exists():
            keep_same(nbformat.read(path, as_version=4).cells, made.cells)
        nbformat.validate(made)
        path.write_text(nbformat.writes(made) + "\n", encoding="utf-8")
