"""The notebooks of a course: the source with the solutions, each student's own, and a submission
put back into a form that can be trusted."""

from __future__ import annotations

import base64
import html
import platform
from collections.abc import Collection
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from exercises import LEVELS
from exercises.form import Exercise
from exercises.messages import ENGLISH, Messages, sentence
from grading.cells import LONGEST, broken_line, defines, would_define
from grading.course import Assignment, Course
from grading.marks import Mark
from grading.numbers import given, mark_of, seed_of
from grading.reading import TOO_LONG, Handed
from grading.words import points

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MOST_SHOWN = 100_000  # characters of cells, and as many of texts: a page has fifty times as much
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
MOST_PIXELS = 2**24

TASK = """\
{heading}

<span role="img" aria-label="{level}">{dots}</span> · {points}

{text}
"""

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def counted(number: float, noun: str) -> str:
    """
    >>> counted(1, "point"), counted(2.5, "point")
    ('1 point', '2.5 points')
    """
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def heading(number: int, exercise: Exercise) -> str:
    return f"## {number} · {exercise.title}"


def task(number: int, exercise: Exercise, seed: int, _: Messages = ENGLISH) -> str:
    """The text of an exercise, as it stands in a notebook with the numbers of a seed."""
    text = TASK.format(
        heading=heading(number, exercise),
        level=_("level {level} of 3").format(level=exercise.level),
        dots=LEVELS[exercise.level],
        points=points(exercise.points, _),
        text=exercise.task(seed).strip(),
    )
    return text.strip()


def nbgrader(name: str, **more) -> dict:
    """nbgrader's marks on a cell."""
    flags = {"grade": False, "locked": True, "solution": False, "task": False, **more}
    return {"nbgrader": {"schema_version": 3, "grade_id": name, **flags}}


def code(source: str, name: str, **more):
    kind = {"cell_type": "code"} if more.get("grade") else {}
    return new_code_cell(source, id=name, metadata=nbgrader(name, **kind, **more))


def grade_cell(exercise: Exercise, _: Messages = ENGLISH):
    """The locked cell in which a score and its reasons will stand."""
    names = _(", ").join(f"`{name}`" for name in exercise.answers)
    source = _("# Graded here: {names}. There is nothing to do in this cell.").format(names=names)
    return titled(exercise, code(source, f"grade-{exercise.id}", grade=True, **worth(exercise)))


def worth(exercise: Exercise) -> dict:
    return {"points": float(exercise.points)}


def titled(exercise: Exercise, cell: NotebookNode) -> NotebookNode:
    """A cell with the name under which the feedback page lists it."""
    cell.metadata["title"] = exercise.title
    return cell


def numbers_cell(exercise: Exercise, seed: int) -> list:
    """A locked cell with the numbers, if there are any to give."""
    source = given(exercise, seed)
    return [code(source, f"numbers-{exercise.id}")] if source else []


def answer_cell(exercise: Exercise, source: str):
    """The student's cell. A text is graded where it stands, by a person."""
    by_hand = {"grade": True, **worth(exercise)} if exercise.kind == "text" else {}
    name = f"answer-{exercise.id}"
    return titled(exercise, code(source, name, locked=False, solution=True, **by_hand))


def head(course: Course, assignment: Assignment) -> str:
    """What an assignment's notebook begins with."""
    _ = assignment.say
    title = _(": ").join([course.settings.get("title", _("Attention")), assignment.name])
    text = _(
        "Each exercise has a cell with its numbers, if it has any, and a cell for your answer. "
        "Keep the names\nthat the exercise asks for; write as many cells as you like. Before you "
        "hand in: *Restart* the\nkernel, *Run All*, save. The notebook must be named "
        "`{name}.ipynb`."
    )
    return f"# {title}\n\n{text.format(name=assignment.name)}"


def build(course: Course, assignment: Assignment, student: str, answer: str):
    """A notebook of an assignment, with a student's numbers.

    answer: what stands in the answer cells: "source" (nbgrader cuts the solution out of it),
    "solution", or "starter".
    """
    cells = [new_markdown_cell(head(course, assignment), id="head")]
    for number, exercise in enumerate(assignment.exercises, start=1):
        seed = seed_of(course.secret, exercise.id, course.whose(student))
        text = task(number, exercise, seed, assignment.say)
        cells.append(new_markdown_cell(text, id=f"task-{exercise.id}"))
        cells += numbers_cell(exercise, seed)
        source = {
            "source": f"{exercise.starter}\n{BEGIN}\n{exercise.solution}\n{END}",
            "solution": exercise.solution,
            "starter": exercise.starter,
        }[answer]
        cells.append(answer_cell(exercise, source))
        if exercise.kind != "text":
            cells.append(grade_cell(exercise, assignment.say))
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    if answer == "starter":
        metadata["handout"] = mark_of(course.secret, course.whose(student))
    return new_notebook(cells=cells, metadata=metadata)


def sections(assignment: Assignment, cells: list[Handed]) -> list[str]:
    """For each cell the exercise under whose text it stands, by its id; "" if there is none."""
    heads = {
        heading(number, exercise): exercise.id
        for number, exercise in enumerate(assignment.exercises, start=1)
    }
    known = {
        f"{kind}-{exercise.id}": exercise.id
        for exercise in assignment.exercises
        for kind in ("task", "numbers", "answer", "grade")
    }
    ids, here = [], ""
    for cell in cells:
        head = cell.text.strip().split("\n")[0] if cell.cell_type == "markdown" else ""
        here = known.get(cell.name) or heads.get(head) or here
        ids.append(here)
    return ids


@dataclass(frozen=True)
class Places:
    """Where an exercise is answered, as places among the cells."""

    own: int | None  # of the cell that is graded
    later: list[int]  # cells further down that answer it, too, and are not
    broken: list[int]  # cells that would answer it if Python could read them
    texts: list[int]  # cells that would answer it if they were code, and no Markdown


def places(assignment: Assignment, cells: list[Handed]) -> dict[str, Places]:
    """Where each exercise is answered, by its id: in the last cell under its text that binds one of
    its names.

    If none does, the last anywhere. Only if there is no other, one that Python can't read, or that
    is too long to be read, and at last a starter that was left as it is.
    """
    under = sections(assignment, cells)
    codes = [(index, cell.text) for index, cell in enumerate(cells) if cell.cell_type == "code"]
    binds = {index: defines(text) for index, text in codes}
    says = {i: defines(cell.text) for i, cell in enumerate(cells) if cell.cell_type != "code"}
    seems = {index: would_define(text) for index, text in codes if not binds[index]}
    by_exercise = {}
    for exercise in assignment.exercises:
        answers, starter = set(exercise.answers), exercise.starter.strip()
        binding = [index for index, names in binds.items() if names & answers]
        written = [index for index in binding if cells[index].text.strip() != starter]
        unread = [index for index, names in seems.items() if names & answers]
        tries = [[i for i in some if under[i] == exercise.id] or some for some in (written, unread)]
        own = next(filter(None, [*tries, binding]), [None])[-1]
        later = [index for index in written if index > own]
        broken = [index for index in unread if broken_line(cells[index].text)]
        texts = [index for index, names in says.items() if names & answers]
        by_exercise[exercise.id] = Places(own, later, broken, texts)
    return by_exercise


def noted(places: Places, cells: list[Handed]) -> list[str]:
    """What is to be said of an answer that is not right."""
    version = ".".join(platform.python_version_tuple()[:2])
    notes = []
    for index in places.broken:
        notes.append(
            sentence(
                "cell {0} can't be read by the grader's Python, {1}: look at its line {2}",
                index + 1,
                version,
                broken_line(cells[index].text),
            )
        )
    for index in places.later:
        notes.append(
            sentence(
                "cell {0} answers it, too, but does not count: it is under another exercise",
                index + 1,
            )
        )
    for index in places.texts:
        notes.append(
            sentence("cell {0} is a text cell and is not run: make it a code cell", index + 1)
        )
    return notes


@dataclass(frozen=True)
class Rebuilt:
    """A submission in a form of our own: the student's code in its order, our cells for the grades.

    Which exercise a cell answers is decided here, outside; in the sandbox it is only a cell.
    """

    notebook: NotebookNode
    cells: list[NotebookNode]  # those of the notebook that are the student's
    places: dict[str, int]  # each exercise's own cell among these, by its id
    notes: dict[str, list[str]]  # by the same: what is to be said of an answer that is not right


def tasks(course: Course, assignment: Assignment, student: str) -> set[str]:
    """The texts that a student's notebook was handed out with."""
    texts = {head(course, assignment)}
    for number, exercise in enumerate(assignment.exercises, start=1):
        seed = seed_of(course.secret, exercise.id, course.whose(student))
        texts.add(task(number, exercise, seed, assignment.say))
    return texts


def rebuild(assignment: Assignment, cells: list[Handed], texts: Collection[str] = ()) -> Rebuilt:
    """What was copied of the handout behind an answer, a starter or a grade's cell, is left out.

    texts: those of the assignment, which stay Markdown.
    """
    say = assignment.say
    ours = {grade_cell(exercise, say).source for exercise in assignment.exercises}
    starters = {exercise.starter.strip(): exercise.id for exercise in assignment.exercises}
    found = places(assignment, cells)
    place = {name: where.own for name, where in found.items() if where.own is not None}
    out, own, moved, room = [], [], {}, MOST_SHOWN
    for index, cell in enumerate(cells):
        text = cell.text.strip()
        if text in ours or place.get(starters.get(text), index) < index:
            continue
        here = [exercise for exercise in assignment.exercises if place.get(exercise.id) == index]
        # A text is graded where it stands, so its cell is the answer's.
        here.sort(key=lambda exercise: exercise.kind != "text")
        if here:
            own.append(answer_cell(here[0], cell.text))
        elif cell.cell_type == "code":
            own.append(new_code_cell(cell.text, id=f"cell-{index}"))
        else:
            text = say(TOO_LONG) if cell.text == TOO_LONG else cell.text
            shown = text if text in texts else plain(text[:room])
            room -= 0 if text in texts else len(text[:room])
            own.append(new_markdown_cell(shown, id=f"cell-{index}"))
        own[-1].metadata["number"] = index + 1
        moved |= {exercise.id: len(own) - 1 for exercise in here}
        out += [
            own[-1],
            *(graded(exercise, say, cell.text) for exercise in here if exercise is not here[0]),
        ]
        out += [graded(exercise, say) for exercise in here[:1] if exercise.kind != "text"]
    out += [graded(exercise, say) for exercise in assignment.exercises if exercise.id not in place]
    notes = {name: noted(where, cells) for name, where in found.items()}
    return Rebuilt(new_notebook(cells=out, metadata={"kernelspec": KERNEL}), own, moved, notes)


def graded(exercise: Exercise, say: Messages, text: str = ""):
    """The cell that bears an exercise's grade."""
    return answer_cell(exercise, text) if exercise.kind == "text" else grade_cell(exercise, say)


def plain(text: str) -> str:
    """A student's Markdown as text: a grader's browser shows it, and must run nothing in it."""
    return "<pre>" + html.escape(text) + "</pre>" if text.strip() else ""


def cut(source: str, room: int) -> str:
    """What is shown of a cell: to highlight a long one takes a page minutes."""
    most = min(LONGEST, room)
    return source if len(source) <= most else f"{source[:most]}\n…"


def clean(outputs: list) -> list:
    """Outputs that a grader's browser may show: text and pictures, no HTML, no scripts."""
    shown = []
    for output in outputs:
        if output.output_type == "stream":
            text = "".join(
                character
                for character in output.text
                if character.isprintable() or character in "\n\t"
            )
            rest = "\n…\n" if len(text) > LONGEST else ""
            shown.append(new_output("stream", text=text[:LONGEST] + rest))
        elif is_picture(base64.b64decode(output.data["image/png"])):
            shown.append(output)
    return shown


def is_picture(png: bytes) -> bool:
    """Whether it is a PNG, and of a size that a browser can unpack."""
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    return png.startswith(PNG) and 0 < width * height <= MOST_PIXELS


def report(mark: Mark, _: Messages = ENGLISH) -> str:
    """What feedback says of one question: never a hidden input."""
    first = _("From the checks: {score} of {points} ({status})")
    score = f"{mark.score:g}"
    lines = [first.format(score=score, points=points(mark.points, _), status=_(mark.status))]
    lines += [f"{'✓' if passed else '✗'} {_.tell(text)}" for text, passed in mark.checks]
    lines += [_("Note: {flag}").format(flag=_.tell(flag)) for flag in mark.flags]
    lines += [_("Hint: {hint}").format(hint=mark.hint)] if mark.hint else []
    return "\n".join(lines) + "\n"


def write_marks(notebook, marks: list[Mark], _: Messages = ENGLISH) -> None:
    """Put each score and its reasons under its grade cell, as nbgrader reads a partial credit."""
    by_cell = {f"grade-{mark.exercise}": mark for mark in marks}
    room = MOST_SHOWN
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        mark = by_cell.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if mark is None:
            cell.outputs = clean(cell.outputs)
            cell.source = cut(cell.source, room)
            room = max(0, room - len(cell.source))
            continue
        score = new_output(
            "execute_result", data={"text/plain": repr(mark.score)}, execution_count=1
        )
        cell.outputs = [score, new_output("stream", name="stdout", text=report(mark, _))]
