"""How long the tests wait: until what they wait for is there (a pytest plugin).

A machine may be busy, so no test asks for a time. Each wait has a bound all the same, long enough
to mean that something hangs. Who works on a page and wants to see a red test sooner sets
PATIENCE=10 in the environment.
"""

from __future__ import annotations

import os

# Seconds for what a page does, and for a process that starts: an import of torch, a kernel.
PATIENCE = float(os.environ.get("PATIENCE", "120"))
TO_START = 600


def pytest_configure(config):
    """The same examples on every run, no database beside the project, and no clock."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "book",
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=100,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("book")
