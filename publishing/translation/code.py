"""The words in a notebook's code, as messages: its comments, what it prints and what it writes into
a plot. Names and data stay as they are.

A printed message is written as in the code, with its placeholders: `sum {total:.4f}`. Words that
the code keeps before it prints them are in `labels.py`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator
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


def said_in(source: str, labels: Collection[str] = ()) -> list[Said]:
    """What a reader of this code is told in words, in its order.

    labels: strings that are words wherever they are found.

    >>> code = 'print("sum", f"{x:.2f} of {name}")  # of the row'
    >>> [said.message for said in said_in(code)]
    ['sum', '{x:.2f} of {name}', 'of the row']
    >>> [said.message for said in said_in('axes.set(xlabel="key", ylim=(0, 1), color="red")')]
    ['key']
    >>> [said.message for said in said_in('for name in ("all", "k"): print(name)', {"all"})]
    ['all']
    """
    python = without_magic(source)
    tree = ast.parse(python)
    spoken = literals_at((*shown(tree), *plotted(tree)), python)
    kept = (said for said in literals_at(strings(tree), python) if said.message in labels)
    found = sorted({*comments(python), *spoken, *kept}, key=lambda said: said.start)
    return [said for said in found if has_words(PLACEHOLDER.sub(" ", said.message))]


def without_magic(source: str) -> str:
    """The same, of the same length, with a number in the place of each line that is not Python."""
    return MAGIC.sub(lambda line: line[1] + "0".ljust(len(line[2])), source)


def strings(tree: ast.AST) -> Iterator[ast.expr]:
    """All literals but the parts of an f-string: before 3.12, Python gives these a wrong place."""
    parts = {id(part) for node in ast.walk(tree) if is_filled(node) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if is_filled(node) or (is_string(node) and id(node) not in parts):
            yield node


def is_filled(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr)


def is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def comments(source: str) -> Iterator[Said]:
    starts = starts_of(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not TOOLS.match(token.string):
            bare = token.string.lstrip("# ")
            end = starts[token.end[0] - 1] + token.end[1]
            yield Said(end - len(bare), end, bare)


def literals_at(nodes: Iterable[ast.expr], source: str) -> Iterator[Said]:
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
            yield Said(*literal.span("body"), literal["body"])


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
    if is_filled(node) or is_string(node):
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


def exchanged(source: str, lookup: Lookup, labels: Collection[str] = ()) -> str:
    """Code with its words in another language.

    >>> exchanged('print("sum", x)  # of a row', {"sum": "和", "of a row": "一行的"}.get)
    'print("和", x)  # 一行的'
    """
    for said in reversed(said_in(source, labels)):
        source = source[: said.start] + lookup(said.message) + source[said.end :]
    return source


def tree_of(source: str) -> str:
    """What code does, whatever its comments and its layout are.

    >>> tree_of("print(1)  # a row") == tree_of("print( 1 )")
    True
    """
    return ast.dump(ast.parse(without_magic(source)))
