"""The page's core, run by node without a browser; its vectors are what attn_core gives today."""

import json
import re
from dataclasses import fields

import pytest

from attn_core.call import Call
from attn_core.masks import Keep
from generate import page_vectors
from machine import node
from publishing.notebooks.outputs import vectors_differ
from publishing.translation.scripts import literals
from tests.explorer.cases import random_record

TESTS = "attn_core/views/page/test/*.test.js"


def test_node_finds_the_core_right():
    done = node.run("node", "--test", TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"\btests (\d+)", done.stdout)[1]) > 20


def test_what_a_browser_loads_is_bundled_of_the_modules(tmp_path):
    if not all((node.ROOT / "node_modules" / of).is_dir() for of in ("esbuild", "assemblyscript")):
        pytest.skip("`make script` and `make lint` install esbuild and AssemblyScript")
    done = node.run("node", "generate/bundle.js", str(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for folder in ("attn_core/views/built", "publishing/site/built"):
        stored, made = (
            {path.name: path.read_text("utf-8") for path in (root / folder).iterdir()}
            for root in (node.ROOT, tmp_path)
        )
        assert stored == made, "`make script` bundles them again"


def test_the_bundle_has_the_words_of_the_answer_field_as_its_source_has():
    """Or they would not be exchanged for Chinese ones."""
    source, bundle = (
        set(literals((node.ROOT / "publishing/site" / file).read_text("utf-8")))
        for file in ("answer.js", "built/answer.js")
    )
    assert source == bundle
    assert len(source) > 10


def test_the_vectors_are_those_of_attn_core():
    wrong = vectors_differ(page_vectors.STORED, page_vectors.text())
    assert not wrong, f"python -m generate.page_vectors writes these again: {wrong}"


RECORDS = {
    "the vectors": lambda: page_vectors.records().values(),
    "three browsers": lambda: map(random_record, range(120)),
}


@pytest.mark.parametrize("records", RECORDS.values(), ids=RECORDS)
def test_the_page_is_asked_about_each_setting_of_a_call_and_each_field_of_a_mask(records):
    """One that the page does not know must not be missing where page and attn_core are compared."""
    settings = {field.name for field in fields(Call)} - {"q", "k", "v", "lead"}
    wanted = settings | {field.name for field in fields(Keep)} | {"shared keys"}
    asked = set()
    for record in records():
        plain = Call.of(record.q, record.k, record.v)
        for name in settings:
            value, usual = getattr(record, name), getattr(plain, name)
            if value is not None and (usual is None or value != usual):
                asked.add(name)
        asked |= {
            field.name
            for field in fields(Keep)
            if getattr(record.keep, field.name, None) is not None
        }
        asked |= {"shared keys"} if record.group > 1 else set()
    assert asked == wanted


def test_the_lock_file_has_every_platform():
    """A registry that lacks some gives a lock file that installs here and nowhere else."""
    wanted = json.loads((node.ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    packages = json.loads((node.ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    locked = {
        name.removeprefix("node_modules/"): package for name, package in packages.items() if name
    }
    assert {name: locked[name]["version"] for name in wanted} == wanted
    for name, package in locked.items():
        assert package.get("optionalDependencies", {}).keys() <= locked.keys(), name
        assert package["integrity"].startswith("sha512-")
