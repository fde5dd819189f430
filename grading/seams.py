"""Where grading meets nbgrader: its own settings, and what takes the place of its own steps.

nbgrader runs a notebook and believes what its cells print. Here the notebook that it reads has been
run in the sandbox and marked outside it before; what nbgrader does with marks stays as it is.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import nbformat
import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    GetGrades,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from nbgrader.utils import compute_checksum
from sqlalchemy.exc import SAWarning
from traitlets import Unicode
from traitlets.config import Config

from exercises.messages import sentence
from grading.course import Course
from grading.sandbox import PYTHON, CannotGrade
from grading.submission import is_done, rebuilt_path, stored
from grading.words import TAGS

ROOT = Path(__file__).parents[1]
FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
NBGRADER = "nbgrader: "  # what its reasons begin with
# A notebook's language for pages without colours.
PLAIN = {"name": "python", "pygments_lexer": "text"}
NO_RESPONSE = sentence("No response.")  # what nbgrader says of an answer that nobody gave
BOOTSTRAP = Path("static", "node_modules", "bootstrap", "dist", "css")
# nbgrader starts alembic by its name.
os.environ["PATH"] = f"{Path(PYTHON).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

SETTINGS = """\
# nbgrader's settings for this course, written by `make course`. Add your own below.
import sys
from pathlib import Path

sys.path.insert(0, {root!r})
from grading.seams import configure

c = get_config()
configure(c, str(Path(__file__).resolve().parent))
"""


class Trusted(NbGraderPreprocessor):
    """Replaces what a student handed in by the notebook that was run in the sandbox and marked."""

    course = Unicode(help="the course's folder").tag(config=True)

    def preprocess(self, nb, resources):
        student = resources["nbgrader"]["student"]
        assignment = resources["nbgrader"]["assignment"]
        course = Course.open(self.course)
        if not is_done(course, course.assignment(assignment), student):
            # In a process of its own: this one may be a server's.
            command = [PYTHON, "-m", "grading.submission", self.course, assignment, student]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr.strip().split("\n")[-1])
        notebook = nbformat.read(rebuilt_path(course, assignment, student), as_version=4)
        marks = {mark["exercise"]: mark for mark in stored(course, assignment, student)["marks"]}
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            mark = marks.get(name.removeprefix("answer-"))
            if name.startswith("answer-") and mark and mark["status"] == "blank":
                # So nbgrader knows an answer that nobody gave: a zero, and nothing to read.
                cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
        return notebook, resources


class Told(GetGrades):
    """What the feedback page says of each question: its points, and whether a person gave them."""

    course = Unicode(help="the course's folder").tag(config=True)

    def preprocess(self, nb, resources):
        course = Course.open(self.course)
        self.say = course.say
        resources["nbgrader"] |= {"say": course.say, "language": TAGS[course.language]}
        nb, resources = super().preprocess(nb, resources)
        resources["nbgrader"]["plain"] = nb.metadata.get("language_info") == PLAIN
        assignment, student = (resources["nbgrader"][name] for name in ("assignment", "student"))
        flags = course.flags(assignment, student, stored(course, assignment, student))
        resources["nbgrader"]["flags"] = list(map(course.say.tell, flags))
        marks = (cell.metadata.get("nbgrader", {}) for cell in nb.cells)
        resources["nbgrader"]["waits"] = any(mark.get("waits") for mark in marks)
        return nb, resources

    def _get_comment(self, cell, resources):
        super()._get_comment(cell, resources)
        mark = cell.metadata.nbgrader
        if mark["comment"] == NO_RESPONSE:
            mark["comment"] = self.say(NO_RESPONSE)

    def _get_score(self, cell, resources):
        super()._get_score(cell, resources)
        mark = cell.metadata.nbgrader
        grade = self.gradebook.find_grade(
            mark["grade_id"], self.notebook_id, self.assignment_id, self.student_id
        )
        mark["waits"] = bool(grade.needs_manual_grade)
        mark["given"] = grade.manual_score is not None
        if not mark["solution"]:  # what is printed says more than the number
            cell.outputs = [output for output in cell.outputs if output.output_type == "stream"]


def configure(c: Config, folder: str) -> None:
    """nbgrader's settings for a course."""
    c.CourseDirectory.root = folder
    c.CourseDirectory.course_id = "*"
    c.Trusted.course = c.Told.course = folder
    c.Autograde.sanitize_preprocessors = [Trusted]
    c.Autograde.autograde_preprocessors = [SaveAutoGrades, AssignLatePenalties]
    c.Autograde.create_student = False
    # The starter stands above what is cut out.
    c.ClearSolutions.code_stub = {"python": ""}
    c.HTMLExporter.sanitize_html = True
    c.GenerateFeedback.preprocessors = [Told, CSSHTMLHeaderPreprocessor]
    page, templates = c.GenerateFeedback.HTMLExporter, FORMGRADER / "templates"
    page.template_name = "feedback_page"
    page.extra_template_basedirs = [str(ROOT / "grading" / "templates"), str(templates)]
    page.extra_template_paths = [str(templates), str(FORMGRADER / BOOTSTRAP)]


def write_settings(folder: Path) -> None:
    """Write nbgrader's settings; what stands below ours is the instructor's, and stays.

    A file without our last line is the instructor's altogether.
    """
    path, own = folder / "nbgrader_config.py", ""
    if path.exists():
        _, ours, rest = path.read_text(encoding="utf-8").partition("\nconfigure(c, ")
        if not ours:
            return
        own = rest.partition("\n")[2]
    path.write_text(SETTINGS.format(root=str(ROOT)) + own, encoding="utf-8")


def api(folder: Path, **directories: str) -> NbGraderAPI:
    """nbgrader on a course; `submitted="rebuilt"` reads another of its folders."""
    c = Config()
    configure(c, str(folder))
    for name, value in directories.items():
        c.CourseDirectory[f"{name}_directory"] = value
    coursedir = CourseDirectory(config=c)
    return NbGraderAPI(coursedir, config=c)


@contextlib.contextmanager
def quiet():
    """Without SQLAlchemy's warnings about how nbgrader 0.9.6 uses it: they are not the reader's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        yield


def must(done: dict, what: str) -> None:
    """Raise CannotGrade with nbgrader's last words where it failed."""
    if not done["success"]:
        raise CannotGrade(f"nbgrader could not {what}: {last_words(done)}")


def said(step: Callable, assignment: str, student: str) -> str:
    """Take a step of nbgrader's. Returns "", or its last words if it failed."""
    with quiet():
        done = step(assignment, student)
    words = last_words(done)
    if not done["success"] and words == "KeyboardInterrupt":  # nbgrader takes it for an error
        raise KeyboardInterrupt
    return "" if done["success"] else NBGRADER + words


def last_words(done: dict) -> str:
    return (done.get("error") or done.get("log") or "it gave no reason").strip().split("\n")[-1]
