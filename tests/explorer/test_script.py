"""The page's script: one module for notebooks, and classic scripts that a page loads as needed."""

import gzip
import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import trace
from attn_core.views import explore, script

MOST_BYTES = 20_000  # of what an ordinary page loads, compressed with gzip


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
    assert sizes["explorer.js"] < MOST_BYTES
    assert set(sizes) == {"explorer.js", *(f"explorer-{part}.js" for part in script.PARTS)}


def test_comments_are_for_people():
    """What looks like a comment is one: no text goes over the end of a line."""
    for name in script.order(*script.PARTS, *script.NOTEBOOK, "main", "box"):
        for line in script.read(name).splitlines():
            assert line.count("`") % 2 == 0, (name, line)
    assert "// One explorer: it holds the state" in script.read("explorer")
    shipped = script.module() + "".join(script.files().values())
    assert not re.search(r"^\s*//", shipped, re.MULTILINE)
    assert "http://" in script.COMMENT.sub("", 'const a = "http://";\n')


def test_no_name_stands_at_the_top_of_two_modules():
    top = re.compile(
        r"^(?:export )?(?:const|let|class|function|async function) (\w+)", re.MULTILINE
    )
    lists = re.compile(r"^(?:export )?(?:const|let) \[([^\]]+)\]", re.MULTILINE)
    where = {}
    for name in script.order(*script.PARTS, *script.NOTEBOOK, "main"):
        text = script.read(name)
        listed = [one.strip() for names in lists.findall(text) for one in names.split(",")]
        for each in [*top.findall(text), *listed]:
            assert each not in where, f"{each} stands in {where[each]} and in {name}"
            where[each] = name


def test_the_core_imports_from_no_part():
    core = set(script.order("main"))
    assert core.isdisjoint(script.PARTS)


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
    monkeypatch.setattr(script, "read", lambda n: read(n) + ("void 0;\n" if n == "map" else ""))
    assert script.files()["explorer.js"] != before


def test_a_module_with_an_import_cannot_be_classic():
    with pytest.raises(ValueError, match="cannot run this line of a module: import a"):
        script.classic('import a from "./a.js";\n')
