"""A model that learns in the page: what a step takes, beside Python and another page that trains.

    make bench

The other page is fetched by hand and put into `.venv-bench/sites`; where it is not, its row is left
out and the table says so:

    git clone https://github.com/neooooo28/microgpt-interactive-learner
    cd microgpt-interactive-learner && git checkout 59d6c7b
    # educational_guide.html becomes .venv-bench/sites/microgpt-guide/educational_guide.html

The other pages of the comparison are not measured: their sources are not public, or their pages
need a GPU.
"""

import time
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page

from attn_core.learning import Training
from attn_core.views import script
from benchmarks import driver
from benchmarks.model_pages import SITES
from benchmarks.timing import NOT_TIMED, busy
from benchmarks.visits import weight

SECTION = "learning"
ROUNDS, STEPS, FILM = 5, 40, 600
GOAL = 10  # milliseconds a step, of which there are thirty a second or more to paint
WORKER = script.BUILT / "explorer-training-worker.js"
GUIDE = SITES / "microgpt-guide" / "educational_guide.html"
TEXTS = "16 texts of 12 letters, float64"
BEGIN = """async (source) => {
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const waiting = new Map();
  worker.onmessage = ({ data: { id, answer, problem } }) => {
    waiting.get(id)?.(answer ?? Promise.reject(new Error(problem)));
    waiting.delete(id);
  };
  let count = 0;
  window.ask = (what, asked) => new Promise((done) => {
    waiting.set(++count, done);
    worker.postMessage({ id: count, what, asked });
  });
  await ask("init", {});
}"""
TIMED = """async (steps) => {
  const start = performance.now();
  await ask("step", { steps });
  return (performance.now() - start) / steps;
}"""
# The page trains 300 steps when it is opened.
OF_GUIDE = """(steps) => {
  const start = performance.now();
  for (let n = 0; n < steps; n++) trainOneStep();
  return (performance.now() - start) / steps;
}"""
FRAMES = """async ({ layers, steps }) => {
  const { frames } = await ask("init", { layers });
  const { frames: more } = await ask("step", { steps });
  const all = [...frames, ...more];
  return all.reduce((sum, [, maps]) => sum + maps.reduce((n, map) => n + map.byteLength, 0), 0);
}"""


def page_of_ours(browser: Browser) -> Page:
    """A page whose worker trains, with nothing else in it."""
    page = browser.new_page()
    page.goto("about:blank")
    page.evaluate(BEGIN, WORKER.read_text(encoding="utf-8"))
    return page


def page_of_guide(browser: Browser) -> Page | None:
    if not GUIDE.is_file():
        return None
    page = browser.new_page()
    page.goto(GUIDE.as_uri())
    page.wait_for_function("trainStepNum >= 300")
    return page


def python_step(training: Training) -> float:
    start = time.perf_counter()
    training.run(STEPS)
    return (time.perf_counter() - start) * 1000 / STEPS


def taken_in_turn(ours: Page, guide: Page | None) -> dict[str, list[float]]:
    """Milliseconds a step by the clock on the wall, a number a round."""
    training = Training()
    sides = {
        "ours": lambda: ours.evaluate(TIMED, STEPS),
        "python": lambda: python_step(training),
        **({"guide": lambda: guide.evaluate(OF_GUIDE, STEPS)} if guide else {}),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side()
    for _ in range(ROUNDS):
        for name, side in sides.items():
            times[name].append(side())
    return times


def row_of(
    what: str, trains: str, times: list[float], page: str, is_quiet: bool, goal: int = 0
) -> dict:
    """Times only if is_quiet. page: its bytes, or nothing where there is none."""
    middle = median(times)
    return driver.row(
        SECTION,
        what,
        {"trains": trains, "a step": f"{middle:.1f} ms" if is_quiet else "–", "page": page},
        goal=f"under {goal} ms" if goal else "",
        met=middle < goal if goal and is_quiet else None,
        spread=f"{min(times):.1f} to {max(times):.1f} ms" if is_quiet else "",
        note="" if is_quiet else NOT_TIMED,
    )


def sent(path: Path) -> str:
    return f"{weight(path) / 1e3:.0f} KB"


def main() -> None:
    is_quiet = not busy()  # before a browser is
    with driver.headless() as browser:
        ours, guide = page_of_ours(browser), page_of_guide(browser)
        times = taken_in_turn(ours, guide)
        film = ours.evaluate(FRAMES, {"layers": 2, "steps": FILM})
    weights = sum(weight.numel() for weight in Training().model.parameters())
    trains = f"{weights:,} weights, {TEXTS}"
    rows = [
        row_of("this page's worker", trains, times["ours"], sent(WORKER), is_quiet, GOAL),
        row_of("`attn_core.learning`, by torch's autograd", trains, times["python"], "", is_quiet),
    ]
    if guide:
        what, trains = "microgpt's guide, commit 59d6c7b", "4,192 weights, one name, float64"
        rows.append(row_of(what, trains, times["guide"], sent(GUIDE), is_quiet))
    else:
        print(f"Not measured, since there is no {GUIDE}: microgpt's guide.")
    measured = {"trains": f"{FILM} steps", "a step": "", "page": f"{film / 1e3:.0f} KB"}
    rows.append(driver.row(SECTION, "the film", measured, "under 20 MB", film < 20e6))
    driver.publish(rows, "A model that learns in the page", ("playwright", "torch"))


if __name__ == "__main__":
    main()
