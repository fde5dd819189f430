"""The words in a notebook's code, as messages: its comments, what it prints, and what it writes
into plots. Names and data stay as they are.

A printed message is written as in the code, with its placeholders: `sum {total:.4f}`. In what a
cell has printed the same words are exchanged, so that the Chinese code prints what is stored.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from publishing.translation.markdown import has_words

Lookup = Callable[[str], str]

# Calls whose strings a reader sees in a plot; the catalogue of drawings has them.
PLOTS = {"text", "annotate", "set_title", "set_xlabel", "set_ylabel", "suptitle"}
# Methods and operators that hand on the words that they are called with.
HANDS_ON = {"format", "join", "ljust", "rjust", "center"}
TOOLS = re.compile(r"# (?:noqa|fmt:|type:)")
LITERAL = re.compile(
    r"(?P<before>[rfRF]*(?P<quote>\"\"\"|'''|\"|'))(?P<body>.*)(?P=quote)", re.DOTALL
)
PLACEHOLDER = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")


@dataclass(frozen=True)
class Said:
    """A message and where it is: `start` and `end` count characters of the code."""

    start: int
    end: int
    message: str
    kind: str  # "comment", "printed" or "plot"


def said_in(source: str) -> list[Said]:
    """What a reader of this code is told in words, in its order.

    >>> code = 'print("sum", f"{x:.2f} of {name}")  # of the row'
    >>> [(said.message, said.kind) for said in said_in(code)]
    [('sum', 'printed'), ('{x:.2f} of {name}', 'printed'), ('of the row', 'comment')]
    """
    plain = re.sub(r"^( *)[%!].*$", r"\1pass", source, flags=re.MULTILINE)  # no Python
    lines = plain.splitlines(keepends=True)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(plain).readline):
        if token.type == tokenize.COMMENT and not TOOLS.match(token.string):
            start = starts[token.start[0] - 1] + token.start[1]
            bare = token.string.lstrip("# ")
            found.append(
                Said(
                    start + len(token.string) - len(bare),
                    start + len(token.string),
                    bare,
                    "comment",
                )
            )
    for node, kind in shown(ast.parse(plain)):
        ends = []
        for line, column in (
            (node.lineno, node.col_offset),
            (node.end_lineno, node.end_col_offset),
        ):
            ends.append(starts[line - 1] + len(lines[line - 1].encode()[:column].decode()))
        literal = LITERAL.fullmatch(source, *ends)
        # Neighbouring literals are one string; none of our cells prints such a one.
        if literal and literal["quote"] not in literal["body"]:
            found.append(Said(literal.start("body"), literal.end("body"), literal["body"], kind))
    return sorted(
        (said for said in found if has_words(PLACEHOLDER.sub(" ", said.message))),
        key=lambda said: said.start,
    )


def shown(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The literals that are printed or written into a plot."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = called(call)
            if name == "print" or name in PLOTS:
                kind = "printed" if name == "print" else "plot"
                for argument in call.args:
                    yield from ((literal, kind) for literal in literals(argument))
                named = (
                    keyword.value for keyword in call.keywords if keyword.arg in {"sep", "end"}
                )
                yield from ((literal, kind) for value in named for literal in literals(value))


def literals(node: ast.AST) -> Iterator[ast.expr]:
    """Those of an argument that come out as they are, not those that another call is given."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node
    elif isinstance(node, ast.Starred):
        yield from literals(node.value)
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        yield from literals(node.elt)
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.BinOp):
        yield from (*literals(node.left), *literals(node.right))
    elif isinstance(node, ast.Call) and called(node) in HANDS_ON:
        yield from literals(node.func.value)


def called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def exchanged(source: str, lookup: Lookup, plot: Lookup = str) -> str:
    """Code with its words in another language; those of a plot as its drawing has them.

    >>> exchanged('print("sum", x)  # of a row', {"sum": "和", "of a row": "一行的"}.get)
    'print("和", x)  # 一行的'
    """
    for said in reversed(said_in(source)):
        words = (plot if said.kind == "plot" else lookup)(said.message)
        source = source[: said.start] + words + source[said.end :]
    return source


def messages(source: str) -> list[str]:
    """The messages of a page that its code has: drawings have those of plots."""
    return [said.message for said in said_in(source) if said.kind != "plot"]


def translate(cell, lookup: Lookup, plot: Lookup) -> None:
    """Exchange the words of a cell's code, and of what it has printed."""
    source = cell.source
    cell.source = exchanged(source, lookup, plot)
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = printed(output.text, source, lookup)


def printed(text: str, source: str, lookup: Lookup) -> str:
    """What a cell has printed, as its code prints it in another language.

    >>> words = {"rows": "行", "sum {x:.2f} of {n}": "{n} 个的和 {x:.2f}"}
    >>> printed("rows 3 sum 0.50 of 2", 'print("rows", 3, f"sum {x:.2f} of {n}")', words.get)
    '行 3 2 个的和 0.50'
    """
    messages = {said.message for said in said_in(source) if said.kind == "printed"}
    # Those with the most words first: they may contain others.
    for message in sorted(messages, key=lambda message: -len(PLACEHOLDER.sub("", message))):
        text = exchange(text, message, lookup(message))
    return text


def exchange(text: str, english: str, chinese: str) -> str:
    """A printed text with what one message printed in it exchanged."""
    # A value at an edge stays where it is: nothing would say where it ends.
    for edge in (rf"^{PLACEHOLDER.pattern}", rf"{PLACEHOLDER.pattern}$"):
        ends = [re.search(edge, message) for message in (english, chinese)]
        if all(ends) and ends[0][0] == ends[1][0]:
            english, chinese = re.sub(edge, "", english), re.sub(edge, "", chinese)
    between = [re.escape(unescaped(part)) for part in PLACEHOLDER.split(english)]
    words = "(.*?)".join(between)
    if not between[0]:
        words = r"(\S+)" + words.removeprefix("(.*?)")
    if not between[-1]:
        words = words.removesuffix("(.*?)") + r"(\S+)"
    before = r"(?<![A-Za-z])" if english[0].isalpha() else ""
    after = "(?![A-Za-z])" if english[-1].isalpha() else ""

    def filled(match: re.Match) -> str:
        values = defaultdict(list)
        for name, value in zip(PLACEHOLDER.findall(english), match.groups(), strict=True):
            values[name].append(value)
        return PLACEHOLDER.sub(lambda place: values[place[0]].pop(0), unescaped(chinese))

    return re.sub(before + words + after, filled, text)


def unescaped(literal: str) -> str:
    return literal.replace("\\n", "\n").replace("{{", "{").replace("}}", "}")
