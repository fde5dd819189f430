"""A notebook's file as it came in: its cells, if there is any way to read them.

What is not named here is not even read: no output, no kernel. Other encodings and older forms are
taken where nobody can mistake them, as a file that Jupyter opens should not be a zero.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from exercises.messages import sentence
from grading.cells import LONGEST

MOST_CELLS = 2000
MOST_TEXT = 2**20  # characters, of all cells
MOST_PARTS = 200_000  # cells of a file, and numbers in it that are none
MOST_RECODED = 20 * 2**20  # bytes of a file that is read in another encoding
PART = 2**20
MOST_SIGNS = 5_000_000  # quotes and backslashes of a file in which such numbers are looked for
TOO_LONG = sentence("a text too long to be read")  # what stands in the place of one

# What other programs write and JSON has not: NaN, or half of a sign that is written as two. Between
# them, what decides whether such a thing stands in a text.
NO_JSON = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]")
SIGN = re.compile(
    rb'\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.|"|(-?(?:NaN|Infinity))',
    re.DOTALL,
)
OTHER_SIGNS = re.compile(rb"[\x80-\xff]+")
# A key may be spelled with these: "\\u0063ell_type".
SPELLED = (b"cell_type", b"\\u005", b"\\u006", b"\\u007")


@dataclass(frozen=True)
class Handed:
    """A cell as it came in."""

    cell_type: str
    text: str
    name: str  # what the handout called it, if it is one of its cells: "answer-03-safe-softmax"


class Grader(msgspec.Struct, gc=False):
    grade_id: str | None = None


class Metadata(msgspec.Struct, gc=False):
    nbgrader: Grader | None = None


class Written(msgspec.Struct, gc=False):
    cell_type: str
    source: msgspec.Raw = msgspec.Raw(b'""')
    input: msgspec.Raw = msgspec.Raw(b"")  # the source, in version 3
    id: msgspec.Raw = msgspec.Raw(b'""')
    metadata: msgspec.Raw = msgspec.Raw(b"{}")

    @property
    def name(self) -> str:
        metadata = optional(METADATA, self.metadata)
        graded = metadata and metadata.nbgrader
        return (graded and graded.grade_id) or optional(NAME, self.id) or ""


class Sheet(msgspec.Struct):
    """What holds the cells in version 3."""

    cells: list[Written] = []


class Marked(msgspec.Struct):
    handout: str = ""


class Submission(msgspec.Struct):
    """A notebook as it came in."""

    cells: list[Written] | None = None
    worksheets: list[Sheet] | None = None
    metadata: msgspec.Raw = msgspec.Raw(b"{}")

    @property
    def all_cells(self) -> list[Written]:
        """Those of either version; raises ValueError if there is no place for them."""
        if self.cells is not None:
            return self.cells
        if self.worksheets is None:
            raise ValueError("a notebook has cells")
        return [cell for sheet in self.worksheets for cell in sheet.cells]


READ = msgspec.json.Decoder(Submission)
SOURCE = msgspec.json.Decoder(str | list[str] | None)
METADATA = msgspec.json.Decoder(Metadata)
MARKED = msgspec.json.Decoder(Marked)
NAME = msgspec.json.Decoder(str)


def optional(decoder: msgspec.json.Decoder, raw: msgspec.Raw):
    """What a raw part holds; None if it is of another kind."""
    try:
        return decoder.decode(raw)
    except msgspec.MsgspecError:
        return None


def read(raw: bytes) -> tuple[list[Handed], str, list[str]]:
    """The cells of what was handed in, its handout's mark, and flags."""
    raw, flags = in_utf8(raw)
    if sum(map(raw.count, SPELLED)) > MOST_PARTS:  # before they take their room
        return [], "", [sentence("too long: more parts than a notebook has")]
    try:
        submission = decoded(raw)
        written = submission.all_cells
        cells = list(handed(written[:MOST_CELLS]))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return [], "", [sentence("not a notebook")]
    if len(cells) < len(written):
        flags.append(
            sentence(
                "too long: only the first {0} of its {1} cells count",
                len(cells),
                len(written),
            )
        )
    if all(cell.cell_type != "code" for cell in cells):
        flags.append(sentence("no code in it"))
    marked = optional(MARKED, submission.metadata)
    return cells, marked.handout[:40] if marked else "", flags


def decoded(raw: bytes) -> Submission:
    try:
        return READ.decode(raw)
    except msgspec.MsgspecError:
        if not NO_JSON.search(raw):
            raise
        return READ.decode(mended(raw))


def mended(raw: bytes) -> bytes:
    """The same with null for NaN and Infinity, and a mark for half of a sign.

    >>> mended(b'{"a": NaN, "b": [-Infinity], "NaN \\\\" NaN": 1}')
    b'{"a": null, "b": [null], "NaN \\\\" NaN": 1}'
    >>> mended(rb'"\\ud83d\\ude00 \\ud83d \\\\ud83d"') == rb'"\\ud83d\\ude00 \\ufffd \\\\ud83d"'
    True
    """
    parts, since, is_quoted = [], 0, False
    for sign in islice(SIGN.finditer(raw), MOST_SIGNS):
        half, number = sign.groups()
        if sign[0] == b'"':
            is_quoted = not is_quoted
        elif (half if is_quoted else number) and len(parts) < MOST_PARTS:
            parts += [raw[since : sign.start()], b"\\ufffd" if half else b"null"]
            since = sign.end()
    return b"".join([*parts, raw[since:]])


def in_utf8(raw: bytes) -> tuple[bytes, list[str]]:
    """A file in UTF-8, and a flag if it came in another encoding."""
    encoding = json.detect_encoding(raw)
    if encoding.startswith(("utf-16", "utf-32")):
        known_as = encoding[:6].upper()
    elif is_utf8(raw):
        return raw.removeprefix(codecs.BOM_UTF8), []
    elif is_in_pairs(raw):
        encoding, known_as = "gb18030", "GBK"
    else:
        encoding, known_as = "cp1252", "Windows-1252"
    text = raw[:MOST_RECODED].decode(encoding, errors="replace")
    return text.encode(), [sentence("not in UTF-8: read as {0}", known_as)]


def is_utf8(raw: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(raw), PART):  # as a whole it would take four times its room
            decoder.decode(raw[start : start + PART])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def is_in_pairs(raw: bytes) -> bool:
    """Whether signs beyond ASCII come two by two, as Chinese does; a letter like ë comes alone."""
    runs = islice(OTHER_SIGNS.finditer(raw), MOST_PARTS)
    return all((run.end() - run.start()) % 2 == 0 for run in runs)


def handed(cells: list[Written]) -> Iterator[Handed]:
    """The cells, until their texts are too long together."""
    room = MOST_TEXT
    for cell in cells:
        raw = cell.input or cell.source
        whole, is_code = len(raw) <= 2 * MOST_TEXT, cell.cell_type == "code"
        if is_code and not whole:
            return
        source = (SOURCE.decode(raw) or "") if whole else TOO_LONG
        text = source if isinstance(source, str) else "".join(source)
        text = text if is_code else text[:LONGEST]
        room -= len(text)
        if room < 0:
            return
        yield Handed(cell.cell_type, text, cell.name)
