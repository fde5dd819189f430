"""The page's core, run by node without a browser; its vectors are what attn_core gives today."""

import json
import math
import re

from tools import node, page_vectors

TESTS = "attn_core/views/page/test/*.test.js"


def test_node_finds_the_core_right():
    done = node.run("node", "--test", TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"\btests (\d+)", done.stdout)[1]) > 20


def same(stored, made, place=""):
    """The first place where two trees differ, beyond the rounding of a processor; or ""."""
    if isinstance(stored, dict) and isinstance(made, dict) and stored.keys() == made.keys():
        pairs = [(key, stored[key], made[key]) for key in stored]
    elif isinstance(stored, list) and isinstance(made, list) and len(stored) == len(made):
        pairs = [(n, *pair) for n, pair in enumerate(zip(stored, made, strict=True))]
    elif isinstance(stored, float) and isinstance(made, float):
        return "" if math.isclose(stored, made, rel_tol=1e-6, abs_tol=1e-9) else place
    else:
        return "" if stored == made else place
    return next((where for key, *pair in pairs if (where := same(*pair, f"{place} {key}"))), "")


def test_the_vectors_are_those_of_attn_core():
    stored = json.loads(page_vectors.STORED.read_text(encoding="utf-8"))
    where = same(stored, json.loads(page_vectors.text()))
    assert not where, f"python -m tools.page_vectors writes these again:{where}"


def test_a_difference_is_found():
    assert same({"a": [1.0, "b"]}, {"a": [1.0 + 1e-12, "b"]}) == ""
    assert same({"a": [1.0, "b"]}, {"a": [1.1, "b"]}) == " a 0"
    assert same({"a": [1.0]}, {"a": [1.0, 2.0]}) == " a"


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
