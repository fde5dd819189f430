"""The page's script: one module for notebooks, and classic scripts that a page loads as needed."""

import gzip
import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import trace
from attn_core.views import explore, script
from benchmarks.page import MOST_SCRIPT


def asked_scripts(bare):
    return [url.rpartition("/")[2] for url in bare.asked if url.partition("?")[0].endswith(".js")]


def square(size):
    x = torch.randn(size, 3, generator=torch.Generator().manual_seed(size))
    return trace(x, x, x)


def test_the_sizes_of_the_scripts(record_property):
    files = script.files()
    sizes = {name: len(gzip.compress(text.encode(), mtime=0)) for name, text in files.items()}
    said = ", ".join(f"{name} {size:,} B" for name, size in sizes.items())
    record_property("summary", f"scripts, gzip: {said}")
    assert sizes["explorer.js"] < MOST_SCRIPT
    assert set(sizes) == {"explorer.js", *(f"explorer-{part}.js" for part in script.PARTS)}


EVERY = (*script.PARTS.values(), *script.NOTEBOOK, script.CORE, script.BOX)


def test_no_text_goes_over_the_end_of_a_line():
    """So that an empty line, or one that looks like an import, is what it looks like."""
    for name in script.order(*EVERY):
        for line in script.read(name).splitlines():
            assert line.count("`") % 2 == 0, (name, line)


def test_comments_are_for_people():
    assert "// One explorer: it holds the state" in script.read("explorer")
    shipped = script.module() + "".join(script.files().values())
    assert not re.search(r"^\s*(//|/?\*)", shipped, re.MULTILINE)


COMMENTED = {
    "const a = 1; // one\n": "const a = 1;\n",
    "/** One.\n *\n * @type {number} */\nconst a = 1;\n": "const a = 1;\n",
    "f(/* what */ 1);\n": "f( 1);\n",
    "const a = 6 / 3 / 2; // 1\n": "const a = 6 / 3 / 2;\n",
    "go( // one\n  2, /* two */\n);\n": "go(\n  2,\n);\n",
}
SAME = [
    'const a = "http://";',
    "const a = 'it is \\'//\\'';",
    "const a = `//${b}/* */`;",
    "const a = /\\/\\/|[/*]/.test(b);",
    'const a = b.split(/[//]/).map((part) => /"/.exec(part));',
    "const a = (b) => { return /'/.test(b); };",
    "go(\n  /'/,\n  \"'\",\n);",
]


@pytest.mark.parametrize("text", [*COMMENTED, *SAME])
def test_what_only_looks_like_a_comment_stays(text):
    assert script.bare(text) == COMMENTED.get(text, text)


def run(monkeypatch, page, modules):
    """What the module "a" of these exports, joined, as a page without any module runs it."""
    monkeypatch.setattr(script, "read", modules.__getitem__)
    told = "window.told = { ...modules.a };\n"
    page.evaluate(script.classic(script.joined(script.order("a")) + told))
    return page.evaluate("told")


def test_each_module_has_a_scope_of_its_own(monkeypatch, inside):
    exports = run(
        monkeypatch,
        inside,
        {
            "a": """import {
  one as first, // of b
  two,
} from "./folder/b.js";
import "./none.js";
const one = 1;
export const sum = one + first + two();
export function name() {}
export class Made {}
export default { sum };
""",
            "folder/b": """import { two as deep } from "../c.js";
export const one = 10;
export async function three() {}
export const two = () => deep;
""",
            "c": "const one = 5;\nexport const two = 100 * one;\n",
            "none": "window.wasRun = true;\n",
        },
    )
    assert exports["sum"] == 511
    assert exports["default"] == {"sum": 511}
    assert list(exports) == ["sum", "name", "Made", "default"]
    assert inside.evaluate("wasRun")


def test_modules_that_import_each_other_are_refused(monkeypatch):
    modules = {"a": 'import { b } from "./b.js";\n', "b": 'import { a } from "./a.js";\n'}
    monkeypatch.setattr(script, "read", modules.__getitem__)
    with pytest.raises(ValueError, match="modules import each other: a → b → a"):
        script.order("a")


@pytest.mark.parametrize(
    "line",
    [
        'import a from "./a.js";',
        'import * as a from "./a.js";',
        "export { a };",
        "export let a = 1;",
    ],
)
def test_what_cannot_be_joined_is_refused(monkeypatch, line):
    monkeypatch.setattr(script, "read", {"a": f"const b = 1;\n{line}\n"}.__getitem__)
    with pytest.raises(ValueError, match=r"a.js has a line that cannot be joined: (import|export)"):
        script.joined(["a"])


def test_a_module_of_several_parts_runs_once(monkeypatch, inside):
    monkeypatch.setattr(script, "read", {"a": "window.runs = (window.runs ?? 0) + 1;\n"}.get)
    inside.evaluate(script.classic(script.joined(["a", "a"])))
    assert inside.evaluate("runs") == 1


SAID = re.compile(r'\bsay(?:Parts)?\((?:[^"(),`]*\? )?"(\w+)"(?: : "(\w+)")?')
PHRASE = re.compile(r"^\s+(\w+):", re.MULTILINE)


@pytest.mark.parametrize("part", script.PARTS)
def test_a_part_has_the_words_that_it_says(part):
    """Its own, or the core's: another part may not be loaded."""
    core, own = script.order(script.CORE), script.order(script.PARTS[part])
    known = {key for name in {*core, *own} for key in PHRASE.findall(script.read(name))}
    said = {
        key
        for name in own
        if name not in core
        for keys in SAID.findall(script.bare(script.read(name)))
        for key in keys
    }
    assert said - known <= {""}


def test_the_core_imports_from_no_part():
    core = set(script.order(script.CORE))
    assert core.isdisjoint(script.PARTS.values())


@pytest.mark.parametrize("over", ["http", "file"])
def test_a_page_loads_the_map_only_for_a_long_matrix(bare, over):
    page = bare.open(explore(square(24), name="short"), over=over, script="classic")
    expect(page.locator(".ax-grid td").first).to_be_visible()
    assert asked_scripts(bare) == ["explorer.js"]
    long = [explore(square(25), name="long"), explore(square(40), name="longer")]
    page = bare.open(*long, over=over, script="classic")
    expect(page.locator("canvas.ax-canvas")).to_have_count(2)
    assert asked_scripts(bare) == ["explorer.js", "explorer.js", "explorer-map.js"]


def test_a_part_that_cannot_be_read_is_said_in_a_sentence(bare, bare_folder):
    path = bare_folder[0] / "classic" / "explorer-map.js"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    try:
        page = bare.open(explore(square(33), name="lost"), over="file")
        said = "This explorer cannot start: its script explorer-map.js cannot be read."
        expect(page.locator(".ax-notice")).to_have_text(said)
        expect(page.locator("table").first).to_be_visible()
    finally:
        path.write_text(text, encoding="utf-8")
    assert bare.heard
    assert all("ERR_FILE_NOT_FOUND" in line for line in bare.heard)
    bare.heard.clear()


def test_a_changed_part_changes_the_core(monkeypatch):
    before = script.files()["explorer.js"]
    read = script.read
    monkeypatch.setattr(
        script, "read", lambda n: read(n) + ("void 0;\n" if n == "features/map" else "")
    )
    assert script.files()["explorer.js"] != before
