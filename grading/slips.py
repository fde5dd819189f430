"""What lies in `submitted/` where nobody looks for it: a sentence each, and nothing is touched."""

from __future__ import annotations

import stat
import unicodedata
from pathlib import Path

from exercises.messages import sentence
from grading import handins
from grading.course import Course
from grading.settings import instead


def link(where: str) -> str:
    return sentence("{0} is a link, which is not followed: put the folder itself there", where)


def not_a_folder(where: str) -> str:
    return sentence("{0} is not a folder: the notebook belongs in a folder of this name", where)


def contents(*where) -> dict:
    try:
        return handins.contents(*where)
    except PermissionError:  # said of the hand-in that can't be read
        return {}


def misplaced(course: Course) -> list[tuple[str, str]]:
    """Each slip: whose it probably is, or "", and a sentence."""
    slips = []
    submitted = course.folder / "submitted"
    for name, status in contents(submitted).items():
        where = f"submitted/{name}"
        if name in course.roster and stat.S_ISLNK(status.st_mode):
            slips.append((name, link(where)))
        elif name in course.roster and not stat.S_ISDIR(status.st_mode):
            slips.append((name, not_a_folder(where)))
        elif name in course.roster:
            slips += [(name, text) for text in of_student(course, submitted, name)]
        elif not stat.S_ISDIR(status.st_mode):
            if handins.is_notebook(name):
                loose = sentence("{0} is misplaced: move it to submitted/<id>/<assignment>/", where)
                slips.append(("", loose))
        elif name in course.assignments:
            for student, status in contents(submitted, name).items():
                if stat.S_ISDIR(status.st_mode) and not contents(submitted, name, student):
                    continue  # what lay there was moved
                right = f"submitted/{student}/{name}/"
                owner = student if student in course.roster else ""
                turned = sentence(
                    "{0} is the wrong way round: make it {1}",
                    f"{where}/{student}",
                    right,
                )
                slips.append((owner, turned))
        else:
            unknown = sentence(
                "not on the roster, so not graded: {0}{1}",
                name,
                meant(name, course),
            )
            slips.append(("", unknown))
    return slips


def of_student(course: Course, submitted: Path, student: str) -> list[str]:
    sentences = []
    for name, status in contents(submitted, student).items():
        where = f"submitted/{student}/{name}"
        if stat.S_ISLNK(status.st_mode) and name in course.assignments:
            sentences.append(link(where))
        elif name in course.assignments and not stat.S_ISDIR(status.st_mode):
            sentences.append(not_a_folder(where))
        elif not stat.S_ISDIR(status.st_mode):
            if handins.is_notebook(name):
                right = f"submitted/{student}/<assignment>/"
                stem = name[: name.lower().rindex(".ipynb")]
                right = right.replace("<assignment>", stem) if stem in course.assignments else right
                sentences.append(
                    sentence(
                        "{0} is one folder too high: move it to {1}",
                        where,
                        right,
                    )
                )
        elif name not in course.assignments:
            close = instead(name, course.assignments)
            sentences.append(
                sentence(
                    "{0}: course.toml has no assignment {1}{2}",
                    where,
                    repr(name),
                    close,
                )
            )
        elif not any(map(handins.is_notebook, found := contents(submitted, student, name))):
            none = sentence("{0} has no notebook in it", where)
            only = sentence("{0} has no notebook in it, only {1}", where, ", ".join([*found][:3]))
            sentences.append(only if found else none)
    return sentences


def meant(name: str, course: Course) -> str:
    """Whom a folder's name probably means."""
    for student in course.roster:
        if unicodedata.normalize("NFC", student) == unicodedata.normalize("NFC", name):
            return sentence(
                ", which is {0} in different Unicode characters: rename the folder",
                repr(student),
            )
    return instead(name, course.roster)
