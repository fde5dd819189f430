"""Ctrl+C ends a command even where Python forgets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMPORTS_OURS = os.environ | {"PYTHONPATH": str(ROOT)}
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


HOLDS = """
import os, signal
from grading import interrupts

interrupts.listen()
try:
    with interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)
        print("whole", flush=True)
    print("not raised")
except KeyboardInterrupt:
    print("raised")
"""
FORKS = """
import multiprocessing, os, signal
from grading import interrupts

def forked(sent):
    interrupts.listen()  # a shell starts what runs in the background with Ctrl+C ignored
    os.kill(os.getpid(), signal.SIGINT)
    sent.send("out of reach")
    try:
        interrupts.reachable()
        signal.sigtimedwait([], 1)
        sent.send("not reached")
    except KeyboardInterrupt:
        sent.send("reached")

if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    interrupts.start_forkserver()
    heard, sent = context.Pipe(duplex=False)
    context.Process(target=forked, args=(sent,)).start()
    sent.close()
    print(heard.recv())
    print(heard.recv())
"""


def run(call):
    done = subprocess.run(
        [sys.executable, *call], cwd=ROOT, capture_output=True, text=True, env=IMPORTS_OURS
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def test_an_interrupt_while_a_process_is_started_is_raised_after_it():
    assert run(["-c", HOLDS]) == ["whole", "raised"]


def test_what_is_forked_is_out_of_reach_until_it_says_so(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS, encoding="utf-8")
    assert run([str(tmp_path / "forks.py")]) == ["out of reach", "reached"]
