"""The list of operations as the page has it, from that of attn_core.steps.

    python -m generate.operations    # writes it again, after the list has changed

What each operation takes, and which module of the page exports it: the one with the name of its
module in Python, by its own name in camel case. A test compares what is stored with the list.
"""

import json
from collections import defaultdict
from dataclasses import fields, replace
from pathlib import Path

from attn_core.steps.changes import KINDS
from attn_core.steps.operation import Backward, Operation, Parameter, Setting
from attn_core.steps.operations import OPERATIONS
from attn_core.steps.operations.leaves import WORDS
from attn_core.views.model_payload import MOST_LONGEST

MODEL = Path(__file__).parents[1] / "attn_core" / "views" / "page" / "core" / "model"
DECLARED, LIST = MODEL / "declared.js", MODEL / "operations" / "list.js"
BACKWARD_LIST = MODEL / "backward" / "operations" / "list.js"
LIST_HEAD = """\
// The operations by their names in a program. Not to be changed by hand:
// python -m generate.operations writes it.

"""
BACKWARD_HEAD = """\
// The backward pass of each operation, and what else a backward pass needs, by its name. Not to be
// changed by hand: python -m generate.operations writes it.

"""
HEAD = """\
// What each operation takes, as attn_core/steps/operations lists it. Not to be changed by hand:
// python -m generate.operations writes it.

/**
 * kind: "number", "whole", "flag", "choice", "mask" or "text"; without a default a step must have
 * it; one that is a switch is never in a program.
 *
 * @typedef {object} Setting
 * @property {string} kind
 * @property {any} [default]
 * @property {number} [least]
 * @property {string[]} [choices]
 * @property {boolean} [is_switch]
 *
 * shape: sizes with a space between: E, the columns of what goes in (of words: how many there
 * are), a part of them as E/3, and other letters for sizes that the weight decides.
 * turned_by: the flag with which the weight is kept the other way round.
 * unless: the setting, and its value, with which a step has no such weight.
 *
 * @typedef {object} Parameter
 * @property {string} shape
 * @property {string} [turned_by]
 * @property {boolean} [is_optional]
 * @property {[string, string]} [unless]
 *
 * @typedef {object} Declared
 * @property {[number, number | null]} takes the least and the most inputs; null: any number
 * @property {string[]} stages the arrays that it makes, its output last
 * @property {string[]} statistics of each row, one number each
 * @property {Record<string, Parameter>} parameters
 * @property {Record<string, Setting>} settings
 * @property {Record<string, Record<string, any> | null>} switches what a change sets; null: one
 * head at a time
 * @property {Backward} [backward]
 *
 * inputs: for each input the stage of the backward step that is its gradient, counted where there
 * may be any number of inputs; null: it has none. stages: what is computed before these.
 * statistics: numbers of each row. reads: what it takes of the forward step, "inputs" and stages.
 *
 * @typedef {object} Backward
 * @property {(string | null)[]} inputs
 * @property {string[]} stages
 * @property {string[]} statistics
 * @property {string[]} reads
 */

"""


# What the page does not get.
OF_PYTHON = {"name", "formula", "line", "label", "is_on_page", "backward", "of"}
# Where a backward pass starts, and where gradients are added up: steps of no operation.
OF_BACKWARD = {"itself": "start", "sum": "start"}
USUAL = replace(WORDS, takes=(1, 1), settings={})


def said(thing: Operation | Setting | Parameter | Backward, usual: object | None = None) -> dict:
    """The fields that a page gets, those that differ from the usual ones, as JSON can hold them."""
    values = {
        field.name: getattr(thing, field.name)
        for field in fields(thing)
        if field.name not in OF_PYTHON
    }
    return {
        name: value
        for name, value in values.items()
        if usual is None or value != getattr(usual, name)
    }


def declared(operation: Operation) -> dict:
    """An entry as the page has it."""
    entry = said(operation, USUAL)
    for name, usual in (("settings", Setting("")), ("parameters", Parameter(""))):
        if name in entry:
            entry[name] = {key: said(value, usual) for key, value in entry[name].items()}
    if isinstance(operation.backward, Backward):
        entry["backward"] = said(operation.backward)
    return entry


def exported(name: str) -> str:
    """The name by which the page's module exports an operation.

    >>> exported("add_positions")
    'addPositions'
    """
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def list_text(head: str, modules: dict[str, str], typed: str, name: str) -> str:
    """What imports each of the operations, said with its module, and names it."""
    of_modules = defaultdict(list)
    for operation, module in modules.items():
        of_modules[module].append(exported(operation))
    imports = (
        f'import {{ {", ".join(sorted(of))} }} from "./{module}.js";\n'
        for module, of in sorted(of_modules.items())
    )
    entries = (
        f"  {operation},\n"
        if operation == exported(operation)
        else f"  {operation}: {exported(operation)},\n"
        for operation in modules
    )
    return (
        f"{head}{''.join(imports)}\n"
        f'/** @type {{Record<string, import("./operation.js").{typed}>}} */\n'
        f"export const {name} = {{\n{''.join(entries)}}};\n"
    )


def declared_text() -> str:
    entries = (
        f"  {name}: {{ ...USUAL, {json.dumps(declared(operation))[1:-1]} }},\n"
        for name, operation in OPERATIONS.items()
        if operation.is_on_page
    )
    return (
        f"{HEAD}/** @type {{Declared}} */\nconst USUAL = {json.dumps(said(USUAL))};\n\n"
        "/** @type {Record<string, Declared>} */\n"
        f"export const DECLARED = {{\n{''.join(entries)}}};\n\n".replace("USUAL,  }", "USUAL }")
        + "/** The kinds of change, in the order in which an address has them. */\n"
        f"export const KINDS = /** @type {{const}} */ ({json.dumps(KINDS)});\n\n"
        "/** Words of a sentence: an attention has that many rows and columns. */\n"
        f"export const MOST_LONGEST = {MOST_LONGEST};\n"
    )


def texts() -> dict[Path, str]:
    """The three files."""
    modules = {
        name: operation.formula.__module__.rpartition(".")[2]
        for name, operation in OPERATIONS.items()
        if operation.is_on_page
    }
    backward = {
        name: module
        for name, module in modules.items()
        if isinstance(OPERATIONS[name].backward, Backward)
    }
    return {
        DECLARED: declared_text(),
        LIST: list_text(LIST_HEAD, modules, "Operation", "OPERATIONS"),
        BACKWARD_LIST: list_text(BACKWARD_HEAD, backward | OF_BACKWARD, "Backward", "BACKWARD"),
    }


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
