"""The whole model of chapter 10 in a headless browser: its bytes, and how soon it answers.

    make bench

It is opened by a link to it, so that nothing waits until the reader scrolls.
"""

from statistics import median
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks import report
from benchmarks.page import busy, row
from benchmarks.visits import HTML, asked_for, once, served, weight
from tools.browser import ARGUMENTS, present

ADDRESS = "chapters/10_whole_model.html#x-machine"
WITHOUT = "book/one_pass.html"  # a page of text and code that has no explorer and no model
ANSWER = 'document.querySelector(".am-written bdi")'  # the first word of the translation
TRANSLATION = '() => document.querySelector(".am-written").textContent'
SLOWER = 4  # times the processor's time
ROUNDS, CLICKS = 3, 30
MOST_BYTES, MOST_ANSWER, MOST_CHANGE = 300_000, 1.0, 50  # bytes, seconds, milliseconds

NOT_TIMED = "time not measured: the machine was busy; the next `make bench` measures it"

# From the time stamp of a click to the task after the frame that follows it.
WATCH = """() => {
  window.times = [];
  addEventListener("click", (event) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => times.push(performance.now() - event.timeStamp);
    port1.postMessage(0);
  }), { capture: true });
}"""


def added(browser: Browser, site: str) -> list[str]:
    """What the model's page asks for and a page without one does not, the page's own text aside."""
    usual = {*asked_for(browser, f"{site}/{WITHOUT}"), urlsplit(ADDRESS).path}
    return [path for path in asked_for(browser, f"{site}/{ADDRESS}") if path not in usual]


def first_answer(browser: Browser, address: str, slower: int = 1) -> float:
    """Seconds until the first word of a translation is painted, processor held back so much."""
    page = browser.new_page()
    page.add_init_script(once(ANSWER))
    line = page.context.new_cdp_session(page)
    line.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(address)
    page.wait_for_function("window.alive")
    seconds = page.evaluate("window.alive") / 1000
    page.close()
    return seconds


def times_of(page: Page, first: Locator, second: Locator, look: str) -> list[float]:
    """Milliseconds until each click's change is painted; two places that undo each other.

    look: a function of the page that gives what must differ after each of both.
    """
    for place in (first, second):
        before = page.evaluate(look)
        place.click()
        if page.evaluate(look) == before:
            raise RuntimeError(f"a click on {place} must change what the model shows")
    page.evaluate(WATCH)
    for n in range(CLICKS):
        page.wait_for_timeout(60 + 7 * (n % 5))  # not in step with the screen
        (first, second)[n % 2].click()
    page.wait_for_function("clicks => times.length === clicks", arg=CLICKS)
    return page.evaluate("() => times")


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.locator(".am-written bdi").first.wait_for()
    return page


def of_a_word(browser: Browser, address: str) -> list[float]:
    """A word taken from the end of the sentence, and put there again."""
    page = opened(browser, address)
    page.locator(".am-all summary").click()
    words = page.locator(".am-all button")
    times = times_of(page, words.last, words.get_by_text("Jerry", exact=True), TRANSLATION)
    page.close()
    return times


def of_a_switch(browser: Browser, address: str) -> list[float]:
    """A head of the encoder off, and on again."""
    page = opened(browser, f"{address}?at=encoder.0.attention")
    switch = page.locator(".am-switch input").first
    times = times_of(page, switch, switch, '() => document.querySelector(".am-root").innerHTML')
    page.close()
    return times


def bytes_row(browser: Browser, site: str) -> dict:
    paths = added(browser, site)
    count = sum(weight(HTML / unquote(path)) for path in paths)
    scripts = ", ".join(path.rpartition("/")[2] for path in paths if path.endswith(".js"))
    return row(
        "what the model adds to a page, weights, styles and font included, gzip",
        f"{count / 1000:.0f} KB",
        f"under {MOST_BYTES / 1000:.0f} KB",
        count < MOST_BYTES,
        note=f"scripts: {scripts}",
    )


def time_row(what: str, times: list[float], most: float, unit: str) -> dict:
    """The median of some times; nothing where other programs took the processor from them."""
    what, goal = f"{what} after", f"under {most:g} {unit}"
    if not times:
        return row(what, "–", goal, None, note=NOT_TIMED)
    middle, digits = median(times), 1 if unit == "ms" else 2
    spread = f"{min(times):.{digits}f} to {max(times):.{digits}f} {unit}"
    return row(what, f"{middle:.{digits}f} {unit}", goal, middle < most, spread)


def rows(browser: Browser, site: str, is_quiet: bool) -> list[dict]:
    address = f"{site}/{ADDRESS}"
    answers, words, switches = [], [], []
    if is_quiet:
        answers = [first_answer(browser, address, SLOWER) for _ in range(ROUNDS)]
        words, switches = of_a_word(browser, address), of_a_switch(browser, address)
    slow = f"processor {SLOWER} times slower: the first translation is painted"
    found = [
        bytes_row(browser, site),
        time_row(slow, answers, MOST_ANSWER, "s"),
        time_row("a changed word is painted", words, MOST_CHANGE, "ms"),
        time_row("a head switched off or on is painted", switches, MOST_CHANGE, "ms"),
    ]
    return [one | {"section": "model"} for one in found]


def main() -> None:
    is_quiet = not busy()  # before a browser is
    with served(HTML) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=present(), args=ARGUMENTS)
        found = rows(browser, site, is_quiet)
        browser.close()
    report.store(found, "A whole model in the page", "make bench", ("playwright",))
    print(report.table(found))


if __name__ == "__main__":
    main()
