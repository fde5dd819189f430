"""The memory of the language model's tab, in a browser that nothing drives.

A tool that drives a browser makes it keep a copy of all that a page loads: with Playwright the
files of the model count twice. Here a script in a page around ours presses its buttons, and says by
its title how far it is; the browser tells titles without looking into a page.
"""

import contextlib
import json
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import driver
from benchmarks.language_page import PAGE
from benchmarks.opening import children, command_of
from machine.browser import ARGUMENTS, present

FOLDER = driver.FOLDER / "tab"
LIMIT = 180  # seconds for all of it
WORDS = 20
# What each title of the page around says of the tab.
SAID = {
    "loading": "while the model loads",
    "rest": "with the model, at rest",
    "writing": f"while {WORDS} words are written",
}
AROUND = """<!doctype html><title>begin</title>
<iframe src="html/PAGE" width="1280" height="900"></iframe>
<script>
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const found = async (css) => {
    for (;;) {
      const one = document.querySelector("iframe").contentDocument.querySelector(css);
      if (one) return one;
      await wait(50);
    }
  };
  const READ = ".lm-next:not(.lm-stale) .lm-write:enabled";
  onload = async () => {
    const load = await found(".lm-load:not([hidden])");
    await wait(1000);
    document.title = "loading";
    load.click();
    await found(READ);
    await wait(2000);
    document.title = "rest";
    await wait(3000);
    document.title = "writing";
    for (let n = 0; n < WORDS; n++) {
      (await found(READ)).click();
      await wait(500);
    }
    document.title = "end";
  };
</script>
"""


def put_together(folder: Path = FOLDER) -> Path:
    """A folder for a server: the page around, and the site."""
    folder.mkdir(parents=True, exist_ok=True)
    around = AROUND.replace("PAGE", PAGE).replace("WORDS", str(WORDS))
    (folder / "around.html").write_text(around, encoding="utf-8")
    (folder / "html").unlink(missing_ok=True)
    (folder / "html").symlink_to(driver.HTML)
    return folder


def own_memory(pid: int) -> int:
    """Bytes of a process: what it wrote, its part of what it shares, and none of the files that it
    maps. Of these the browser's program is the largest; it is there once for all tabs, and the
    browser's own task manager does not count it, either."""
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    if not rollup.exists():  # not on Linux
        return psutil.Process(pid).memory_full_info().uss
    sizes = dict(re.findall(r"^(Pss_Anon|Pss_Shmem): +(\d+) kB", rollup.read_text(), re.MULTILINE))
    return 1024 * sum(map(int, sizes.values()))


def renderer(before: set[int]) -> int:
    """Bytes of a new browser's largest process that draws a page."""
    sizes = [0]
    for pid in children() - before:
        if "--type=renderer" in command_of(pid):
            with contextlib.suppress(psutil.Error, OSError):  # it has just ended
                sizes.append(own_memory(pid))
    return max(sizes)


@contextlib.contextmanager
def undriven(address: str) -> Iterator[int]:
    """A browser with a page, and the port at which it tells the titles of its pages."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        command = [present(), "--headless", *ARGUMENTS, "--remote-debugging-port=0"]
        command += [f"--user-data-dir={home}", "--window-size=1300,950", address]
        browser = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            found = (re.search(r"ws://[\d.]+:(\d+)/", line) for line in browser.stderr)
            yield int(next(filter(None, found))[1])
        finally:
            own = psutil.Process(browser.pid)
            for process in [*own.children(recursive=True), own]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            browser.wait()


def title(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as reply:
        pages = [page["title"] for page in json.load(reply) if page["type"] == "page"]
    return pages[0] if pages else ""


def memory() -> dict[str, int]:
    """The most bytes of the tab in each part of a visit."""
    before, most = children(), dict.fromkeys(SAID, 0)
    with driver.served(put_together()) as site, undriven(f"{site}/around.html") as port:
        start, now = time.monotonic(), ""
        while now != "end":
            if time.monotonic() - start > LIMIT:
                raise RuntimeError(f"the page must be done within {LIMIT} s, got as far as {now!r}")
            now = title(port)
            if now in most:
                most[now] = max(most[now], renderer(before))
            time.sleep(0.1)
    return {said: most[name] for name, said in SAID.items()}
