"""Find a Chromium or Chrome for the tests, or get one: prints the path of its program.

    python -m tools.browser

Order: the variable BOOK_BROWSER, a program on PATH, one that Playwright has. If there is none:
`playwright install chromium`, then Debian's package when the user may install it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

LONGEST_TRY = 300  # seconds

# No browser service may call home: the tests assert that no request leaves the machine.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def present() -> str | None:
    """The path of a browser that is already there, or None."""
    named = os.environ.get("BOOK_BROWSER")
    if named:
        if not Path(named).is_file():
            sys.exit(f"BOOK_BROWSER must be the path of a browser's program, got {named!r}")
        return named
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    if Path(MAC).is_file():
        return MAC
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install() -> None:
    """Try the ordinary ways to get a browser. Each may fail; `present` tells afterwards."""
    ways = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        ways.append([["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]])
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for way in ways:
        for command in way:
            print("no browser yet, trying:", " ".join(command), file=sys.stderr)
            if not succeeds(command, environment):
                break
        if present():
            return


def succeeds(command: list[str], environment: dict[str, str]) -> bool:
    """Whether it worked; a download that hangs counts as one that failed."""
    try:
        done = subprocess.run(
            command,
            stdout=sys.stderr,
            stdin=subprocess.DEVNULL,
            env=environment,
            check=False,
            timeout=LONGEST_TRY,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    if present() is None:
        install()
    path = present()
    if path is None:
        sys.exit(
            "The tests need Chromium or Chrome, and none could be installed: install one, "
            "or set BOOK_BROWSER to its program."
        )
    print(path)


if __name__ == "__main__":
    main()
