"""The vectors of the page's model are what attn_core.steps gives today."""

import json

from attn_core.steps.operations import OPERATIONS
from tools import model_vectors, page_vectors
from tools.outputs import json_differs


def test_the_vectors_are_those_of_attn_core():
    stored = json.loads(model_vectors.STORED.read_text(encoding="utf-8"))
    wrong = json_differs(
        stored, json.loads(model_vectors.text()), "vectors", room=page_vectors.ROOM
    )
    assert not wrong, f"python -m tools.model_vectors writes these again: {wrong}"


def test_every_operation_of_a_page_is_in_them():
    stored = json.loads(model_vectors.STORED.read_text(encoding="utf-8"))
    used = {step["operation"] for model in stored.values() for step in model["program"]["steps"]}
    of_python = {"given", "add_row", "gelu"}  # of layers alone, and of MiniLM
    assert used == OPERATIONS.keys() - of_python
