"""Other work for the machine, beside a test."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

BUSY = "while True: pass"


@contextlib.contextmanager
def load(number: int = 4 * (os.cpu_count() or 1)) -> Iterator[None]:
    """So many processes that want a processor."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(number)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
