"""What an instructor writes, course.toml and roster.csv: read strictly, each slip told by line."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path

from exercises.messages import sentence
from grading.sandbox import CannotGrade, Limits
from grading.words import LANGUAGES

NUMBERS = ("student", "class")
LIMITS = tuple(limit.name for limit in fields(Limits))
ROSTER = "roster.csv"
COLUMNS = ("id", "name", "email")
LONGEST = 200  # bytes of an id: a file's name has a little more than that
UTF8 = 'it is not in UTF-8: save it again in that encoding (Excel: "CSV UTF-8")'


@dataclass(frozen=True)
class Student:
    """A line of the roster."""

    id: str
    name: str = ""
    email: str = ""


def read(folder: Path) -> dict:
    """course.toml, in which everything is known and of the right kind."""
    path = folder / "course.toml"
    if not path.is_file():
        raise CannotGrade(f"there is no course.toml in {folder}: `make course` writes one")
    text = decoded(path)
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotGrade(f"course.toml can't be read: {error}") from None
    slips = Slips(text)
    slips.known(settings, ("title", "language", "numbers", "assignments", "limits"))
    if not isinstance(settings.get("title", ""), str):
        slips.stop("title", "title must be a text")
    if settings.get("language", "en") not in LANGUAGES:
        slips.stop("language", f'language must be "en" or "zh", got {settings["language"]!r}')
    if settings.get("numbers", "student") not in NUMBERS:
        slips.stop("numbers", f'numbers must be "student" or "class", got {settings["numbers"]!r}')
    limits = slips.table(settings, "limits")
    slips.known(limits, LIMITS, "limits")
    for name, value in limits.items():
        if type(value) is not int or value <= 0:
            slips.stop(name, f"{name} must be a whole number above 0, got {value!r}", "limits")
    for name, assignment in slips.table(settings, "assignments").items():
        where = f"assignments.{name}"
        if not re.fullmatch(r"[\w][\w .+-]*", name):
            slips.stop("", f"an assignment's name has letters and digits, got {name!r}", where)
        if not isinstance(assignment, dict) or "exercises" not in assignment:
            slips.stop("", f"assignment {name} must have a list `exercises`", where)
        slips.known(assignment, ("exercises",), where)
        wanted = assignment["exercises"]
        if not (
            isinstance(wanted, list)
            and wanted
            and all(type(exercise) is str for exercise in wanted)
        ):
            slips.stop("exercises", "exercises must be a list of ids in quotes", where)
    return settings


def line_of(folder: Path, text: str, table: str) -> int:
    """The line of course.toml, in this table or behind it, in which a text is quoted."""
    lines = decoded(folder / "course.toml").split("\n")
    first = Slips("\n".join(lines)).line("", table)
    for number, line in enumerate(lines[first - 1 :], start=first):
        if f'"{text}"' in line or f"'{text}'" in line:
            return number
    return first


class Slips:
    """Says where in a TOML file a slip is."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def stop(self, key: str, words: str, table: str = "") -> None:
        raise CannotGrade(f"course.toml, line {self.line(key, table)}: {words}")

    def line(self, key: str, table: str) -> int:
        """The line of a key in a table; of the table, where the key has none."""
        here, table_line, whole = "", 1, ".".join(filter(None, (table, key)))
        for number, line in enumerate(self.lines, start=1):
            if head := re.match(r"\s*\[+([^\[\]]+)\]", line):
                here = ".".join(part.strip().strip("\"'") for part in head[1].split("."))
                if f"{here}.".startswith(f"{whole}."):
                    return number
                table_line = number if here == table else table_line
            elif here == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
                return number
        return table_line

    def known(self, settings: dict, names: Iterable[str], table: str = "") -> None:
        for name in settings:
            if name not in names:
                where = f" in [{table}]" if table else ""
                words = f"there is no setting {name!r}{where}{instead(name, names)}"
                self.stop(name, words, table)

    def table(self, settings: dict, name: str) -> dict:
        value = settings.get(name, {})
        if not isinstance(value, dict):
            self.stop(name, f"{name} must be a table, [{name}]")
        return value


def instead(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a sentence."""
    close = get_close_matches(name, list(names), n=1, cutoff=0.5)
    return sentence("; did you mean {0}?", repr(close[0])) if close else ""


def decoded(path: Path) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise CannotGrade(f"{path.name}, line {line}: {UTF8}") from None


def is_folder(name: str) -> bool:
    """Whether an id can be a folder's name, for nbgrader too, which takes some as patterns."""
    is_plain = name.isprintable() and not name.startswith(".") and not set(name) & set("/*?[")
    return is_plain and len(name.encode()) <= LONGEST


def roster(folder: Path) -> dict[str, Student]:
    """Who is in the class, by id."""
    path = folder / ROSTER
    if not path.is_file():
        raise CannotGrade(f"there is no {ROSTER} in {folder}: id,name,email, one a line")
    lines = decoded(path).splitlines()
    # Excel writes semicolons where the comma is the decimal point.
    only_semicolons = bool(lines) and ";" in lines[0] and "," not in lines[0]
    reader = csv.reader(lines, delimiter=";" if only_semicolons else ",")
    head = [cell.strip().lower() for cell in next(reader, [])]
    if "id" not in head or set(head) - set(COLUMNS):
        raise CannotGrade(
            f"{ROSTER}, line 1: it must be id,name,email, with commas, got {','.join(head)!r}"
        )
    students: dict[str, Student] = {}
    for row in reader:
        where = f"{ROSTER}, line {reader.line_num}"
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) > len(head):
            raise CannotGrade(
                f"{where}: more cells than columns; put a name with a comma in quotes"
            )
        student = Student(**dict(zip(head, cells, strict=False)))
        if not student.id:
            raise CannotGrade(f"{where}: there is no id")
        if student.id in students:
            raise CannotGrade(f"{where}: the id {student.id!r} is there twice")
        if not is_folder(student.id):
            raise CannotGrade(
                f"{where}: an id is a folder's name, without / * ? [ and no dot first, of at most "
                f"{LONGEST} bytes, got {student.id!r}"
            )
        students[student.id] = student
    if not students:
        raise CannotGrade(f"{ROSTER} must give each student an id, and there is none")
    return students
