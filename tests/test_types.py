"""`make lint` asks mypy, and mypy knows the library's types."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import ran

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_a_wrong_type_is_seen(tmp_path):
    code = tmp_path / "wrong.py"
    code.write_text(
        "from attn_core import causal\n\nfirst: str = causal().after\n", encoding="utf-8"
    )
    done = ran(sys.executable, "-m", "mypy", code, cwd=ROOT)
    assert 'has type "int | None", variable has type "str"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout


def test_lint_asks_it():
    done = ran("make", "--dry-run", "lint", cwd=ROOT)
    assert ".venv/bin/mypy" in done.stdout.splitlines()
