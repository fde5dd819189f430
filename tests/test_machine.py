"""What the tests say of the machine: every version, and what is missing by its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

from machine import inventory, load


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    def none(name):
        raise PackageNotFoundError(name)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inventory, "version", none)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("BOOK_BROWSER", "/nowhere")
    monkeypatch.setitem(sys.modules, "torch", None)
    ran, missing = inventory.sentence().splitlines()
    assert ran == f"Ran with Python {sys.version.split()[0]}, on {os.cpu_count()} processors."
    assert missing == (
        "Missing: the environment of grading, torch, a GPU, Triton, the model of chapters 08 and "
        "10, the language model, its tokenizer, Chromium, Firefox, WebKit, bubblewrap, Node."
    )


def test_the_load_ends_with_what_it_stood_beside():
    import psutil

    def started():
        children = psutil.Process().children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]

    with load.busy(2):
        while len(workers := started()) < 2:
            os.sched_yield()  # a process has its command a moment after its start
    assert not any(worker.is_running() for worker in workers)


def test_the_load_ends_when_its_parent_is_gone():
    """It computes for the process with this id alone, which is not the parent here."""
    code = "from machine import load; load.work(parent=1)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
