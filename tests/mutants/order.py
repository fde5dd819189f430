"""A pytest plugin for `make mutants`, which asks only whether a test fails: quick tests first."""

import json
from pathlib import Path

from hypothesis import Phase, settings

# mutmut measures how long each test takes before it changes anything.
STATS = Path("mutmut-stats.json")


def pytest_collection_modifyitems(items):
    if STATS.exists():
        took = json.loads(STATS.read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: took.get(item.nodeid, 0.0))
    # Here, and not when pytest starts: tests/attn_core/conftest.py loads its own profile. Without
    # the search for the smallest case that fails.
    drawn = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", settings(), phases=drawn)
    settings.load_profile("mutants")
