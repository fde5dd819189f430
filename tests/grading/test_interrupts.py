"""Ctrl+C ends a command even where Python forgets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORGETS = """
import os, signal
from grading import interrupts

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        str(self)

interrupts.listen()
Finalized()
print("forgotten", flush=True)
try:
    interrupts.heed()
except KeyboardInterrupt:
    print("heeded")
"""


def test_an_interrupt_within_a_finalizer_is_heeded_later():
    call = [sys.executable, "-c", FORGETS]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert "Exception ignored" in done.stderr
    assert done.stdout.split() == ["forgotten", "heeded"]
