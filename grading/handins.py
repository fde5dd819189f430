"""What students have handed in, read without following a link.

Everything below `submitted/` may have been written by a student: a link to a file of the
instructor's, a folder where a file should be, a pipe that nobody writes to. So each step is taken
by the handle of the folder above, and nothing but a plain file is opened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from exercises.messages import sentence

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
LARGEST = 100 * 2**20  # bytes of a notebook, most of which are outputs that nobody looks at
TOO_LARGE = sentence("too large a file")


@dataclass(frozen=True)
class HandIn:
    """A notebook's bytes, and what is to be said of it."""

    raw: bytes
    flags: list[str] = field(default_factory=list)
    is_read: bool = True
    problem: str = ""  # why we could not read it: no fault of the student's, and no mark

    def all_flags(self, result: dict | None) -> list[str]:
        """What is to be said of a whole submission: of its file, and of what came of it."""
        return [*self.flags, *(result["flags"] if result and self.is_read else [])]


@contextlib.contextmanager
def opened(top: Path, *names: str) -> Iterator[int]:
    """The handle of a folder below `top`; raises OSError where there is none, or a link."""
    with contextlib.ExitStack() as stack:
        handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, handle)
        for name in names:
            handle = os.open(name, FOLDER, dir_fd=handle)
            stack.callback(os.close, handle)
        yield handle


def contents(top: Path, *names: str) -> dict[str, os.stat_result]:
    """What lies in a folder below `top`, by name; hidden files are left out."""
    try:
        with opened(top, *names) as handle:
            with os.scandir(handle) as entries:
                statuses = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
            return {name: statuses[name] for name in sorted(statuses) if not name.startswith(".")}
    except PermissionError:
        raise
    except OSError:
        return {}  # there is none, or a link


def read_file(top: Path, *names: str, most: int) -> bytes | None:
    """A plain file's bytes; None if there is none, or a larger one."""
    try:
        with opened(top, *names[:-1]) as at:
            descriptor = os.open(names[-1], FILE, dir_fd=at)
    except PermissionError:
        raise
    except OSError:
        return None  # there is none, or a link
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        fits = stat.S_ISREG(status.st_mode) and status.st_size <= most
        return file.read(most) if fits else None


def hand_in(submitted: Path, student: str, assignment: str) -> HandIn | None:
    """The notebook by its name, or the newest; None if nothing that looks like one is there."""
    try:
        return newest(submitted, student, assignment)
    except PermissionError as error:
        return HandIn(b"", problem=f"submitted/{student}/{assignment}: {error.strerror}")


def is_notebook(name: str) -> bool:
    """Whether a file's name is a notebook's, as programs and people write it.

    >>> is_notebook("a (1).IPYNB "), is_notebook("a.ipynb.txt"), is_notebook("a.zip")
    (True, True, False)
    """
    return name.lower().rstrip().removesuffix(".txt").removesuffix(".json").endswith(".ipynb")


def newest(submitted: Path, student: str, assignment: str) -> HandIn | None:
    notebooks = {
        name: status
        for name, status in contents(submitted, student, assignment).items()
        if is_notebook(name)
    }
    plain = [name for name, status in notebooks.items() if stat.S_ISREG(status.st_mode)]
    if not notebooks:
        return None
    if not plain:
        status = next(iter(notebooks.values()))
        return HandIn(b"", [kind(status.st_mode)], is_read=False)
    right = f"{assignment}.ipynb"
    name = right if right in plain else max(plain, key=lambda name: notebooks[name].st_mtime_ns)
    flags = [sentence("the file has another name")] if name != right else []
    if len(notebooks) > 1:
        # Their names are a student's words.
        chosen = right if name == right else sentence("the newest")
        flags.append(
            sentence(
                "{0} notebooks in one folder: the one graded is {1}",
                len(notebooks),
                chosen,
            )
        )
    raw = read_file(submitted, student, assignment, name, most=LARGEST)
    if raw is None:
        return HandIn(b"", [*flags, TOO_LARGE], is_read=False)
    return HandIn(raw, flags)


def kind(mode: int) -> str:
    links = {
        stat.S_IFLNK: sentence("a link, not a file"),
        stat.S_IFDIR: sentence("a folder, not a file"),
    }
    return links.get(stat.S_IFMT(mode), sentence("a device, not a file"))
