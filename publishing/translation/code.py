"""The words in a notebook's code, as messages: its comments, what it prints and what it writes into
a plot. Names and data stay as they are.

A printed message is written as in the code, with its placeholders: `sum {total:.4f}`. In what a
cell has printed the same words are exchanged, so that the Chinese code prints what is stored.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from publishing.translation.markdown import has_words

Lookup = Callable[[str], str]

# Methods and operators that hand on the words that they are called with.
HANDS_ON = {"format", "join", "ljust", "rjust", "center"}
# Methods of matplotlib that write what they are called with, and by which names.
WRITES = {"set", "set_title", "set_xlabel", "set_ylabel", "suptitle", "text", "annotate", "plot"}
WRITTEN = {"xlabel", "ylabel", "title", "label"}
TOOLS = re.compile(r"# (?:noqa|fmt:|type:)")
MAGIC = re.compile(r"^( *)([%!].*)$", re.MULTILINE)  # no Python
LITERAL = re.compile(r"[rfRF]*(?P<quote>\"\"\"|'''|\"|')(?P<body>.*)(?P=quote)", re.DOTALL)
PLACEHOLDER = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")


@dataclass(frozen=True)
class Said:
    """A message and where it is: `start` and `end` count characters of the code."""

    start: int
    end: int
    message: str
    is_printed: bool


def said_in(source: str) -> list[Said]:
    """What a reader of this code is told in words, in its order.

    >>> code = 'print("sum", f"{x:.2f} of {name}")  # of the row'
    >>> [said.message for said in said_in(code)]
    ['sum', '{x:.2f} of {name}', 'of the row']
    >>> [said.message for said in said_in('axes.set(xlabel="key", ylim=(0, 1), color="red")')]
    ['key']
    """
    python = MAGIC.sub(lambda line: line[1] + "0".ljust(len(line[2])), source)
    tree = ast.parse(python)
    printed = literals_at(shown(tree), python, is_printed=True)
    in_plots = literals_at(plotted(tree), python, is_printed=False)
    found = sorted((*comments(python), *printed, *in_plots), key=lambda said: said.start)
    return [said for said in found if has_words(PLACEHOLDER.sub(" ", said.message))]


def comments(source: str) -> Iterator[Said]:
    starts = starts_of(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not TOOLS.match(token.string):
            bare = token.string.lstrip("# ")
            end = starts[token.end[0] - 1] + token.end[1]
            yield Said(end - len(bare), end, bare, is_printed=False)


def literals_at(nodes: Iterable[ast.expr], source: str, is_printed: bool) -> Iterator[Said]:
    starts, lines = starts_of(source), source.split("\n")

    def place(line: int, column: int) -> int:
        """Python counts the bytes of a line."""
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in nodes:
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        literal = LITERAL.fullmatch(source, start, end)
        # Neighbouring literals are one string; none of our cells prints such a one.
        if literal and literal["quote"] not in literal["body"]:
            yield Said(*literal.span("body"), literal["body"], is_printed)


def starts_of(source: str) -> list[int]:
    """Where each line begins."""
    return [0, *accumulate(len(line) + 1 for line in source.split("\n"))]


def shown(tree: ast.AST) -> Iterator[ast.expr]:
    """The literals that are printed."""
    for call in calls_of(tree, {"print"}):
        for argument in (*call.args, *named(call, {"sep", "end"})):
            yield from literals(argument)


def plotted(tree: ast.AST) -> Iterator[ast.expr]:
    """The literals that are written into a plot. Of a curve's, one says how its line looks."""
    for call in calls_of(tree, WRITES):
        texts = [] if called(call) == "plot" else call.args
        for argument in (*texts, *named(call, WRITTEN)):
            yield from literals(argument)


def calls_of(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and called(call) in names:
            yield call


def named(call: ast.Call, names: set[str]) -> Iterator[ast.expr]:
    return (keyword.value for keyword in call.keywords if keyword.arg in names)


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
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from literals(node.func.value) if node.func.attr in HANDS_ON else ()


def called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def exchanged(source: str, lookup: Lookup) -> str:
    """Code with its words in another language.

    >>> exchanged('print("sum", x)  # of a row', {"sum": "和", "of a row": "一行的"}.get)
    'print("和", x)  # 一行的'
    """
    for said in reversed(said_in(source)):
        source = source[: said.start] + lookup(said.message) + source[said.end :]
    return source


def translate(cell, lookup: Lookup) -> None:
    """Exchange the words of a cell's code, and of what it has printed."""
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = printed(output.text, cell.source, lookup)
    cell.source = exchanged(cell.source, lookup)


def printed(text: str, source: str, lookup: Lookup) -> str:
    """What a cell has printed, as its code prints it in another language.

    >>> words = {"rows": "行", "sum {x:.2f} of {n}": "{n} 个的和 {x:.2f}"}
    >>> printed("rows 3 sum 0.50 of 2", 'print("rows", 3, f"sum {x:.2f} of {n}")', words.get)
    '行 3 2 个的和 0.50'
    """
    messages = {said.message for said in said_in(source) if said.is_printed}
    # Those with the most words first: they may contain others.
    for message in sorted(messages, key=lambda message: -len(PLACEHOLDER.sub("", message))):
        text = exchange(text, message, lookup(message))
    return text


def exchange(text: str, english: str, chinese: str) -> str:
    """A printed text with what one message printed in it exchanged."""
    # A value at an edge stays where it is: nothing would say where it ends.
    for edge in (rf"^{PLACEHOLDER.pattern}", rf"{PLACEHOLDER.pattern}$"):
        own, other = re.search(edge, english), re.search(edge, chinese)
        if own and other and own[0] == other[0]:
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
