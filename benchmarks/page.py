"""The explorer's page in a headless browser: how soon a change is painted, and what it loads.

    make bench

From the browser's time stamp of a key or a click to the end of the frame that shows the change, the
wait for that frame included; frames a second while a long map is dragged and zoomed; bytes.
"""

import gzip
import os
from functools import partial
from itertools import pairwise
from pathlib import Path

import torch
from playwright.sync_api import Page

from attn_core import AttentionTrace, pretrained, trace
from attn_core.digits import fixed
from attn_core.views import explore, script
from attn_core.views.payload import inline_json
from benchmarks import driver
from benchmarks.driver import FOLDER
from benchmarks.timing import busy
from benchmarks.viewers import HEADS, WIDTH, made_up_model, names, size

CSS = Path(script.__file__).parent / "explorer.css"
MOST_SCRIPT = 26_000  # bytes of what an ordinary page loads, compressed with gzip
LENGTHS = {6: 16, 32: 16, 64: 16, 512: 100}  # tokens: milliseconds that a change may take
ROUNDS = 30
LONG, MOST_LONG, LEAST_FRAMES = 2048, 5_000_000, 30
SENTENCE = "The animal did not cross the street because it was too tired."
MOST_SENTENCE = 300_000
row, within = partial(driver.row, "page"), partial(driver.within, "page")

# What the large matrix shows: the pixels of a canvas, or the text and colours of a table.
LOOK = """() => document.querySelector("canvas.ax-canvas")?.toDataURL() ??
  document.querySelector(".ax-grid").outerHTML"""
# A long map is derived in several frames; counted, they are enough on a busy machine, too.
CHANGES = f"""async (before) => {{
  const look = {LOOK};
  for (let n = 0; n < 60 && look() === before; n++) await new Promise(requestAnimationFrame);
  return look() !== before;
}}"""

FRAMES = """() => {
  window.frames_ = [];
  const frame = () => requestAnimationFrame(() => {
    if (!window.frames_) return;
    frames_.push(performance.now());
    frame();
  });
  frame();
}"""


def write_page(record: AttentionTrace, tokens: list[str], store: str | None) -> tuple[Path, int]:
    """A page with one explorer as a reader meets it, and the bytes of its data."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in (script.files() | {CSS.name: CSS.read_text(encoding="utf-8")}).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    data = inline_json(explore(record, tokens=tokens, name="bench", store=store).payload)
    path = FOLDER / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>'
        f'<link rel="stylesheet" href="{CSS.name}"><script defer src="explorer.js"></script>'
        f'<attention-explorer name="bench"><script type="application/json">{data}</script>'
        "</attention-explorer>",
        encoding="utf-8",
    )
    return path, len(data.encode())


def opened(browser, path: Path) -> Page:
    page = browser.new_page(viewport=driver.DESK)
    page.goto(path.as_uri())
    page.locator(".ax-grid td, canvas.ax-canvas").first.wait_for()
    page.wait_for_timeout(1500)
    return page


def times_of(page: Page, place, keys: list[str]) -> list[float]:
    """Milliseconds until each key's change is painted; keys undo each other, in pairs."""
    place.focus()
    before = page.evaluate(LOOK)
    page.evaluate("() => { times = []; }")
    page.keyboard.press(keys[0])
    if not page.evaluate(CHANGES, before):
        raise RuntimeError(f"{keys[0]} must change what the explorer shows")
    page.keyboard.press(keys[1])
    page.wait_for_function("() => times.length === 2")
    page.evaluate("() => { times = []; }")
    for n in range(ROUNDS):
        page.wait_for_timeout(60 + 7 * (n % 5))  # not in step with the screen
        page.keyboard.press(keys[n % 2])
    page.wait_for_function("rounds => times.length === rounds", arg=ROUNDS)
    return page.evaluate("() => times")


def changes(browser, tokens: int, limit: int) -> list[dict]:
    path, _ = write_page(made_up_model(tokens), names(tokens), None)
    page = opened(browser, path)
    driver.watch(page, "keydown")
    scale = page.get_by_role("slider", name="scale")
    stage = page.locator('.ax-stage input[value="weights"]')
    rows = []
    for what, place, keys in (
        ("scale", scale, ["ArrowRight", "ArrowLeft"]),
        ("stage", stage, ["ArrowLeft", "ArrowRight"]),
    ):
        changed = f"{tokens} tokens, {HEADS} heads: a changed {what} is painted after"
        rows.append(within(changed, times_of(page, place, keys), limit))
    page.close()
    return rows


def frames_of(page: Page, act) -> list[float]:
    """Milliseconds from frame to frame while something is done."""
    page.evaluate(FRAMES)
    act()
    ends = page.evaluate("() => { const found = frames_; frames_ = null; return found; }")
    return [after - before for before, after in pairwise(ends)]


def long_map(browser) -> list[dict]:
    path, count = write_page(made_up_model(LONG), names(LONG), "float16")
    page = opened(browser, path)
    canvas = page.locator("canvas.ax-canvas")
    canvas.focus()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def zoom(by: int) -> None:
        page.mouse.move(x, y)
        for _ in range(40):
            page.mouse.wheel(0, by)
            page.wait_for_timeout(20)

    def drag() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        for n in range(80):
            page.mouse.move(x - 4 * n, y - 3 * n)
            page.wait_for_timeout(10)
        page.mouse.up()

    rows = []
    acts = [
        ("zooming in", lambda: zoom(-25)),
        ("dragging the map, half zoomed in", drag),
        ("zooming to single cells", lambda: zoom(-60)),
        ("dragging single cells", drag),
        ("zooming out", lambda: zoom(90)),
    ]
    for what, act in acts:
        before = page.evaluate(LOOK)
        gaps = frames_of(page, act)
        if page.evaluate(LOOK) == before:
            raise RuntimeError(f"{what} must change what the explorer shows")
        rate = 1000 * len(gaps) / sum(gaps)
        rows.append(
            row(
                f"{LONG:,} tokens, {HEADS} heads: {what}",
                f"{rate:.0f} frames a second",
                f"above {LEAST_FRAMES}",
                rate > LEAST_FRAMES,
                spread=f"the slowest frame {max(gaps):.0f} ms",
                note=busy(),
            )
        )
    page.close()
    goal = f"under {size(MOST_LONG)}"
    note = f"D = {WIDTH}; q and k in float16, v of one head"
    what = f"{LONG:,} tokens, {HEADS} heads: data"
    return [row(what, size(count), goal, count < MOST_LONG, note=note), *rows]


def real_model() -> dict:
    """All heads of all layers of a trained model for one sentence."""
    model = pretrained.minilm()
    traces = model.traces(SENTENCE)
    record = trace(*(torch.cat([getattr(layer, name) for layer in traces], 1) for name in "qkv"))
    view = explore(record, tokens=model.tokens(SENTENCE), name="bench", store="float16")
    count = len(inline_json(view.payload))
    note = f"float16: no weight is off by more than {fixed(view.payload['error'], 6)}"
    what = f"all-MiniLM-L6-v2, {record.shape[1]} heads, {record.shape[2]} tokens: data"
    measured, goal = f"{count / 1000:.0f} KB", f"under {MOST_SENTENCE / 1000:.0f} KB"
    return row(what, measured, goal, count < MOST_SENTENCE, note=note)


def scripts() -> list[dict]:
    rows = []
    for name, text in script.files().items():
        count, is_core = len(gzip.compress(text.encode(), mtime=0)), name == "explorer.js"
        goal = f"under {MOST_SCRIPT / 1000:.0f} KB" if is_core else ""
        note = "every page" if is_core else "where a page needs it"
        met = count < MOST_SCRIPT if is_core else None
        rows.append(row(f"{name}, gzip", f"{count / 1000:.1f} KB", goal, met, note=note))
    return rows


def main() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    rows = [*scripts(), real_model()]
    with driver.headless() as browser:
        for tokens, limit in LENGTHS.items():
            rows += changes(browser, tokens, limit)
        rows += long_map(browser)
    driver.publish(rows, "The explorer in the browser", ("torch", "playwright"))


if __name__ == "__main__":
    main()
