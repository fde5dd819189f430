"""The functions of a script that have a name, and the script with one of them emptied.

A function has a name if it is declared, is a method, stands under a name (a variable, a property, a
field), or is a listener, which goes by its event: "on beforeprint". Callbacks are parts of the
function in which they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

DECLARED = ("function_declaration", "generator_function_declaration", "method_definition")
ASSIGNED = ("arrow_function", "function_expression", "generator_function")
# What a function can be given to, and the part of it that names the function.
NAMED_BY = {
    "variable_declarator": "name",
    "assignment_expression": "left",
    "pair": "key",
    "field_definition": "property",
}
# What a body may hold that does nothing.
NOTHING = ("", "undefined", "({})", "super(...arguments);")


@dataclass(frozen=True)
class Function:
    """A function's name, where its body stands in the text, and what stands there once emptied."""

    name: str  # "Print.static light", with what it stands in; a second of the same: "… (2)"
    start: int
    end: int
    nothing: str  # "{}", or "undefined" for an arrow's expression


@cache
def parser():
    import tree_sitter_javascript  # only `make mutants` installs it
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


def functions(text: str) -> list[Function]:
    """The functions of a script that do something, in the order of the text.

    >>> [one.name for one in functions("class A { static b() { this.c = () => 1; } }")]
    ['A.static b', 'A.static b.this.c']
    >>> [one.name for one in functions('addEventListener("load", () => go()); let a = () => {};')]
    ['on load']
    """
    data = text.encode()
    root = parser().parse(data).root_node
    if root.has_error:
        raise ValueError("the script must be JavaScript that tree-sitter can read")
    active: list[Function] = []

    def walk(node, path: tuple[str, ...]) -> None:
        name = name_of(node)
        if name:
            path = (*path, name)
        if name and node.type in (*DECLARED, *ASSIGNED) and not is_idle(body := body_of(node)):
            same = sum(function.name.partition(" (")[0] == ".".join(path) for function in active)
            active.append(
                Function(
                    ".".join(path) + (f" ({same + 1})" if same else ""),
                    len(data[: body.start_byte].decode()),
                    len(data[: body.end_byte].decode()),
                    nothing_for(node),
                )
            )
        for child in node.named_children:
            walk(child, path)

    walk(root, ())
    return active


def emptied(text: str, function: Function) -> str:
    """
    >>> text = "const two = () => 2;"
    >>> emptied(text, *functions(text))
    'const two = () => undefined;'
    """
    return text[: function.start] + function.nothing + text[function.end :]


def marked(text: str, statements: dict[Function, str]) -> str:
    """The text in which each function first runs a statement, an expression without semicolon.

    >>> text = "const two = () => 2; function one() { return 1; }"
    >>> marked(text, {one: f"say('{one.name}')" for one in functions(text)})
    "const two = () => (say('two'), 2); function one() { say('one'); return 1; }"
    """
    parts = []
    for function, statement in statements.items():
        if function.nothing.startswith("{"):
            parts.append((function.start + 1, f" {statement};"))
        else:
            parts += [(function.start, f"({statement}, "), (function.end, ")")]
    # Of two that end at the same place, the order does not matter: both are brackets.
    for place, part in sorted(parts, key=lambda part: part[0], reverse=True):
        text = text[:place] + part + text[place:]
    return text


def name_of(node) -> str:
    """The name under which a class, an object or a function stands; "" for all else."""
    if node.type == "class_declaration":
        return written(node, "name")
    if node.type == "method_definition":
        kinds = [part.type for part in node.children if part.type in ("static", "get", "set")]
        return " ".join([*kinds, written(node, "name")])
    if node.type in DECLARED:
        return written(node, "name")
    if node.type not in (*ASSIGNED, "object"):
        return ""
    above = node.parent
    if above.type in NAMED_BY:
        return written(above, NAMED_BY[above.type])
    if above.type != "arguments" or above.parent.type != "call_expression":
        return ""
    if written(above.parent, "function").rpartition(".")[2] != "addEventListener":
        return ""
    return "on " + above.named_children[0].text.decode().strip('"')


def written(node, field: str) -> str:
    return node.child_by_field_name(field).text.decode()


def body_of(node):
    return node.child_by_field_name("body")


def is_idle(body) -> bool:
    text = body.text.decode()
    return (text[1:-1] if body.type == "statement_block" else text).strip() in NOTHING


def nothing_for(node) -> str:
    if body_of(node).type != "statement_block":
        return "undefined"
    heritage = node.parent.parent.named_children if node.type == "method_definition" else ()
    derives = any(part.type == "class_heritage" for part in heritage)
    if derives and written(node, "name") == "constructor":
        return "{ super(...arguments); }"
    return "{}"
