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
    """Seconds until the first word of a translation is painted, on a processor held back so much."""
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


def answer_row(browser: Browser, address: str) -> dict:
    runs = [first_answer(browser, address, SLOWER) for _ in range(ROUNDS)]
    middle = median(runs)
    return row(
        f"the first translation is there, processor {SLOWER} times slower, after",
        f"{middle:.2f} s",
        f"under {MOST_ANSWER:.0f} s",
        middle < MOST_ANSWER,
        f"{min(runs):.2f} to {max(runs):.2f} s",
        busy(),
    )


def change_row(what: str, times: list[float]) -> dict:
    middle = median(times)
    return row(
        f"{what} is painted after",
        f"{middle:.1f} ms",
        f"under {MOST_CHANGE} ms",
        middle < MOST_CHANGE,
        f"{min(times):.1f} to {max(times):.1f} ms",
        busy(),
    )


def main() -> None:
    with served(HTML) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=present(), args=ARGUMENTS)
        address = f"{site}/{ADDRESS}"
        found = [
            bytes_row(browser, site),
            answer_row(browser, address),
            change_row("a changed word", of_a_word(browser, address)),
            change_row("a switched head", of_a_switch(browser, address)),
        ]
        browser.close()
    found = [one | {"section": "whole_model"} for one in found]
    report.store(found, "A whole model in the page", "make bench", ("playwright",))
    print(report.table(found))


if __name__ == "__main__":
    main()
