"""First visits to the built site: what each page loads, and how soon it is there on a phone.

    make bench

Bytes are those of the files that a browser asks for when it opens a page with nothing in its cache,
compressed as a web server sends them. The phone is a headless browser with a processor and a line
that are held back.
"""

import gzip
from functools import cache, partial
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Page

from benchmarks import driver
from benchmarks.driver import HTML, PHONE, TEXTS, once
from benchmarks.timing import busy

LANDING, CHAPTER = "book/index.html", "chapters/03_self_attention.html"
LATENCY, MEGABITS = 150, 1.6  # ms, Mbit/s
ROUNDS = 3
MOST = {LANDING: 200_000, CHAPTER: 350_000}  # bytes
MOST_OF_ANY = 350_000
MOST_PAINT, MOST_ALIVE = 2.5, 4.0  # seconds

row = partial(driver.row, "visits")

PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
NUMBER = 'document.querySelector(".ax-root :is(td, canvas, .ax-cell)")'  # the first of an explorer


@cache
def weight(path: Path) -> int:
    """Bytes of a file as they travel: text with gzip, what is compressed already as it is."""
    content = path.read_bytes()
    return len(gzip.compress(content) if path.suffix in TEXTS else content)


def asked_for(browser: Browser, address: str) -> list[str]:
    """The paths that a first visit asks for, until the network rests, each once, in their order."""
    context = browser.new_context()
    paths = visit(context.new_page(), address)
    context.close()
    return paths


def visit(page: Page, address: str) -> list[str]:
    """The same of a page that is new, and stays open."""
    paths = []
    page.on("request", lambda request: paths.append(unquote(urlsplit(request.url).path)))
    page.goto(address, wait_until="networkidle")
    return list(dict.fromkeys(path.lstrip("/") for path in paths))


def on_a_phone(browser: Browser, address: str) -> tuple[float, float]:
    """Seconds until a slow phone has painted something, and until an explorer is alive."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.add_init_script(once(NUMBER))
    line = context.new_cdp_session(page)
    speed = MEGABITS * 1e6 / 8
    conditions = {"offline": False, "latency": LATENCY}
    line.send("Network.enable")
    line.send(
        "Network.emulateNetworkConditions",
        conditions | {"downloadThroughput": speed, "uploadThroughput": speed / 2},
    )
    driver.slow_down(page)
    page.goto(address, wait_until="load", timeout=120_000)
    page.wait_for_function("window.alive", timeout=120_000)
    seconds = page.evaluate(PAINTED) / 1000, page.evaluate("window.alive") / 1000
    context.close()
    return seconds


def bytes_of(browser: Browser, site: str, page: str) -> int:
    return sum(weight(HTML / path) for path in asked_for(browser, f"{site}/{page}"))


def pages() -> list[str]:
    """Every page of the book, its path under _build/html."""
    return sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if path.relative_to(HTML).parts[0] in {"book", "chapters"}
    )


def weights(browser: Browser, site: str) -> list[dict]:
    sizes = {page: bytes_of(browser, site, page) for page in pages()}
    heaviest = max(sizes, key=sizes.get)
    rows = []
    for page, most in {**MOST, heaviest: MOST_OF_ANY}.items():
        measured, goal = f"{sizes[page] / 1000:.0f} KB", f"at most {most / 1000:.0f} KB"
        note = "the heaviest page" if page == heaviest else ""
        rows.append(row(f"{page}: first visit", measured, goal, sizes[page] <= most, note=note))
    return rows


def times(browser: Browser, site: str, page: str, place: str) -> list[dict]:
    runs = [on_a_phone(browser, f"{site}/{page}{place}") for _ in range(ROUNDS)]
    painted, alive = zip(*runs, strict=True)
    rows = []
    for what, seconds, most in (
        ("something is painted", painted, MOST_PAINT),
        ("an explorer is alive", alive, MOST_ALIVE),
    ):
        middle = median(seconds)
        spread = f"{min(seconds):.2f} to {max(seconds):.2f} s"
        goal = f"under {most} s"
        what = f"{page} on a slow phone: {what} after"
        rows.append(row(what, f"{middle:.2f} s", goal, middle < most, spread, busy()))
    return rows


def main() -> None:
    with driver.served(HTML) as site, driver.headless() as browser:
        rows = weights(browser, site)
        for page, place in ((LANDING, ""), (CHAPTER, "#x-journey")):
            rows += times(browser, site, page, place)
    driver.publish(rows, "First visits to the site", ("playwright",))


if __name__ == "__main__":
    main()
