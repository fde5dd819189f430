"""Tests of what is not installed are skipped, and say what is missing; no other test is."""

from __future__ import annotations

import os
import re
import sys

import pytest

from tests import missing
from tests.conftest import ROOT
from tests.processes import ran

pytestmark = pytest.mark.gate

HIDE = """
import importlib.machinery, os, sys

class Hiding(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, *args):
        return None if name == os.environ["HIDDEN"] else super().find_spec(name, *args)

sys.meta_path[:] = [Hiding if x is importlib.machinery.PathFinder else x for x in sys.meta_path]
"""
READ_THE_MODEL = ["tests/attn_core/test_pretrained.py", "attn_core/pretrained"]
READ_THE_MODEL += ["tests/attn_core/test_doctests.py", "tests/explorer/test_heads.py"]
READ_THE_MODEL += ["-k", "pretrained or model or animal or package or softmax"]
NEED_TRITON = ["tests/triton/test_choosing.py", "attn_core/engines"]


@pytest.mark.parametrize(
    ("hidden", "asked", "reason"),
    [
        ("safetensors", READ_THE_MODEL, "the trained model needs what is missing: safetensors"),
        ("triton", NEED_TRITON, missing.TRITON),
    ],
)
def test_what_is_missing_is_said(tmp_path, hidden, asked, reason):
    (tmp_path / "hide.py").write_text(HIDE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "hide", "-p", "no:cacheprovider", "-q"]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(tmp_path), "HIDDEN": hidden}
    done = ran(*command, *asked, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout[-3000:]
    skipped = re.findall(r"^SKIPPED \[(\d+)\] (.*)$", done.stdout, re.MULTILINE)
    assert sum(int(count) for count, _ in skipped) >= 6
    assert {why.partition(": ")[2] for _, why in skipped} == {reason}
    assert re.search(r"[1-9]\d* passed", done.stdout)
