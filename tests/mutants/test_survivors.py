"""The changes that no test notices: each names code that exists, and the score counts them."""

import ast
import json

import pytest

from tools.mutants import LEAST, MODULES, ROOT
from tools.survivors import SCORE, TABLE, Survivor, changed, explained, named, per_cent, table

KNOWN = explained()
FILES = [module["file"] for module in MODULES.values()]


def functions(file: str) -> dict[str, str]:
    """The source of each function and method of a file, by its name: "Keep.tile"."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(text).body:
        parts = node.body if isinstance(node, ast.ClassDef) else [node]
        lead = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for part in parts:
            if isinstance(part, ast.FunctionDef):
                found[lead + part.name] = ast.get_source_segment(text, part)
    return found


def misplaced(survivor: Survivor) -> str | None:
    """Why this entry cannot be true."""
    file, _, name = survivor.function.partition(" ")
    if file not in FILES:
        return "its file is not changed by make mutants"
    source = functions(file).get(name)
    if source is None:
        return "its function is gone"
    lines = {line.strip() for line in source.splitlines()}
    if not set(survivor.was.splitlines()) <= lines:
        return "its line is gone"
    if survivor.now == survivor.was:
        return "it changes nothing"
    return None


@pytest.mark.parametrize("survivor", KNOWN, ids=lambda survivor: survivor.now)
def test_each_survivor_names_code_that_exists(survivor):
    assert misplaced(survivor) is None
    assert KNOWN[survivor].endswith("."), "the reason is a sentence"


def test_a_misplaced_survivor_is_seen():
    between, line = "attn_core/masks.py between", "start = min(max(first, 0), size)"
    assert misplaced(Survivor(between, line, "start = None")) is None
    assert misplaced(Survivor(between, "start = first", "start = None")) == "its line is gone"
    assert misplaced(Survivor(between, line, line)) == "it changes nothing"
    assert misplaced(Survivor("attn_core/masks.py gone", line, "")) == "its function is gone"
    assert "not changed" in misplaced(Survivor("attn_core/toy.py journey", line, ""))


def test_the_stored_score_counts_them():
    stored = json.loads(SCORE.read_text(encoding="utf-8"))
    assert {name: row["file"] for name, row in stored.items()} == {
        name: module["file"] for name, module in MODULES.items()
    }
    found = set()
    for row in stored.values():
        assert row["made"] == row["caught"] + len(row["survivors"]) == sum(row["ends"].values())
        found |= {Survivor(**survivor) for survivor in row["survivors"]}
    assert found == set(KNOWN)
    assert per_cent(stored.values()) >= LEAST


def test_the_table_is_that_of_the_stored_score():
    stored = json.loads(SCORE.read_text(encoding="utf-8"))
    assert TABLE.read_text(encoding="utf-8") == table(stored, KNOWN, FILES)


def test_the_table_names_what_was_not_measured():
    row = {"file": "attn_core/stages.py", "made": 8, "caught": 7, "date": "d", "survivors": []}
    lines = table({"stages": row}, {}, FILES).splitlines()
    assert "| `attn_core/stages.py` | 8 | 7 | 1 | 87.5 % | d |" in lines
    assert "| `attn_core/masks.py` | | | | not measured yet | |" in lines
    assert "| all | 8 | 7 | 1 | 87.5 % | |" in lines


def test_the_files_and_tests_exist():
    for module in MODULES.values():
        assert (ROOT / module["file"]).is_file()
        for test in module["tests"]:
            name, *parts = test.split("::")
            text = (ROOT / name).read_text(encoding="utf-8")
            assert all(f"def {part}(" in text or f"class {part}:" in text for part in parts)


def test_a_mutant_is_known_by_its_function_and_its_lines():
    assert named("attn_core.masks.xǁKeepǁtile__mutmut_3") == "Keep.tile"
    assert named("attn_core.masks.x_between__mutmut_12") == "between"
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n def f(x):\n-    return x + 1\n+    return x - 1\n"
    assert changed(diff) == ("return x + 1", "return x - 1")


def test_per_cent_weighs_files_by_their_changes():
    rows = [{"made": 10, "caught": 5}, {"made": 30, "caught": 30}]
    assert per_cent(rows) == 87.5
