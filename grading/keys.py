"""The key and the rubric of an assignment, for a person: a page to print, with every student's
numbers and answers."""

from __future__ import annotations

import html

import torch

from exercises.form import Exercise
from exercises.messages import Messages
from grading.course import Assignment, Course
from grading.marks import PROBES
from grading.numbers import given, seed_of
from grading.words import TAGS, points

PAGE = """\
<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 11pt/1.4 sans-serif; max-width: 48em; margin: 2em auto; }}
pre {{ background: #f4f4f4; padding: .5em; white-space: pre-wrap; }}
section {{ break-before: page; }}
td, th {{ text-align: left; vertical-align: top; padding: .1em .8em .1em 0; }}
</style>
<h1>{heading}</h1>
<p>{private}</p>
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


def rubric(exercise: Exercise, _: Messages) -> str:
    """How the points are made up, what a solution is, and which mistakes are known."""
    lines = [f"<h2>{html.escape(exercise.id)} · {html.escape(exercise.title)}</h2>"]
    lines.append(f"<p>{points(exercise.points, _)}</p>")
    if exercise.kind == "text":
        lines.append(f"<pre>{html.escape(exercise.rubric)}</pre>")
    else:
        sentences = [said for said, _passed in exercise.answer(exercise.solution, 1)]
        sentences += [PROBES] * bool(exercise.probes)
        rows = (
            f"<tr><td>{share:.2f}</td><td>{html.escape(_.tell(sentence))}</td></tr>"
            for share, sentence in zip(exercise.worth(sentences), sentences, strict=True)
        )
        lines.append(f"<table>{''.join(rows)}</table>")
    solution = _("A solution:")
    lines.append(f"<p>{solution}</p><pre>{html.escape(exercise.solution)}</pre>")
    if exercise.mistakes:
        hints = (f"<li>{html.escape(mistake.hint)}</li>" for mistake in exercise.mistakes)
        known = _("Known mistakes:")
        lines.append(f"<p>{known}</p><ol>{''.join(hints)}</ol>")
    return "\n".join(lines)


def own(course: Course, assignment: Assignment, student: str) -> str:
    """One student's numbers and answers."""
    _ = course.say
    lines = [f"<section><h2>{html.escape(student or _('Everyone'))}</h2>"]
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
    _ = course.say
    body = [rubric(exercise, _) for exercise in assignment.exercises]
    body += [own(course, assignment, student) for student in everyone]
    path = course.folder / "keys" / f"{assignment.name}.html"
    path.parent.mkdir(exist_ok=True)
    name = html.escape(assignment.name)
    page = PAGE.format(
        language=TAGS[course.language],
        title=_("Key: {name}").format(name=name),
        heading=_("Key and rubric: {name}").format(name=name),
        private=_("Private: whoever has this page has everyone's answers."),
        body="\n".join(body),
    )
    path.write_text(page, encoding="utf-8")
