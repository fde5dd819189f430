"""A whole model on a page: how soon a change is painted, how soon it is there, and what it loads.

    make bench

From the browser's time stamp of a click or a key to the end of the frame that shows the change; on
a slow phone from the start of the page to the frame that shows the first translation; bytes with
gzip. Chapter 10 and the landing page are the book's, with all that stands around their models.
"""

import gzip
from functools import partial
from pathlib import Path
from statistics import quantiles

from playwright.sync_api import Browser, Page

from attn_core.translators.grammar import CHINESE, ENGLISH
from attn_core.translators.switched import switched
from attn_core.translators.transformer import stored
from attn_core.views import OpenModel, open_model, script
from attn_core.views.payload import inline_json
from benchmarks import driver
from benchmarks.driver import FOLDER

VIEWS = Path(script.__file__).parent
SHEETS = ("explorer.css", "machine.css")
PART, SHEET = "explorer-model.js", "machine.css"  # what a machine adds to a page
SENTENCES = ("the big cat chases Tom in the garden", "the big cat chases Jerry in the garden")
STATIONS = ("decoder.0.residuals.0.norm", "decoder.1.cross_attention")
MOST_CHANGE, MOST_START, MOST_BYTES = 50, 1000, 300_000  # milliseconds, milliseconds, bytes
MOST_TASK = 100  # milliseconds that a typed key may wait
ROUNDS = 30
CHAPTER, LANDING = "chapters/10_whole_model.html", "book/index.html"
TYPED = "Tom chases Jerry in the garden"
PRESSABLE = 'document.querySelector("button.ax-word")'  # the first word of the landing page
TRANSLATED = 'document.querySelector(".am-written bdi")'  # the first word of a translation
row, within = partial(driver.row, "model"), partial(driver.within, "model")
unblocked = partial(driver.unblocked, "model")


def view(at: str = STATIONS[1]) -> OpenModel:
    words = {"source": ENGLISH, "target": CHINESE}
    how = {"name": "bench", "at": at, "examples": SENTENCES, "switched": switched("transformer")}
    return open_model(stored(), words, SENTENCES[0], **how)


def write_page(shown: OpenModel) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    sheets = {name: (VIEWS / name).read_text(encoding="utf-8") for name in SHEETS}
    for name, text in (script.files() | sheets).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    links = "".join(f'<link rel="stylesheet" href="{name}">' for name in SHEETS)
    path = FOLDER / "model.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>'
        f'{links}<script defer src="explorer.js"></script>{shown.html}',
        encoding="utf-8",
    )
    return path


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport=driver.DESK)
    page.goto(address)
    page.locator(".am-written bdi").first.wait_for()
    page.wait_for_timeout(1000)  # until all that stands around it is there, too
    driver.watch(page, "click", "keydown")
    return page


def times_of(page: Page, places: list[str], shown: str = ".am-root") -> list[float]:
    """Milliseconds until the change of each click is painted; places take turns."""
    text = "(css) => document.querySelector(css).textContent"
    for n in range(ROUNDS + 2):
        before = page.evaluate(text, shown)
        page.locator(places[n % len(places)]).click()
        if page.evaluate(text, shown) == before:
            raise RuntimeError(f"a click on {places[n % len(places)]} must change what is shown")
        page.wait_for_timeout(60 + 7 * (n % 5))  # not in step with the screen
    page.wait_for_function("rounds => times.length === rounds", arg=ROUNDS + 2)
    milliseconds = page.evaluate("() => times.splice(0)")
    return milliseconds[2:]  # not the first of their kind


def changes(browser: Browser) -> list[dict]:
    rows = []
    for at in STATIONS:
        page = opened(browser, write_page(view(at)).as_uri())
        sentence = [f'.am-examples button:text-is("{say}")' for say in reversed(SENTENCES)]
        for what, places in (("word", sentence), ("switch", [".am-switches input >> nth=0"])):
            times = times_of(page, places)
            changed = f"a whole model, {at}: a changed {what} is painted after"
            rows.append(within(changed, times, MOST_CHANGE))
        page.close()
    return rows


def chapter(browser: Browser, site: str) -> list[dict]:
    """Chapter 10 itself: its own sentences, of different lengths, are chosen, and one is typed."""
    rows = []
    for at in STATIONS:
        page = opened(browser, f"{site}/{CHAPTER}#x-machine?at={at}")
        sentences = [f".am-examples button >> nth={n}" for n in range(3)]
        changed = f"chapter 10, {at}: another sentence is painted after"
        rows.append(within(changed, times_of(page, sentences), MOST_CHANGE))
        keys, longest = typed(page)
        slow = quantiles(keys, n=20)[-1]
        for what, most in (
            ("19 of 20 typed keys are painted within", slow),
            ("the longest task while a sentence is typed takes", longest),
        ):
            rows.append(unblocked(f"chapter 10, {at}: {what}", most, MOST_TASK))
        page.close()
    return rows


def typed(page: Page) -> tuple[list[float], float]:
    """Milliseconds until each key's change is painted, and of the longest task."""
    field = page.locator(".am-input")
    field.fill("")
    page.wait_for_timeout(500)
    page.evaluate("() => { times = []; tasks = [0]; }")
    field.press_sequentially(TYPED, delay=80)
    page.wait_for_function("count => times.length === count", arg=len(TYPED))
    return page.evaluate("() => times"), page.evaluate("() => Math.max(...tasks)")


def alive(browser: Browser, site: str) -> dict:
    """How soon a word of the landing page can be pressed on a processor a quarter as fast."""
    address = f"{site}/{LANDING}"
    times = [driver.alive_after(browser, address, PRESSABLE, **driver.PHONE) for _ in range(5)]
    pressed = f"{LANDING}, {driver.SLOWER}× slower processor: a word can be pressed after"
    return within(pressed, times, MOST_START, places=0)


def start(browser: Browser) -> dict:
    """How soon the first translation is there on a processor a quarter as fast."""
    address, phone = f"{write_page(view()).as_uri()}#x-bench", {"width": 390, "height": 800}
    times = [driver.alive_after(browser, address, TRANSLATED, viewport=phone) for _ in range(5)]
    what = f"a whole model, {driver.SLOWER}× slower processor: the first translation appears after"
    return within(what, times, MOST_START, places=0)


def bytes_of() -> list[dict]:
    """What a model adds to a page, each with gzip, and all of it."""
    shown = view()
    texts = {
        PART: script.files()[PART],
        SHEET: (VIEWS / SHEET).read_text(encoding="utf-8"),
        "its weights, words and steps": inline_json(shown.payload),
    }
    sizes = {name: len(gzip.compress(text.encode(), mtime=0)) for name, text in texts.items()}
    rows = [
        row(f"a whole model: {name}, gzip", f"{count / 1000:.1f} KB")
        for name, count in sizes.items()
    ]
    all_of_it = sum(sizes.values())
    goal = f"under {MOST_BYTES / 1000:.0f} KB"
    what = "a whole model: all that it adds to a page, gzip"
    measured = f"{all_of_it / 1000:.1f} KB"
    return [*rows, row(what, measured, goal, all_of_it < MOST_BYTES)]


def main() -> None:
    with driver.headless() as browser:
        rows = [*bytes_of(), start(browser), *changes(browser)]
        with driver.served(driver.HTML) as site:
            rows += [alive(browser, site), *chapter(browser, site)]
    driver.publish(rows, "A whole model in the browser", ("torch", "playwright"))


if __name__ == "__main__":
    main()
