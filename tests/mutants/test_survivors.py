"""The changes that no test notices: each has its reason, and the score counts them."""

import json

from checks.mutants import LEAST, MODULES, ROOT, end_of
from checks.survivors import SCORE, TABLE, Survivor, changed, explained, named, per_cent, table

KNOWN = explained()
FILES = [module["file"] for module in MODULES.values()]


def test_each_survivor_has_a_reason():
    for survivor, reason in KNOWN.items():
        assert survivor.function.split()[0] in FILES
        assert survivor.now != survivor.was
        assert reason.endswith("."), "the reason is a sentence"


def test_the_stored_score_counts_them():
    stored = json.loads(SCORE.read_text(encoding="utf-8"))
    assert all(MODULES[name]["file"] == row["file"] for name, row in stored.items())
    survivors = set()
    for row in stored.values():
        assert row["made"] == row["caught"] + len(row["survivors"]) == sum(row["ends"].values())
        survivors |= {Survivor(**survivor) for survivor in row["survivors"]}
    assert survivors == set(KNOWN)
    assert per_cent(stored.values()) >= LEAST


def test_the_table_is_that_of_the_stored_score():
    stored = json.loads(SCORE.read_text(encoding="utf-8"))
    assert TABLE.read_text(encoding="utf-8") == table(stored, KNOWN, FILES)


def test_the_table_names_what_was_not_measured():
    row = {"file": "attn_core/stages.py", "made": 8, "caught": 7, "date": "d", "survivors": []}
    lines = table({"stages": row}, {}, FILES).splitlines()
    assert "| `attn_core/stages.py` | 8 | 7 | 1 | 87.5 % | d |" in lines
    (waiting,) = [line for line in lines if line.endswith("| | | | not measured yet | |")]
    assert "`attn_core/masks.py`, " in waiting
    assert "| all that were measured | 8 | 7 | 1 | 87.5 % | |" in lines


def test_the_files_and_tests_exist():
    for module in MODULES.values():
        assert (ROOT / module["file"]).is_file()
        for test in module["tests"]:
            name, *parts = test.split("::")
            text = (ROOT / name).read_text(encoding="utf-8")
            assert all(f"def {part}(" in text or f"class {part}:" in text for part in parts)


def test_the_page_names_the_files_that_are_not_changed():
    page = (ROOT / "book/mutants.md").read_text(encoding="utf-8")
    for path in ROOT.glob("attn_core/**/*.py"):
        file = path.relative_to(ROOT)
        names = [
            file.relative_to("attn_core").as_posix(),
            *(f"{p.as_posix()}/" for p in file.parents),
        ]
        is_named = any(f"`{name}`" in page for name in names)
        if path.name != "__init__.py":
            assert is_named != (file.as_posix() in FILES), file


def test_a_mutant_is_known_by_its_function_and_its_lines():
    assert named("attn_core.masks.xǁKeepǁtile__mutmut_3") == "Keep.tile"
    assert named("attn_core.masks.x_between__mutmut_12") == "between"
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n def f(x):\n-    return x + 1\n+    return x - 1\n"
    assert changed(diff) == ("return x + 1", "return x - 1")


def test_a_mutant_whose_tests_did_not_begin_is_not_noticed():
    assert end_of(255) == "not checked"


def test_per_cent_weighs_files_by_their_changes():
    rows = [{"made": 10, "caught": 5}, {"made": 30, "caught": 30}]
    assert per_cent(rows) == 87.5
