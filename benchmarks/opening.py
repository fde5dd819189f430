"""Open a page from a folder in a headless browser, and say when it has painted its first cells."""

import re
import shutil
import subprocess
import tarfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from playwright.sync_api import Error, Page, TimeoutError

from benchmarks import driver

# BertViz's pages ask a public host for these. The same files come once from npm's registry, and are
# answered from a folder: no network is measured. npm has no jquery 2.0.0; 2.1.0 stands in.
SCRIPTS = {
    "require.min.js": ("requirejs@2.3.6", "package/require.js"),
    "d3.min.js": ("d3@5.7.0", "package/dist/d3.min.js"),
    "jquery.min.js": ("jquery@2.1.0", "package/dist/jquery.min.js"),
}

# Logs the milliseconds from the start of the navigation to the frame after the first cells.
WATCH = """(() => {
  const scratch = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const inked = (canvas) => {
    if (!canvas.width || !canvas.height) return false;
    scratch.clearRect(0, 0, 16, 16);
    scratch.drawImage(canvas, 0, 0, 16, 16);
    return scratch.getImageData(0, 0, 16, 16).data.some((byte, n) => n % 4 === 3 && byte > 0);
  };
  const isThere = () => document.querySelector(".ax-grid td, svg line") ||
    [...document.querySelectorAll("canvas")].some(inked) ||
    [...document.images].some((image) => image.complete && image.naturalWidth > 1);
  const look = () => {
    if (!isThere()) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => console.log("painted " + performance.now())));
  };
  requestAnimationFrame(look);
})();"""


def fetch_scripts(folder: Path) -> None:
    """Put the scripts that BertViz asks for into a folder, by npm."""
    for name, (package, inside) in SCRIPTS.items():
        if (folder / name).exists():
            continue
        if not (npm := shutil.which("npm")):
            raise RuntimeError("npm must be installed, to fetch the scripts that BertViz needs")
        command = [npm, "pack", "--silent", package]
        made = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        archive = folder / made.stdout.split()[-1]
        with tarfile.open(archive) as tar:
            (folder / name).write_bytes(tar.extractfile(inside).read())
        archive.unlink()


def memory_of(browser_pid: int) -> int:
    """Bytes of a browser and all its processes; shared pages count once (PSS)."""
    total = 0
    try:
        top = psutil.Process(browser_pid)
        for process in [top, *top.children(recursive=True)]:
            full = process.memory_full_info()
            total += getattr(full, "pss", full.rss)
    except psutil.Error:  # a process that has just ended
        pass
    return total


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def watch(page: Page, address: str, limit: float, memory) -> dict:
    """Open it and wait for the first picture, the end of the renderer, or the limit."""
    heard, crashed = [], []
    page.on("console", lambda m: m.text.startswith("painted ") and heard.append(m.text))
    page.on("crash", lambda: crashed.append(True))
    start, most, why = time.perf_counter(), 0, ""
    try:
        page.goto(address, wait_until="commit", timeout=limit * 1000)
        while not heard and not crashed and time.perf_counter() - start < limit:
            page.wait_for_timeout(100)
            most = max(most, memory())
    except TimeoutError:
        pass  # not even the page came
    except Error as error:
        why = error.message.splitlines()[0]
    if crashed:
        why = "the browser's process for the page ended"
    elif not heard:
        why = why or f"nothing painted within {limit:.0f} s"
    first = float(heard[0].split()[1]) / 1000 if heard else None
    return {"first": first, "memory": most, "why": why}


def open_page(path: Path, folder: Path, limit: float) -> dict:
    """first: seconds to the first picture, or None; memory: the most bytes seen; why: a fault.

    folder: where the scripts of BertViz are kept.
    """
    fetch_scripts(folder)
    before = children()
    with driver.headless() as browser:
        top = first_of({pid for pid in children() - before if is_browser(command_of(pid))})
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(WATCH)
        page.route(is_foreign, lambda route: route.fulfill(path=folder / asked(route.request.url)))
        outcome = watch(page, path.as_uri(), limit, lambda: memory_of(top))
        psutil.Process(top).kill()
    return outcome


def is_foreign(url: str) -> bool:
    return url.startswith("https:")


def asked(url: str) -> str:
    return url.rpartition("/")[2]


def command_of(pid: int) -> str:
    """A process's command; empty when it has just ended."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def first_of(browsers: set[int]) -> int:
    """The one that started the others: a fresh copy has its command until its own work begins."""
    tops = []
    for pid in browsers:
        with suppress(psutil.NoSuchProcess):  # a copy that has just ended
            if psutil.Process(pid).ppid() not in browsers:
                tops.append(pid)
    (top,) = tops
    return top


def is_browser(command: str) -> bool:
    """Of a browser's processes the one that started the others, not the script before it."""
    is_script = re.match(r"\S*/(ba|da)?sh ", command)
    return "--headless" in command and "--type=" not in command and not is_script
