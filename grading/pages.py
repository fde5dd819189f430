"""Feedback pages: each made by a separate process, which may use so much and no more.

A student's text decides how long it takes to colour it. A page that does not come out in time is
made once more, plainly: as text without colours, which takes no time to speak of.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import nbformat

from grading import engine
from grading.course import Course
from grading.seams import NBGRADER, PLAIN, api, said
from grading.submission import write

SECONDS = 5  # of the processor, for a page; an ordinary one takes a quarter of one
PATIENCE = 300  # seconds of the clock, be the machine ever so busy


def make(
    course: Course, assignment: str, students: list[str], workers: int
) -> Iterator[tuple[str, str]]:
    """Make the pages, so many at once. Yields each student with "", or with why there is none."""
    late = []
    jobs = [(assignment, student) for student in students]
    for (_, student), why in engine.local(course.folder, jobs, workers, PATIENCE, page):
        if why and not why.startswith(NBGRADER):
            late.append((assignment, student))
        else:
            yield student, why
    for (_, student), why in engine.local(course.folder, late, workers, PATIENCE, plain_page):
        yield student, why


def page(folder: str, assignment: str, student: str) -> str:
    """Make one page, as a process that may do nothing else. Returns "", or nbgrader's reason."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    why = said(api(Path(folder), submitted="rebuilt").generate_feedback, assignment, student)
    if "MemoryError" in why:
        os._exit(1)
    return why


def plain_page(folder: str, assignment: str, student: str) -> str:
    """The same, plainly; formgrader shows this notebook without colours from now on, too."""
    file = Path(folder, "autograded", student, assignment, f"{assignment}.ipynb")
    notebook = nbformat.read(file, as_version=4)
    notebook.metadata["language_info"] = PLAIN
    write(file, nbformat.writes(notebook))
    return page(folder, assignment, student)
