"""What lies in `submitted/` where nobody looks for it: a sentence each, and nothing is touched."""

from __future__ import annotations

import stat
import unicodedata
from pathlib import Path

from grading import handins
from grading.course import Course
from grading.settings import instead

LINK = "{} is a link, which is not followed: put the folder itself there"


def contents(*where) -> dict:
    try:
        return handins.contents(*where)
    except PermissionError:  # said of the hand-in that can't be read
        return {}


def misplaced(course: Course) -> list[tuple[str, str]]:
    """Each slip: whose it probably is, or "", and a sentence."""
    found = []
    submitted = course.folder / "submitted"
    for name, status in contents(submitted).items():
        where = f"submitted/{name}"
        if name in course.roster and stat.S_ISLNK(status.st_mode):
            found.append((name, LINK.format(where)))
        elif name in course.roster:
            found += [(name, text) for text in of_student(course, submitted, name)]
        elif not stat.S_ISDIR(status.st_mode):
            if name.lower().endswith(".ipynb"):
                found.append(("", f"{where} lies loose: move it to submitted/<id>/<assignment>/"))
        elif name in course.assignments:
            for student, status in contents(submitted, name).items():
                if stat.S_ISDIR(status.st_mode) and not contents(submitted, name, student):
                    continue  # what lay there was moved
                right = f"submitted/{student}/{name}/"
                owner = student if student in course.roster else ""
                found.append((owner, f"{where}/{student} is the wrong way round: make it {right}"))
        else:
            found.append(("", f"not on the roster, so not graded: {name}{meant(name, course)}"))
    return found


def of_student(course: Course, submitted: Path, student: str) -> list[str]:
    found = []
    for name, status in contents(submitted, student).items():
        where = f"submitted/{student}/{name}"
        if stat.S_ISLNK(status.st_mode) and name in course.assignments:
            found.append(LINK.format(where))
        elif not stat.S_ISDIR(status.st_mode):
            if name.lower().endswith(".ipynb"):
                right = f"submitted/{student}/<assignment>/"
                stem = name[: -len(".ipynb")]
                right = right.replace("<assignment>", stem) if stem in course.assignments else right
                found.append(f"{where} lies one folder too high: move it to {right}")
        elif name not in course.assignments:
            close = instead(name, course.assignments)
            found.append(f"{where}: course.toml has no assignment {name!r}{close}")
        elif not any(one.lower().endswith(".ipynb") for one in contents(submitted, student, name)):
            found.append(f"{where} has no notebook in it")
    return found


def meant(name: str, course: Course) -> str:
    """Whom a folder's name probably means."""
    for student in course.roster:
        if unicodedata.normalize("NFC", student) == unicodedata.normalize("NFC", name):
            return f", which is {student!r} in other characters of Unicode: rename the folder"
    return instead(name, course.roster)
