"""The functions of a script, found and emptied. `make mutants ONLY=page` runs these tests first."""

import pytest

from checks.page_functions import emptied, functions, marked
from checks.page_score import ROOT, files

tree_sitter = pytest.importorskip("tree_sitter", reason="only `make mutants` installs it")

# A script, and by the name of each of its functions what is left of it.
CASES = {
    "function one() { return 1; }": {"one": "function one() {}"},
    "export async function one() { return 1; }": {"one": "export async function one() {}"},
    "const one = () => 1;": {"one": "const one = () => undefined;"},
    "const one = () => ({ a: 1 });": {"one": "const one = () => undefined;"},
    "parts.one = () => { go(); };": {"parts.one": "parts.one = () => {};"},
    "const all = { one: () => 1 };": {"all.one": "const all = { one: () => undefined };"},
    "all.map((each) => each + 1);": {},
    "const idle = () => {}; class A { b() { } }": {},
    'box.addEventListener("load", () => go());': {
        "on load": 'box.addEventListener("load", () => undefined);'
    },
    "class A { constructor() { this.b = 1; } }": {"A.constructor": "class A { constructor() {} }"},
    "class A extends B { constructor() { super(); this.b = 1; } }": {
        "A.constructor": "class A extends B { constructor() { super(...arguments); } }"
    },
    "class A { static b() { go(); } get c() { return 1; } }": {
        "A.static b": "class A { static b() {} get c() { return 1; } }",
        "A.get c": "class A { static b() { go(); } get c() {} }",
    },
    "class A { fade = () => { go(); }; }": {"A.fade": "class A { fade = () => {}; }"},
    "const a = '−'; function b() { return '×'; }": {"b": "const a = '−'; function b() {}"},
    "if (x) go(() => 1); else { const y = () => 1; } { const y = () => 2; }": {
        "y": "if (x) go(() => 1); else { const y = () => undefined; } { const y = () => 2; }",
        "y (2)": "if (x) go(() => 1); else { const y = () => 1; } { const y = () => undefined; }",
    },
}


@pytest.mark.parametrize("text", CASES)
def test_each_function_is_emptied(text):
    assert {function.name: emptied(text, function) for function in functions(text)} == CASES[text]


def test_a_text_that_is_no_script_is_refused():
    with pytest.raises(ValueError, match="must be JavaScript"):
        functions("const = 1;")


def test_marks_stand_before_all_that_a_function_does():
    text = "const one = (n) => () => n; class A extends B { constructor() { super(); } }"
    marks = {function: f"at({n})" for n, function in enumerate(functions(text))}
    assert marked(text, marks) == (
        "const one = (n) => (at(0), () => n); "
        "class A extends B { constructor() { at(1); super(); } }"
    )


@pytest.mark.parametrize("name", files())
def test_every_script_stays_a_script(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    all_functions = functions(text)
    assert len({function.name for function in all_functions}) == len(all_functions), (
        "a name is that of one function"
    )
    functions(marked(text, dict.fromkeys(all_functions, "at(1)")))
    for function in all_functions:
        assert len(functions(emptied(text, function))) < len(all_functions)
