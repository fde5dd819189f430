"""The vectors of the page's model are what attn_core.steps gives today."""

import json

from attn_core.steps.operations import OPERATIONS
from tests.test_page_core import same
from tools import model_vectors


def test_the_vectors_are_those_of_attn_core():
    stored = json.loads(model_vectors.STORED.read_text(encoding="utf-8"))
    where = same(stored, json.loads(model_vectors.text()))
    assert not where, f"python -m tools.model_vectors writes these again:{where}"


def test_every_operation_of_a_page_is_in_them():
    stored = json.loads(model_vectors.STORED.read_text(encoding="utf-8"))
    used = {step["operation"] for model in stored.values() for step in model["program"]["steps"]}
    of_python = {"given", "add_row", "gelu"}  # of layers alone, and of MiniLM
    assert used == OPERATIONS.keys() - of_python
