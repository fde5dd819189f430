"""The form of the library's errors, as its source has them."""

from __future__ import annotations

import ast
from pathlib import Path


def test_every_message_says_must_and_got():
    """The form of an error: which argument, what it must be, what it was."""
    folder = Path(__file__).parents[2] / "attn_core"
    files = [path for path in folder.rglob("*.py") if "views" not in path.parts]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    raised = [
        node
        for node in nodes
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func) in ("ValueError", "TypeError")
    ]
    assert len(raised) > 40
    for node in raised:
        message = ast.unparse(node)
        assert " must " in message, message
        assert "got" in message, message
