"""What a cell's code binds, read and never run.

A student's line may be as long as a cell, so no part of a pattern here may begin as the part before
it can go on: such a pattern would take the square of the length.
"""

from __future__ import annotations

import ast
import re
import warnings

LONGEST = 20_000  # characters of a cell that is parsed
IPYTHON = re.compile(r"^(\s*)(%{1,2}\w|!|\?|[\w.]+\?{1,2}\s*$).*")  # %time, !ls, table?
ASSIGNED = re.compile(r"^([\w,\s]+=\s*)[%!].*")  # files = !ls
# def first(…, second = 2: in a line, whether the cell is Python or not
BINDS = re.compile(
    r"^[^\S\n]*(?:(?:async[^\S\n]+)?(?:def|class)[^\S\n]+(\w+)|(\w+)[^\S\n]*[=:,])", re.MULTILINE
)


def parsed(source: str) -> ast.AST:
    """A cell's code, without what only IPython reads."""
    with warnings.catch_warnings(action="ignore"):  # Python's, which quote a student
        try:
            return ast.parse(source)
        except SyntaxError:
            lines = source.split("\n")
            if lines[0].startswith("%%"):  # %%time, say, above code
                lines[0] = ""
            return ast.parse("\n".join(map(python, lines)))


def python(line: str) -> str:
    """A line in which what only IPython reads does nothing: %matplotlib, !ls, table?

    By IPython's own hands that would be work without a bound, for a text that a student chose.
    """
    return IPYTHON.sub(r"\1pass", ASSIGNED.sub(r"\1None", line))


def defines(source: str) -> set[str]:
    """The names that a cell binds at its top level, however it does so."""
    if len(source) > LONGEST:
        return set()
    try:
        todo: list[ast.AST] = [parsed(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = set()
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return names


def would_define(source: str) -> set[str]:
    r"""The names that a cell seems to bind, be it Python or not, line by line.

    >>> sorted(would_define("def first[T](a):\n    return f'{a['b']}'\nsecond = 2"))
    ['first', 'second']
    """
    return {name for names in BINDS.findall(source) for name in names if name}


def broken_line(source: str) -> int:
    """The line at which Python gives up on a cell; 0 if it does not, or can't say where."""
    if len(source) > LONGEST:
        return 0
    try:
        parsed(source)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return 0
