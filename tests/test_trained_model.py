"""Without the packages of the trained model its tests are skipped, with the names, and no other."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.conftest import ROOT

HIDE = """
import importlib.machinery, sys

class Hiding(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, *args):
        return None if name == "safetensors" else super().find_spec(name, *args)

sys.meta_path[:] = [Hiding if x is importlib.machinery.PathFinder else x for x in sys.meta_path]
"""
READS_IT = ["tests/attn_core/test_pretrained.py", "attn_core/pretrained.py"]
READS_IT += ["tests/attn_core/test_doctests.py", "tests/explorer/test_heads.py"]


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "hide.py").write_text(HIDE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "hide", "-p", "no:cacheprovider", "-q"]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [*command, *READS_IT, "-k", "pretrained or model or animal or package or softmax"],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    skipped = re.findall(r"^SKIPPED \[(\d+)\] (.*)$", done.stdout, re.MULTILINE)
    assert sum(int(count) for count, _ in skipped) >= 6
    assert {why.partition(": ")[2] for _, why in skipped} == {
        "the trained model needs what is missing: safetensors"
    }
    assert re.search(r"[1-9]\d* passed", done.stdout)
