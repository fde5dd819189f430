"""The page of the language model in a browser: times, tasks, memory and bytes of what it does."""

from playwright.sync_api import Browser, Page

from benchmarks import driver
from benchmarks.driver import HTML
from benchmarks.visits import weight

PAGE = "book/language_model.html"
FILES = HTML / "_static" / "language"

# Of the text that was sent to the worker last: when it was `asked` for, when its chances came back
# (`answered`), and when a frame had shown them (`painted`) and the first small maps (`layer`).
CLOCKS = """(() => {
  window.clocks = {};
  const paint = (name) => {
    const { clocks } = window;
    const now = () => { clocks[name] ??= performance.now(); };
    // Right behind the frame, before what the page has put off until then.
    requestAnimationFrame(() => scheduler.postTask(now, { priority: "user-blocking" }));
  };
  window.Worker = class extends Worker {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", ({ data: { id } }) => {
        if (id !== undefined && id === clocks.id) clocks.answered = performance.now();
      });
    }
    postMessage(message, ...how) {
      if (message.what === "read") window.clocks = { id: message.id, asked: performance.now() };
      super.postMessage(message, ...how);
    }
  };
  const { putImageData } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.putImageData = function (...how) {
    if (clocks.asked && !clocks.layer && this.canvas.closest(".lm-sheet")) paint("layer");
    return putImageData.apply(this, how);
  };
  new MutationObserver((changes) => {
    const next = document.querySelector(".lm-next");
    const hasChanged = changes.some(({ target }) => next?.contains(target));
    if (clocks.answered && !clocks.painted && hasChanged) paint("painted");
  }).observe(document, { subtree: true, childList: true, characterData: true });
})();"""


class Loaded:
    """The page with the whole model, read once."""

    def __init__(self, browser: Browser, site: str) -> None:
        self.page = browser.new_page(viewport=driver.DESK)
        self.page.add_init_script(CLOCKS)
        self.page.goto(f"{site}/{PAGE}")
        load(self.page)
        driver.watch(self.page)

    def read(self, text: str) -> dict[str, float]:
        """Milliseconds from when the page, after its pause for letters, asks its worker to read."""
        self.page.locator(".lm-input").fill(text)
        return self.clocks()

    def write(self) -> dict[str, float]:
        """The same of the likeliest word, once it is written behind the text."""
        self.page.locator(".lm-write").click()
        return self.clocks()

    def clocks(self) -> dict[str, float]:
        """They begin anew when a text is asked for, so another one must have been."""
        of = "clocks.painted && clocks.id !== window.seen && (window.seen = clocks.id, {...clocks})"
        clocks = self.page.wait_for_function(of).json_value()
        self.page.wait_for_timeout(400)  # what is behind the chances
        return {name: clocks[name] - clocks["asked"] for name in ("answered", "painted")}

    def round(self, text: str, steps: int) -> dict:
        """As `language_peers.round_of`, until the chances are painted; said: the first word.

        computed: when the chances came back from the worker, by the keys of the painted ones.
        """
        self.page.bring_to_front()  # a page behind another one gets less time
        prompt = self.read(text)
        said = self.page.locator(".lm-piece").first.text_content().replace("␣", " ")
        later = [self.write() for _ in range(steps)]
        painted, computed = (
            {"prompt": prompt[clock], "later": [clocks[clock] for clocks in later]}
            for clock in ("painted", "answered")
        )
        return painted | {"said": said, "computed": computed}

    def tasks(self) -> list[float]:
        """Milliseconds of the tasks of 50 ms and more since the last call."""
        return self.page.evaluate("() => tasks.splice(0)")

    def type(self, text: str) -> None:
        """Letter by letter, as a person does."""
        field = self.page.locator(".lm-input")
        field.fill("")
        field.press_sequentially(text, delay=80)
        self.page.wait_for_timeout(1500)


def load(page: Page) -> dict[str, float]:
    """Seconds from a press to the first layer, and to the chances of the first text."""
    page.locator(".lm-load").wait_for()
    page.wait_for_timeout(1000)  # until all that stands around it is there, too
    page.evaluate(
        "() => addEventListener('click', ({ timeStamp }) => { window.pressed = timeStamp; }, true)"
    )
    page.locator(".lm-load").click()
    page.wait_for_function("clocks.layer && clocks.painted", timeout=120_000)
    names = ("layer", "painted")
    clocks = page.evaluate("(names) => names.map((name) => clocks[name] - pressed)", names)
    return dict(zip(names, (milliseconds / 1000 for milliseconds in clocks), strict=True))


def visits(browser: Browser, site: str) -> tuple[dict, dict]:
    """Seconds of a first visit and of a second one, by what a press brings."""
    context = browser.new_context(viewport=driver.DESK)
    seconds = []
    for _ in range(2):
        page = context.new_page()
        page.add_init_script(CLOCKS)
        page.goto(f"{site}/{PAGE}")
        seconds.append(load(page))
        page.close()
    context.close()
    first, second = seconds
    return first, second


def bytes_layer() -> int:
    """The largest file of one layer's queries, keys and values of a text that needs no model."""
    return max(weight(path) for path in (FILES / "light").glob("*-heads-*.bin.js"))
