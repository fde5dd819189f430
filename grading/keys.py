"""The key and the rubric of an assignment, for a person: a page to print, with every student's
numbers and answers."""

from __future__ import annotations

import html

import torch

from exercises.form import Exercise
from grading.course import Assignment, Course
from grading.marks import PROBES
from grading.notebooks import counted
from grading.numbers import given, seed_of

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Key: {name}</title>
<style>
body {{ font: 11pt/1.4 sans-serif; max-width: 48em; margin: 2em auto; }}
pre {{ background: #f4f4f4; padding: .5em; white-space: pre-wrap; }}
section {{ break-before: page; }}
td, th {{ text-align: left; vertical-align: top; padding: .1em .8em .1em 0; }}
</style>
<h1>Key and rubric: {name}</h1>
<p>Private: whoever has this page has everyone's answers.</p>
{body}
</html>
"""


def shown(value) -> str:
    """A value as a person compares it: four decimals."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else repr(value)


def rubric(exercise: Exercise) -> str:
    """How the points are made up, what a solution is, and which mistakes are known."""
    lines = [f"<h2>{html.escape(exercise.id)} · {html.escape(exercise.title)}</h2>"]
    lines.append(f"<p>{counted(exercise.points, 'point')}</p>")
    if exercise.kind == "text":
        lines.append(f"<pre>{html.escape(exercise.rubric)}</pre>")
    else:
        sentences = [sentence for sentence, _ in exercise.answer(exercise.solution, 1)]
        sentences += [PROBES] * bool(exercise.probes)
        rows = (
            f"<tr><td>{share:.2f}</td><td>{html.escape(one)}</td></tr>"
            for share, one in zip(exercise.worth(sentences), sentences, strict=True)
        )
        lines.append(f"<table>{''.join(rows)}</table>")
    lines.append(f"<p>A solution:</p><pre>{html.escape(exercise.solution)}</pre>")
    if exercise.mistakes:
        hints = (f"<li>{html.escape(one.hint)}</li>" for one in exercise.mistakes)
        lines.append(f"<p>Known mistakes:</p><ol>{''.join(hints)}</ol>")
    return "\n".join(lines)


def own(course: Course, assignment: Assignment, student: str) -> str:
    """One student's numbers and answers."""
    lines = [f"<section><h2>{html.escape(student or 'Everyone')}</h2>"]
    for exercise in assignment.exercises:
        if exercise.kind == "text":
            continue
        seed = seed_of(course.secret, exercise.id, course.whose(student))
        lines.append(f"<h3>{html.escape(exercise.id)}</h3>")
        if numbers := given(exercise, seed):
            lines.append(f"<pre>{html.escape(numbers)}</pre>")
        if exercise.kind == "values":
            names = exercise.run(exercise.solution, seed)
            rows = (
                f"<tr><th>{name}</th><td>{html.escape(shown(names[name]))}</td></tr>"
                for name in exercise.answers
            )
            lines.append(f"<table>{''.join(rows)}</table>")
    return "\n".join([*lines, "</section>"])


def write(course: Course, assignment: Assignment) -> None:
    """keys/<assignment>.html: the rubric, then a section for each student."""
    everyone = list(course.roster) if course.whose("x") else [""]
    body = [rubric(exercise) for exercise in assignment.exercises]
    body += [own(course, assignment, student) for student in everyone]
    path = course.folder / "keys" / f"{assignment.name}.html"
    path.parent.mkdir(exist_ok=True)
    page = PAGE.format(name=html.escape(assignment.name), body="\n".join(body))
    path.write_text(page, encoding="utf-8")
