"""The notebooks of a course: the source with the solutions, each student's own, and a submission
put back into a form that can be trusted."""

from __future__ import annotations

import ast
import base64
import binascii
import html
import json

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from exercises import LEVELS
from exercises.form import Exercise
from tools.grading.course import Assignment, Course
from tools.grading.marks import Mark
from tools.grading.numbers import given, mark_of, seed_of

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MOST_CELLS = 2000

HEAD = """\
# {title}

Each exercise has a cell with its numbers, if it has any, and a cell for your answer. Keep the names
that the exercise asks for; write as many cells as you like. Before you hand in: *Restart* the
kernel, *Run All*, save. The notebook must bear the name `{name}.ipynb`.
"""

TASK = """\
## {number} · {title}

<span role="img" aria-label="level {level} of 3">{dots}</span> · {points}

{text}
"""

GRADED = "# Graded here: {names}. Nothing is to do in this cell."
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def points(exercise: Exercise) -> str:
    return "1 point" if exercise.points == 1 else f"{exercise.points} points"


def task(number: int, exercise: Exercise) -> str:
    """The text of an exercise, as it stands in a notebook."""
    text = TASK.format(
        number=number,
        title=exercise.title,
        level=exercise.level,
        dots=LEVELS[exercise.level],
        points=points(exercise),
        text=exercise.text.strip(),
    )
    return text.strip()


def nbgrader(name: str, **more) -> dict:
    """nbgrader's marks on a cell."""
    flags = {"grade": False, "locked": True, "solution": False, "task": False, **more}
    return {"nbgrader": {"schema_version": 3, "grade_id": name, **flags}}


def code(source: str, name: str, **more):
    kind = {"cell_type": "code"} if more.get("grade") else {}
    return new_code_cell(source, id=name, metadata=nbgrader(name, **kind, **more))


def grade_cell(exercise: Exercise):
    """The locked cell in which a score and its reasons will stand."""
    names = ", ".join(f"`{name}`" for name in exercise.answers)
    source = GRADED.format(names=names)
    return code(source, f"grade-{exercise.id}", grade=True, points=float(exercise.points))


def numbers_cell(exercise: Exercise, seed: int) -> list:
    """A locked cell with the numbers, if there are any to give."""
    source = given(exercise, seed)
    return [code(source, f"numbers-{exercise.id}")] if source else []


def answer_cell(exercise: Exercise, source: str):
    """The student's cell. A text is graded where it stands, by a person."""
    by_hand = {"grade": True, "points": float(exercise.points)} if exercise.kind == "text" else {}
    return code(source, f"answer-{exercise.id}", locked=False, solution=True, **by_hand)


def build(course: Course, assignment: Assignment, student: str, answer: str):
    """A notebook of an assignment, with a student's numbers.

    answer: what stands in the answer cells: "source" (nbgrader cuts the solution out of it),
    "solution", or "starter".
    """
    title = f"{course.settings.get('title', 'Attention')}: {assignment.name}"
    head = HEAD.format(title=title, name=assignment.name)
    cells = [new_markdown_cell(head.strip(), id="head")]
    for number, exercise in enumerate(assignment.exercises, start=1):
        cells.append(new_markdown_cell(task(number, exercise), id=f"task-{exercise.id}"))
        cells += numbers_cell(exercise, seed_of(course.secret, exercise.id, course.whose(student)))
        source = {
            "source": f"{exercise.starter}\n{BEGIN}\n{exercise.solution}\n{END}",
            "solution": exercise.solution,
            "starter": exercise.starter,
        }[answer]
        cells.append(answer_cell(exercise, source))
        if exercise.kind != "text":
            cells.append(grade_cell(exercise))
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    if answer == "starter":
        metadata["handout"] = mark_of(course.secret, course.whose(student))
    return new_notebook(cells=cells, metadata=metadata)


def read(raw: bytes) -> tuple[list[tuple[str, str]], str, list[str]]:
    """The cells of what was handed in, as (type, text), its handout's mark, and flags.

    Nothing else is believed: no metadata, no outputs, no ids, no kernel.
    """
    try:
        content = json.loads(raw.decode("utf-8-sig"))
        mark = content.get("metadata", {}).get("handout", "")
        cells = [
            (cell["cell_type"], "".join(cell["source"]))
            for cell in nbformat.convert(nbformat.from_dict(content), 4).cells[:MOST_CELLS]
        ]
    except Exception:  # whatever it is, it is no notebook
        return [], "", ["not a notebook"]
    kinds = {kind for kind, _ in cells}
    flags = ["no code in it"] if "code" not in kinds else []
    return cells, str(mark)[:40], flags


def defines(source: str) -> set[str]:
    """The names that a cell's code assigns or defines at its top level."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
            found |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
    return found


def rebuild(assignment: Assignment, cells: list[tuple[str, str]]):
    """A submission in a form of our own: the student's code in its order, our cells for the grades.

    An answer cell is the last that defines one of the exercise's names; a starter that was left as
    it is comes after an answer only if somebody copied a cell, and is not run.
    """
    starters = {exercise.starter.strip(): exercise for exercise in assignment.exercises}
    tasks = {task(number, one) for number, one in enumerate(assignment.exercises, start=1)}
    ours = {grade_cell(exercise).source for exercise in assignment.exercises}
    kept, answered = [], set()
    place: dict[str, int] = {}
    for kind, source in cells:
        if kind == "code" and source.strip() in ours:
            continue
        exercise = starters.get(source.strip())
        if exercise and exercise.id in answered:
            continue
        names = defines(source) if kind == "code" else set()
        for exercise in assignment.exercises:
            if names & set(exercise.answers):
                place[exercise.id] = len(kept)
                if source.strip() != exercise.starter.strip():
                    answered.add(exercise.id)
        if kind == "code":
            kept.append(new_code_cell(source, id=f"cell-{len(kept)}"))
        else:
            shown = source if source in tasks else plain(source)
            kept.append(new_markdown_cell(shown, id=f"cell-{len(kept)}"))
    graded = {place.get(exercise.id): exercise for exercise in assignment.exercises}
    out = []
    for index, cell in enumerate(kept):
        exercise = graded.get(index)
        out.append(answer_cell(exercise, cell.source) if exercise else cell)
        out += [
            grade_cell(one)
            for one in assignment.exercises
            if place.get(one.id) == index and one.kind != "text"
        ]
    for exercise in assignment.exercises:
        if exercise.id not in place:
            out.append(
                answer_cell(exercise, "") if exercise.kind == "text" else grade_cell(exercise)
            )
    return new_notebook(cells=out, metadata={"kernelspec": KERNEL})


def plain(text: str) -> str:
    """A student's Markdown as text: a grader's browser shows it, and must run nothing in it."""
    return "<pre>" + html.escape(text) + "</pre>" if text.strip() else ""


def is_ours(cell) -> bool:
    """Whether a cell of a rebuilt notebook is a grade's, which is not run."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("grade-")


def clean(outputs: list) -> list:
    """Outputs that a grader's browser may show: text and pictures, no HTML, no scripts."""
    found = []
    for output in outputs:
        if output.output_type == "stream":
            found.append(new_output("stream", name="stdout", text=str(output.text)))
        elif output.output_type == "error":
            text = f"{output.ename}: {output.evalue}"
            found.append(new_output("stream", name="stdout", text=text[:2000] + "\n"))
        elif "data" in output:
            data = {"text/plain": str(output.data.get("text/plain", ""))}
            picture = output.data.get("image/png")
            if isinstance(picture, str) and is_base64(picture):
                data["image/png"] = picture
            found.append(new_output("display_data", data=data))
    return found


def is_base64(text: str) -> bool:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def report(mark: Mark) -> str:
    """What feedback says of one question: never a hidden input."""
    lines = [f"{mark.score:g} of {mark.points:g} points: {mark.status}"]
    lines += [f"{'✓' if passed else '✗'} {sentence}" for sentence, passed in mark.checks]
    lines += [f"Note: {flag}" for flag in mark.flags]
    lines += [f"Hint: {mark.hint}"] if mark.hint else []
    return "\n".join(lines) + "\n"


def write_marks(notebook, marks: list[Mark]) -> None:
    """Put each score and its reasons under its grade cell, as nbgrader reads a partial credit."""
    by_cell = {f"grade-{mark.exercise}": mark for mark in marks}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        mark = by_cell.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if mark is None:
            cell.outputs = clean(cell.outputs)
            continue
        score = new_output(
            "execute_result", data={"text/plain": repr(mark.score)}, execution_count=1
        )
        cell.outputs = [score, new_output("stream", name="stdout", text=report(mark))]
