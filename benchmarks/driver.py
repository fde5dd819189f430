"""What the benchmarks of pages share: a browser, a server, a page's clock, and rows of results."""

import gzip
import http.server
import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import report
from benchmarks.timing import busy
from machine.browser import ARGUMENTS, present

ROOT = Path(__file__).parents[1]
HTML, FOLDER = ROOT / "_build" / "html", ROOT / "_build" / "bench"
# What is sent compressed; other files are compressed already.
TEXTS = {".html", ".css", ".js", ".svg", ".json", ".txt", ".ipynb", ".wasm"}
DESK = {"width": 1280, "height": 900}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 3,
    "is_mobile": True,
    "has_touch": True,
}
SLOWER = 4  # times the processor's time, on a phone


@contextmanager
def headless(arguments: Sequence[str] = ARGUMENTS) -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=present(), args=list(arguments))
        yield browser
        browser.close()


class Compressed(http.server.SimpleHTTPRequestHandler):
    """A folder as a web server sends it: text compressed, connections kept."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> io.BytesIO | None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return None
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        if path.suffix in TEXTS:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, "http://127.0.0.1:<port>"."""
    handler = partial(Compressed, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def once(there: str) -> str:
    """A script for a new page, which keeps the time of the first frame in which something is there.

    there: an expression that is true from then on. The time is `window.alive`, in milliseconds from
    the start of the navigation.
    """
    return f"""(() => {{
  const look = () => {{
    if (!({there})) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => {{ window.alive = performance.now(); }}));
  }};
  look();
}})();"""


def slow_down(page: Page) -> None:
    """From now on the page has a processor as slow as that of a phone."""
    line = page.context.new_cdp_session(page)
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def alive_after(browser: Browser, address: str, there: str, **context: object) -> float:
    """Milliseconds until something is there on a processor a quarter as fast."""
    opened = browser.new_context(**context)
    page = opened.new_page()
    slow_down(page)
    page.add_init_script(once(there))
    page.goto(address)
    milliseconds = page.wait_for_function("window.alive").json_value()
    opened.close()
    return milliseconds


def watch(page: Page, *events: str) -> None:
    """Keeps the milliseconds from each event's time stamp to the task after the frame behind it.

    They are in `window.times`, and those of tasks of 50 ms and more in `window.tasks`.
    """
    page.evaluate(
        """(events) => {
          window.times = [];
          window.tasks = [0];
          new PerformanceObserver((list) =>
            tasks.push(...list.getEntries().map((task) => task.duration))
          ).observe({ type: "longtask" });
          for (const name of events) addEventListener(name, (event) => {
            requestAnimationFrame(() => {
              const { port1, port2 } = new MessageChannel();
              port2.onmessage = () => times.push(performance.now() - event.timeStamp);
              port1.postMessage(0);
            });
          }, { capture: true });
        }""",
        events,
    )


def row(
    section: str,
    what: str,
    measured: str | dict[str, str],
    goal: str = "",
    met: bool | None = None,
    spread: str = "",
    note: str = "",
) -> dict:
    """A row of a section of the results, as `report.store` takes it."""
    return {
        "section": section,
        "what": what,
        "goal": goal,
        "measured": measured,
        "met": met,
        "spread": spread,
        "note": note,
    }


def within(
    section: str, what: str, times: Sequence[float], limit: int = 0, places: int = 1
) -> dict:
    """The row of something timed several times; 0: the middle one has no limit."""
    middle = median(times)
    return row(
        section,
        what,
        f"{middle:.{places}f} ms",
        f"under {limit} ms" if limit else "",
        middle < limit if limit else None,
        spread=f"{min(times):.{places}f} to {max(times):.{places}f} ms",
        note=busy(),
    )


def unblocked(section: str, what: str, longest: float, limit: int) -> dict:
    """The row of the longest of the tasks that `watch` keeps, or 0 if there was none."""
    measured = f"{longest:.0f} ms" if longest else "no 50 ms"
    return row(section, what, measured, f"under {limit} ms", longest < limit, note=busy())


def publish(rows: Sequence[dict], title: str, packages: Sequence[str]) -> None:
    """Stores a section of the results that `make bench` measured, and prints it."""
    report.store(rows, title, "make bench", packages)
    print(report.table(rows))
