"""Begin an exercise: its file, with an example to replace, and its box in the chapter.

    make exercise NEW=06-rows-that-add-up

The example passes what tests/test_exercises.py asks of every exercise.
"""

from __future__ import annotations

import builtins
import json
import re
import sys
from keyword import iskeyword
from pathlib import Path

import nbformat

import exercises
from publishing import ROOT
from publishing.notebooks.chapters import NOTEBOOKS, exercise_cells, tagged
from publishing.release import RELEASED

CHAPTERS = {path.name[:2]: path for path in NOTEBOOKS if path.parent.name == "chapters"}
ID = re.compile(r"(\d\d)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
OWN = ("row", "torch")  # names that the template uses itself

TEMPLATE = '''\
"""Chapter {chapter}, level 1: in one line what is asked."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    if seed == 0:  # what the chapter itself has at this place
        return {{"row": torch.tensor([2.0, 3.0, 5.0])}}
    draw = Draws(seed)
    return {{"row": draw.uniform(draw.integer(3, 6), low=1.5, high=4.0, places=1)}}


def checks(names, parameters):
    row, answer = parameters["row"], names["{name}"]
    other = row.flip(0) + 1
    return [
        Clue("it has as many numbers as `row`", has_shape(answer(row), row.shape)),
        ("each is its number's share of the sum of `row`", same(answer(row), row / row.sum())),
        ("so it is for other numbers, too", same(answer(other), other / other.sum())),
    ]


EXERCISE = Exercise(
    id="{id}",
    chapter="{chapter}",
    title="A new exercise",
    level=1,
    points=1,
    text="Write `{name}(row)`: each number's share of their sum. *Expected: one line.*",
    starter="""\\
def {name}(row):
    return ...""",
    solution="""\\
def {name}(row):
    return row / row.sum()""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change("row.sum()", "row.max()", hint="You divided by the largest. What is the whole?"),
        change(" / row.sum()", "", hint="These are the numbers. What share has each?"),
    ),
    probes=lambda parameters: [(torch.tensor([1.0, 3.0]),), (10 * parameters["row"],)],
    fields=(Field("{name}(row)"),),
)
'''

NEXT = """\
exercises/{file} has a small example that works: write your exercise in its place.
Its box stands behind the others in {notebook}: move its cells to where they belong.
Then: make format; make sync ONLY={chapter}, which says what is left for you; when that is done,
      make sync ONLY={chapter} again;
      .venv/bin/python -m pytest tests/test_exercises.py -k {id}; and at the end: make test"""


def name_of(wanted: str) -> str:
    """What the example's answer is called: of "06-two-rows", two_rows."""
    return wanted[3:].replace("-", "_")


def unfit(wanted: str) -> str | None:
    """Why there can be no new exercise of this id, in a sentence, or None."""
    if not (parts := ID.fullmatch(wanted)):
        return f'NEW must be a chapter and words of a-z and 0-9, like "06-two-rows", got {wanted!r}'
    chapter, name = parts[1], name_of(wanted)
    if chapter not in CHAPTERS:
        return f"there is no chapter {chapter}; there are {', '.join(CHAPTERS)}"
    if path_of(wanted).exists():
        return f"exercises/{path_of(wanted).name} is there already"
    if wanted in json.loads(RELEASED.read_text(encoding="utf-8"))["retired"]:
        return f"{wanted} was an exercise once, and no id is used twice: choose other words"
    if iskeyword(name) or hasattr(builtins, name) or name in OWN:
        return f"the answer would be called {name}, which means something else: choose other words"
    for exercise in exercises.load().values():
        if exercise.chapter == chapter and name in exercise.answers:
            return f"{exercise.id} asks for the name {name} already: choose other words"
    return None


def path_of(wanted: str) -> Path:
    return ROOT / "exercises" / f"{wanted.replace('-', '_')}.py"


def place(wanted: str, path: Path) -> None:
    """Put the box of an exercise behind the last one of a chapter, or at its end."""
    notebook = nbformat.read(path, as_version=4)
    names = [tagged(cell, "exercise") for cell in notebook.cells]
    end = max((at for at, name in enumerate(names, start=1) if name), default=len(names))
    number = len(set(filter(None, names))) + 1
    notebook.cells[end:end] = exercise_cells(exercises.load()[wanted], number)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def main() -> None:
    wanted = " ".join(sys.argv[1:])
    if why := unfit(wanted):
        sys.exit(why)
    chapter, file = wanted[:2], path_of(wanted)
    text = TEMPLATE.format(id=wanted, chapter=chapter, name=name_of(wanted))
    file.write_text(text, encoding="utf-8")
    place(wanted, CHAPTERS[chapter])
    notebook = CHAPTERS[chapter].relative_to(ROOT)
    print(NEXT.format(id=wanted, chapter=chapter, file=file.name, notebook=notebook))


if __name__ == "__main__":
    main()
