"""The explorer beside BertViz and CircuitsVis, on the same attention of a made-up model.

    make bench

For each length: bytes of a page that opens from a folder, time to make it, time until a browser has
painted the first cells, and the browser's memory then. Each page is opened in a browser of its own.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from attn_core import AttentionTrace, trace
from attn_core.views import explore, script
from attn_core.views.payload import inline_json
from benchmarks import driver, report
from benchmarks.driver import FOLDER, ROOT
from benchmarks.opening import open_page

HEADS, WIDTH = 12, 32
LENGTHS = {32: 3, 128: 3, 512: 1, 2048: 1}  # tokens: rounds
LONGEST_EXACT = 128  # above it the explorer gets its numbers in float16, and says what that costs
LONG, MOST_BYTES = 2048, 5_000_000
LIMIT = 30  # seconds that a page gets
VIEWERS = ("explorer", "BertViz head view", "BertViz model view", "CircuitsVis")
PACKAGES = ("torch", "bertviz", "circuitsvis", "playwright")


def made_up_model(tokens: int) -> AttentionTrace:
    """The record of 12 heads of width 32, drawn by numpy's Philox, the same numbers everywhere.

    >>> made_up_model(8).shape
    (1, 12, 8, 8)
    """
    words = np.random.Philox(key=2048).random_raw(3 * HEADS * tokens * WIDTH)
    uniform = torch.from_numpy((words >> np.uint64(40)).astype(np.float32)) / 2**24
    q, k, v = ((uniform - 0.5) * 12**0.5).reshape(3, 1, HEADS, tokens, WIDTH)
    return trace(q, k, v)


def names(tokens: int) -> list[str]:
    return [f"w{n}" for n in range(tokens)]


def explorer_page(record: AttentionTrace) -> str:
    """One page with everything in it: the element, its data, the script and the style."""
    tokens = record.shape[2]
    store = "float16" if tokens > LONGEST_EXACT else None
    view = explore(record, tokens=names(tokens), name="bench", store=store)
    data = f'<script type="application/json">{inline_json(view.payload)}</script>'
    scripts = "".join(text for name, text in script.files().items() if "model" not in name)
    return (
        f"<style>{view._css}</style><script>{scripts}</script>"
        f'<attention-explorer name="bench">{data}</attention-explorer>'
    )


def bertviz_page(view: Callable, record: AttentionTrace) -> str:
    weights = record.stage("weights")
    return view([weights], names(record.shape[2]), html_action="return").data


def circuitsvis_page(record: AttentionTrace) -> str:
    from circuitsvis.attention import attention_heads

    weights = record.stage("weights")[0]
    return attention_heads(weights, names(record.shape[2])).local_src


def makers() -> dict[str, Callable[[AttentionTrace], str]]:
    import bertviz

    return {
        "explorer": explorer_page,
        "BertViz head view": lambda record: bertviz_page(bertviz.head_view, record),
        "BertViz model view": lambda record: bertviz_page(bertviz.model_view, record),
        "CircuitsVis": circuitsvis_page,
    }


def make_pages(tokens: int, rounds: int) -> dict[str, list[float]]:
    """Writes a page for each viewer; the seconds that each took, from q, k and v to its HTML."""
    made, seconds = makers(), {name: [] for name in VIEWERS}
    small, record = made_up_model(4), made_up_model(tokens)
    for make in made.values():  # the first call prepares what later ones find ready
        make(small)
    for _ in range(rounds):
        for name, make in made.items():
            gc.collect()
            start = time.perf_counter()
            text = make(trace(record.q, record.k, record.v))
            seconds[name].append(time.perf_counter() - start)
            head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title>'
            with page_path(name, tokens).open("w", encoding="utf-8") as file:
                file.write(head)
                file.write(text)
            del text
    return seconds


def page_path(name: str, tokens: int) -> Path:
    return FOLDER / f"{name.replace(' ', '-')}-{tokens}.html"


def size(count: float) -> str:
    """Bytes as a text: "4.30 MB".

    >>> size(4_300_000), size(67_890_000)
    ('4.30 MB', '67.9 MB')
    """
    return f"{count / 1e6:.{2 if count < 1e7 else 1}f} MB"


def rows_of(tokens: int, seconds: dict, opened: dict) -> list[dict]:
    """The rows of one length. The explorer's goal is to be smaller and sooner than the others."""
    sizes = {name: page_path(name, tokens).stat().st_size for name in VIEWERS}
    firsts = {name: [page["first"] for page in opened[name]] for name in VIEWERS}
    medians = {n: median(f) if None not in f else float("inf") for n, f in firsts.items()}
    lines = []
    for name in VIEWERS:
        notes = []
        others = [other for other in VIEWERS if other != "explorer"]
        met = all(sizes[name] < sizes[other] and medians[name] < medians[other] for other in others)
        is_ours, goal = name == "explorer", "smallest page, soonest picture"
        if is_ours and tokens > LONGEST_EXACT:
            notes.append("q, k and v in float16")
        if tokens >= LONG:
            goal, met = f"{goal}, below {size(MOST_BYTES)}", met and sizes[name] < MOST_BYTES
        is_opened = medians[name] < float("inf")
        memory = max(page["memory"] for page in opened[name])
        notes += {page["why"] for page in opened[name] if page["why"]}
        spread = f"{min(firsts[name]):.2f} to {max(firsts[name]):.2f} s" if is_opened else ""
        measured = {
            "page": size(sizes[name]),
            "made in": f"{median(seconds[name]):.2f} s",
            "first picture after": f"{medians[name]:.2f} s" if is_opened else "none",
            "browser memory": size(memory),
        }
        wanted = (goal, met) if is_ours else ("", None)
        spread = spread if len(firsts[name]) > 1 else ""
        what, note = f"{tokens:,} tokens, {name}", "; ".join(notes)
        lines.append(driver.row("viewers", what, measured, *wanted, spread=spread, note=note))
    return lines


def rows() -> list[dict]:
    """Everything measured; a process of its own makes the pages of each length."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = []
    for tokens, rounds in LENGTHS.items():
        command = [sys.executable, "-m", "benchmarks.viewers", str(tokens), str(rounds)]
        made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        seconds = json.loads(made.stdout.splitlines()[-1])
        opened = {name: [] for name in VIEWERS}
        for _ in range(rounds):
            for name in VIEWERS:
                opened[name].append(open_page(page_path(name, tokens), FOLDER, LIMIT))
        lines += rows_of(tokens, seconds, opened)
        for name in VIEWERS:
            page_path(name, tokens).unlink()
        print(report.table(lines[-len(VIEWERS) :]), file=sys.stderr)
    return lines


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(make_pages(int(sys.argv[1]), int(sys.argv[2]))))
        return
    torch.set_num_threads(os.cpu_count() or 1)
    driver.publish(rows(), "Viewers of attention maps", PACKAGES)


if __name__ == "__main__":
    main()
