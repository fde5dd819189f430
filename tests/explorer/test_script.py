"""The page's script: one module for notebooks, and classic scripts that a page loads as needed."""

import gzip
import hashlib
import re

import pytest
import torch
from playwright.sync_api import expect

from attn_core import trace
from attn_core.views import explore, script
from benchmarks.page import MOST_SCRIPT
from tests.page_modules import PARTS, order, read


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
    parts = {*PARTS, "language-worker", "training-worker"}
    assert set(sizes) == {"explorer.js", *(f"explorer-{part}.js" for part in parts)}


SAID = re.compile(r'\bsay(?:Parts)?\((?:[^"(),`]*\? )?"(\w+)"(?: : "(\w+)")?')
PHRASE = re.compile(r"^\s+(\w+):", re.MULTILINE)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_the_words_that_it_says(part):
    """Its own, or the core's: another part may not be loaded."""
    core, own = order("main"), order(PARTS[part])
    known = {key for name in {*core, *own} for key in PHRASE.findall(read(name))}
    said = {
        key for name in own if name not in core for keys in SAID.findall(read(name)) for key in keys
    }
    assert said - known <= {""}


def test_the_core_imports_from_no_part():
    core = set(order("main"))
    assert core.isdisjoint(PARTS.values())


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


def test_a_changed_part_changes_the_core():
    core, *_ = files = script.files()
    parts = "".join(files[f"explorer-{part}.js"] for part in PARTS)
    assert hashlib.sha256(parts.encode()).hexdigest()[:12] in files[core]
