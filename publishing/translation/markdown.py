"""Markdown as a list of messages, and with its messages exchanged.

A message is what one block says: a paragraph, a heading, a cell of a table, a term, the words in a
piece of HTML, the title of a directive. It is written as in the page, with its line breaks taken
out. Code, formulas and marks between messages stay as they are, to the byte.

The parser is the one that builds the pages, so a message is a message of Sphinx's, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from publishing import ROOT

Lookup = Callable[[str], str]

# Directives with Markdown inside; the words after a name are a title.
CONTAINERS = {"grid", "grid-item-card", "note", "tip", "warning", "important", "admonition", "card"}
DIRECTIVE = re.compile(r"\{([\w-]+)\}[ \t]*(.*)")
OPTION = re.compile(r"^:[\w-]+:.*$")

KINDS = {
    "paragraph_open": "",
    "heading_open": "heading",
    "th_open": "head of a column",
    "td_open": "cell of a table",
    "dt_open": "term",
}

# What of a message is no words: code, formulas, addresses, tags.
NO_WORDS = re.compile(
    r"(?P<mark>`+).+?(?P=mark)|\$\$.+?\$\$|\$[^$]+\$|\]\([^)\s]*\)|<[^<>]+>|https?://\S+|\{[\w-]+\}"
    r"|\d[\d.,]* ?(?:ms|s|[KMG]i?B)\b",
    re.DOTALL,
)
WORD = re.compile(r"[A-Za-z]{2,}|\b[aI]\b")

TAG = re.compile(r"<!--.*?-->|<(?:[^<>\"']|\"[^\"]*\"|'[^']*')+>", re.DOTALL)
SPOKEN = re.compile(r"\b(?:aria-label|alt|title|placeholder)=\"([^\"]+)\"")

WORDS_OF_FORMULA = re.compile(r"\\text\{ *([^{}]+?) *\}")
FUNCTIONS = {"softmax", "norm", "dropout", "sublayer", "ff", "lse", "max", "sum"}


@dataclass(frozen=True)
class Piece:
    """A message and where it stands: `start` and `end` count characters of the text."""

    start: int
    end: int
    message: str
    kind: str = ""
    is_cell: bool = False  # of a table, where | is written \\|


@cache
def parser() -> MarkdownIt:
    """The pages' own."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    extensions = settings["parse"]["myst_enable_extensions"]
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def has_words(message: str) -> bool:
    """Whether there is anything to translate.

    >>> [has_words(one) for one in ("the `keep`", "`keep`", "$q_i$", "0.25", "[B](a.md)", "注意")]
    [True, False, False, False, False, False]
    """
    return bool(WORD.search(NO_WORDS.sub(" ", message)))


def one_line(text: str) -> str:
    """
    >>> one_line("two\\n  lines")
    'two lines'
    """
    return re.sub(r"\s*\n\s*", " ", text.strip())


def pieces(text: str) -> list[Piece]:
    r"""Every message of a text that has words, in order.

    >>> [one.message for one in pieces(r"$$\text{row sum} = \text{softmax}(x)$$")]
    ['row sum']
    >>> [one.message for one in pieces("# A *title*\n\n- an item\n  of two lines\n\n$$x$$\n")]
    ['A *title*', 'an item of two lines']
    >>> [one.message for one in pieces('<details><summary>Answer</summary>\n\nYes.\n')]
    ['Answer', 'Yes.']
    """
    starts = line_starts(text)
    candidates = [piece for token in read(text) for piece in of_token(text, starts, *token)]
    return [piece for piece in candidates if has_words(piece.message)]


def line_starts(text: str) -> list[int]:
    return [0, *(mark.end() for mark in re.finditer("\n", text)), len(text) + 1]


def read(text: str) -> Iterator[tuple[Token, str]]:
    """The tokens of a text, each with what opens the block that it stands in."""
    before = ""
    for token in parser().parse(text, {}):
        yield token, before
        before = token.type


def of_token(text: str, starts: list[int], token: Token, before: str) -> Iterator[Piece]:
    if token.type == "tr_open":
        yield from of_row(text, starts[token.map[0]], starts[token.map[0] + 1])
    elif token.type == "inline" and before not in {"th_open", "td_open"}:
        yield of_lines(text, starts, token, KINDS.get(before, before))
    elif token.type == "html_block":
        first, last = starts[token.map[0]], starts[token.map[1]]
        yield from of_html(text, first, min(last, len(text)))
    elif token.type in {"fence", "colon_fence"}:
        yield from of_directive(text, starts, token)
    elif token.type == "math_block":
        yield from of_formula(text, starts[token.map[0]], starts[token.map[1]])


def of_lines(text: str, starts: list[int], token: Token, kind: str) -> Piece:
    """A paragraph or a heading: from its first letter to its last."""
    lines = token.content.split("\n")
    if any(re.search(r"(?: {2}|\\)$", line) for line in lines[:-1]):
        raise ValueError(f"a message has no line break of its own: {token.content!r}")
    first = token.map[0]
    start = text.index(lines[0], starts[first], starts[first + 1])
    if len(lines) == 1:
        return Piece(start, start + len(lines[0]), token.content, kind)
    last = first + len(lines) - 1
    end = text.index(lines[-1], starts[last], starts[last + 1]) + len(lines[-1])
    return Piece(start, end, one_line(token.content), kind)


CELL = re.compile(r"(?:[^|\\\n]|\\.)+")


def of_row(text: str, start: int, end: int) -> Iterator[Piece]:
    """The cells of a table's row; a | in one is written \\|."""
    row = text[start : end - 1]
    for cell in CELL.finditer(row):
        if bare := cell[0].strip():
            at = start + cell.start() + cell[0].index(bare)
            yield Piece(at, at + len(bare), bare.replace("\\|", "|"), "cell", is_cell=True)


def of_html(text: str, start: int, end: int) -> Iterator[Piece]:
    """The words between tags, and what tags have for those who listen."""
    at = start
    for tag in TAG.finditer(text, start, end):
        yield from words_in(text, at, tag.start())
        for spoken in SPOKEN.finditer(tag[0]):
            begin = tag.start() + spoken.start(1)
            yield Piece(begin, begin + len(spoken[1]), spoken[1], "spoken")
        at = tag.end()
    yield from words_in(text, at, end)


def words_in(text: str, start: int, end: int) -> Iterator[Piece]:
    if bare := text[start:end].strip():
        at = text.index(bare, start, end)
        yield Piece(at, at + len(bare), one_line(bare), "HTML")


def of_formula(text: str, start: int, end: int) -> Iterator[Piece]:
    """The words in a formula that stands alone, but for names of functions."""
    for words in WORDS_OF_FORMULA.finditer(text, start, min(end, len(text))):
        if words[1] not in FUNCTIONS:
            yield Piece(words.start(1), words.end(1), words[1], "formula")


def of_directive(text: str, starts: list[int], token: Token) -> Iterator[Piece]:
    """The title of a directive, and the messages of the Markdown inside it."""
    named = DIRECTIVE.fullmatch(token.info.strip())
    if not named or named[1] not in CONTAINERS:
        return
    first, last = token.map
    if title := named[2].strip():
        at = text.index(title, starts[first], starts[first + 1])
        yield Piece(at, at + len(title), title, "title")
    begin = first + 1
    while begin < last and OPTION.match(text[starts[begin] : starts[begin + 1] - 1]):
        begin += 1
    inner = text[starts[begin] : starts[last - 1]]
    for piece in pieces(inner):
        move = starts[begin]
        yield Piece(piece.start + move, piece.end + move, piece.message, piece.kind, piece.is_cell)


def translated(text: str, lookup: Lookup) -> str:
    """The text with each of its messages as `lookup` has it.

    >>> translated("| one | `two` |\\n|---|---|\\n| one | 2 |\\n", str.upper)
    '| ONE | `two` |\\n|---|---|\\n| ONE | 2 |\\n'
    """
    parts, at = [], 0
    for piece in pieces(text):
        said = lookup(piece.message)
        if said != piece.message:
            said = said.replace("|", "\\|") if piece.is_cell else said
            parts += [text[at : piece.start], said]
            at = piece.end
    return "".join([*parts, text[at:]])
