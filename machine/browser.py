"""Find the browsers of the tests, or get them.

    python -m machine.browser                  prints the path of Chromium's or Chrome's program
    python -m machine.browser firefox webkit   says of each where it is, or what is missing

Order: the variable BOOK_BROWSER (for Chromium), what Playwright has, a program on PATH. If there is
none: `playwright install`, then Debian's packages when the user may install them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# The first draws no window, and takes two thirds of the others' time.
CHROMES = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMES += ("google-chrome", "google-chrome-stable", "chrome")
FIREFOXES = ("firefox-esr", "firefox")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
# WebKitGTK's browser, which its driver starts.
MINI = ("usr/lib/*/webkit2gtk-4.*/MiniBrowser", "usr/libexec/webkit2gtk-4.*/MiniBrowser")
# Of each what is tried, one after the other: older systems have no package of the shell alone.
PACKAGES = {
    "chromium": [["chromium-headless-shell"], ["chromium"]],
    "firefox": [["firefox-esr"]],
    "webkit": [["webkit2gtk-driver", "xvfb"]],
}

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


@dataclass(frozen=True)
class Browser:
    """A browser that the tests can drive.

    driver: "playwright" speaks to a build that it knows, "bidi" is Playwright's way to any Firefox,
    "webdriver" is WebKitGTK's own driver.
    """

    name: str
    driver: str
    program: str


def present() -> str | None:
    """The path of a Chromium or Chrome that is already there, or None."""
    named = os.environ.get("BOOK_BROWSER")
    if named:
        if not Path(named).is_file():
            sys.exit(f"BOOK_BROWSER must be the path of a browser's program, got {named!r}")
        return named
    for name in CHROMES:
        if path := shutil.which(name):
            return path
    return MAC if Path(MAC).is_file() else of_playwright("chromium")


def of_playwright(name: str) -> str | None:
    """The program of the build that `playwright install` has brought, or None."""
    from playwright.sync_api import sync_playwright

    def ask() -> str:
        with sync_playwright() as playwright:
            return getattr(playwright, name).executable_path

    # Of Playwright each thread may have one, and a test that asks has one already.
    with ThreadPoolExecutor(1) as another:
        path = another.submit(ask).result()
    return path if Path(path).is_file() else None


def found(name: str) -> Browser | str:
    """Of chromium, firefox or webkit one that is there; else what is missing, as a clause."""
    if name == "chromium":
        path = present()
        return Browser(name, "playwright", path) if path else "neither Chromium nor Chrome is here"
    if path := of_playwright(name):
        return Browser(name, "playwright", path)
    if name == "firefox":
        path = next(filter(None, map(shutil.which, FIREFOXES)), None)
        return (
            Browser(name, "bidi", path)
            if path
            else "neither Playwright's Firefox nor another is here"
        )
    return of_webkitgtk()


def of_webkitgtk() -> Browser | str:
    mini = next((str(path) for way in MINI for path in Path("/").glob(way)), None)
    needs = {
        "WebKitWebDriver": shutil.which("WebKitWebDriver"),
        "its MiniBrowser": mini,
        "Xvfb": shutil.which("Xvfb"),
    }
    missing = " and ".join(part for part, path in needs.items() if not path)
    if missing:
        return f"Playwright's WebKit is not here, nor of WebKitGTK's {missing}"
    return Browser("webkit", "webdriver", mini)


def install(name: str) -> None:
    """Try the ordinary ways to get a browser. Each may fail; `found` tells afterwards."""
    ways = [[[sys.executable, "-m", "playwright", "install", name]]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        update = ["apt-get", "update"]
        ways += [[update, ["apt-get", "install", "-y", *these]] for these in PACKAGES[name]]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for way in ways:
        for command in way:
            print(f"no {name} yet, trying:", " ".join(command), file=sys.stderr)
            if not succeeds(command, environment):
                break
        if isinstance(found(name), Browser):
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


def main(names: list[str]) -> None:
    for name in names or ["chromium"]:
        if not isinstance(found(name), Browser):
            install(name)
    for name in names:
        browser = found(name)
        print(f"{name}: {browser.program if isinstance(browser, Browser) else browser}")
    if names:
        return
    path = present()
    if path is None:
        sys.exit(
            "The tests need Chromium or Chrome, and none could be installed: install one, "
            "or set BOOK_BROWSER to its program."
        )
    print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
