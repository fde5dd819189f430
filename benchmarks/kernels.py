"""`trace`, `attention` and `sweep` beside the attention of others, in one run.

    make bench

Times are processor time of one thread, float32: other programs on the machine disturb it little,
and both sides of a ratio have the same. Each side gets fresh memory in each round.
"""

import json
import sys
import time
from collections.abc import Callable
from itertools import product
from statistics import median

import torch

from attn_core import AttentionTrace, Dropout, causal, padding, sweep, trace, window
from attn_core.call import Call
from attn_core.engines.finite import check_numbers
from benchmarks import every_mask, peers, report
from benchmarks.timing import (
    duration,
    in_another_process,
    in_turn,
    on_the_clock,
    peak_memory,
    ratio,
)

SHAPES = ((64, 12, 128, 64), (8, 12, 512, 64), (1, 16, 2048, 64))
LONG = 131_072
MEGABYTES = 64
PACKAGES = ("torch", "transformers", "d2l")
WITH_WEIGHTS = {
    "nn.MultiheadAttention's operations": peers.torch_with_weights(),
    "Hugging Face eager": peers.hugging_face,
    "d2l": peers.d2l,
}
HUGE_PAGES = "THP_MEM_ALLOC_ENABLE"


def inputs(*shape: int) -> list[torch.Tensor]:
    """q, k and v, the same numbers each time."""
    generator = torch.Generator().manual_seed(sum(shape))
    return [torch.randn(shape, generator=generator) for _ in range(3)]


def row(what: str, goal: str, ours: str, theirs: str = "", times: str = "", met=None,
        spread: str = "", note: str = "") -> dict:  # fmt: skip
    return {
        "section": "kernels",
        "what": what,
        "goal": goal,
        "measured": {"ours": ours, "theirs": theirs, "ratio": times},
        "met": met,
        "spread": spread,
        "note": note,
    }


def faster(what: str, goal: float | None, times: dict, ours: str, theirs: str, note: str = ""):
    """A row that says how many times longer theirs takes."""
    factor, spread = ratio(times, theirs, ours)
    return row(
        what,
        "" if goal is None else f"≥ {goal:g}×",
        duration(median(times[ours])),
        duration(median(times[theirs])),
        f"{factor:.2f}×",
        None if goal is None else factor >= goal,
        spread,
        note,
    )


def no_slower(what: str, goal: float, times: dict, ours: str, theirs: str, note: str = "") -> dict:
    """A row that says how many times longer ours takes."""
    factor, spread = ratio(times, ours, theirs)
    medians = (duration(median(times[name])) for name in (ours, theirs))
    return row(what, f"≤ {goal:g}×", *medians, f"{factor:.2f}×", factor <= goal, spread, note)


def maps(shape: tuple[int, ...], goal: float, rounds: int) -> list[dict]:
    """A causal record against whoever gives weights, too; and all of its weights."""
    q, k, v = inputs(*shape)
    call = Call.of(q, k, v)
    calls = {
        **{name: lambda attend=attend: attend(q, k, v) for name, attend in WITH_WEIGHTS.items()},
        "SDPA": lambda: peers.torch_alone(q, k, v, is_causal=True),
        "trace": lambda: trace(q, k, v, keep=causal()),
        "all weights": lambda: trace(q, k, v, keep=causal()).stage("weights"),
        "check": lambda: check_numbers(call),
    }
    times = in_turn(calls, rounds)
    medians = {name: median(seconds) for name, seconds in times.items()}
    best = min(WITH_WEIGHTS, key=medians.get)
    others = ", ".join(f"{name} {duration(medians[name])}" for name in WITH_WEIGHTS if name != best)
    alone = f"SDPA alone, no weights, no check: {medians[best] / medians['SDPA']:.2f}×"
    read = 4 * (q.numel() + k.numel() + v.numel()) / 1e6
    checked = (
        f"ours reads the {read:.0f} MB of q, k and v once more, to reject numbers that are not "
        f"finite: {duration(medians['check'])} alone, "
        f"{medians['check'] / medians['SDPA']:.1%} of SDPA"
    )
    note = f"theirs: {best}; {others}; {alone}; {checked}"
    return [
        faster(
            f"`trace` against others that return weights, {shape}", goal, times, "trace", best, note
        ),
        faster(f"all weights of all heads, {shape}", None, times, "all weights", best),
    ]


def small(rounds: int) -> list[dict]:
    """One call on (1, 1, 6, 2)."""
    q, k, v = inputs(1, 1, 6, 2)
    repeats = 200
    calls = {
        "trace": lambda: trace(q, k, v),
        "peer": lambda: peers.torch_with_weights()(q, k, v),
        "add": lambda: q + k,
    }
    times = in_turn(calls, rounds, repeats)
    least = {name: min(seconds) for name, seconds in times.items()}
    lines = [
        row(
            "`trace`, (1, 1, 6, 2)",
            "≤ 50 µs",
            duration(least["trace"]),
            duration(least["peer"]),
            f"{least['peer'] / least['trace']:.2f}×",
            least["trace"] <= 50e-6,
            f"{duration(least['trace'])} to {duration(max(times['trace']))}",
            f"the fastest of {rounds} rounds; it runs {operations(calls['trace'])} operations of "
            f"torch, and one addition of 12 numbers takes {duration(least['add'])} here",
        )
    ]
    return lines


def operations(call: Callable[[], object]) -> int:
    """How many operations of torch a call runs."""
    with torch.profiler.profile() as profile:
        call()
    return sum(event.cpu_parent is None for event in profile.events())


def settings(T: int, D: int, rounds: int) -> list[dict]:
    """64 settings at once, and one by one."""
    tensors = inputs(T, D)
    scales = [0.1 * n for n in range(1, 9)]
    keeps = [None, causal(), window(2), padding([T // 2])]
    drops = [Dropout(0.5, 1), Dropout(0.5, 2)]
    every = list(product(scales, keeps, drops))
    calls = {
        "sweep": lambda: sweep(*tensors, scale=scales, keep=keeps, dropout=drops),
        "loop": lambda: [trace(*tensors, scale=s, keep=m, dropout=d) for s, m, d in every],
    }
    parts = parts_of_sweep(tensors[2], len(scales) * len(keeps), drops)
    times = in_turn(calls | parts, rounds)
    medians = {name: median(times[name]) for name in parts}
    shares = ", ".join(f"{name} {duration(taken)}" for name, taken in medians.items())
    most = median(times["loop"]) / sum(medians.values())
    what = f"`sweep` of {len(every)} settings against `trace` in a loop, T = {T}, D = {D}"
    note = f"the same dropout bits; {shares}: at most {most:.1f}× in these steps"
    return [faster(what, 15, times, "sweep", "loop", note)]


def parts_of_sweep(v: torch.Tensor, maps: int, drops: list[Dropout]) -> dict[str, Callable]:
    """What a sweep does without which nothing can: on maps that are there already."""
    T = len(v)
    scores = torch.randn(maps, T, T)
    weights = torch.randn(len(drops), maps, T, T)
    values = v.expand(len(drops) * maps, *v.shape).contiguous()
    square = range(1), range(1), range(T), range(T)
    survives = torch.stack([drop.survives(*square)[0] for drop in drops])
    return {
        "random words": lambda: [drop.words(*square) for drop in drops],
        "exponentials": lambda: torch.exp(scores),
        "dropped weights": lambda: weights * survives / (1 - drops[0].p),
        "products": lambda: torch.bmm(weights.flatten(0, 1), values),
    }


def tile(record: AttentionTrace, rounds: int) -> list[dict]:
    """512 × 512 weights out of a long map whose row statistics are there."""
    T = record.shape[2]
    middle = range(T // 2, T // 2 + 512)
    q, k = record.q[0, 0, :512], record.k[0, 0, :512]
    scores = q @ k.mT
    calls = {
        "tile": lambda: record.tile("weights", middle, middle),
        "product": lambda: q @ k.mT,
        "exp": lambda: torch.exp(scores),
    }
    times = in_turn(calls, rounds)
    medians = {name: median(each) for name, each in times.items()}
    what = f"a tile of 512 × 512 weights, T = {T:,}"
    note = (
        f"processor time; the product alone takes {duration(medians['product'])} of it, the "
        f"exponentials alone {duration(medians['exp'])}"
    )
    rows = [(f"{what}, one thread", times["tile"], note)]
    try:
        torch.set_num_threads(2)
        rows.append(
            (f"{what}, two threads", on_the_clock(calls["tile"], rounds), "wall-clock time")
        )
    finally:
        torch.set_num_threads(1)
    return [
        row(name, "< 1 ms", duration(median(each)), met=median(each) < 1e-3,
            spread=f"{duration(min(each))} to {duration(max(each))}", note=text)
        for name, each, text in rows
    ]  # fmt: skip


def long(T: int) -> list[dict]:
    """A tile and the row statistics of one long head, and the memory that they take."""
    q, k, v = inputs(1, 1, T, 64)
    record = trace(q, k, v, keep=causal())
    times = {"ours": [], "theirs": []}
    calls = {"ours": lambda: record.row_max, "theirs": lambda: peers.flash_of_torch(q, k, v)}
    for name, call in calls.items():
        start = time.thread_time()
        call()
        times[name].append(time.thread_time() - start)
    what = f"row statistics of {T:,} tokens, one head, causal"
    note = "theirs: torch's flash operation, which also makes the output"
    lines = [*tile(record, 101), no_slower(what, 1.0, times, "ours", "theirs", note)]
    taken = in_another_process("benchmarks.kernels", "memory", str(T))
    lines.append(
        row(f"extra memory for one head, `trace` and a tile, {T:,} tokens", f"< {MEGABYTES} MB",
            f"{taken / 1e6:.1f} MB", met=taken < MEGABYTES * 1e6,
            note=f"a whole map would take {4 * T * T / 1e9:.0f} GB")
    )  # fmt: skip
    return [line | {"section": "long"} for line in lines]


def memory(T: int) -> int:
    """Bytes by which the process grows for a record of T tokens and a tile of its weights."""
    few = torch.randn(2048, 64)
    trace(few, few, few, keep=causal()).tile("weights", range(8), range(8))
    q, k, v = torch.randn(3, T, 64)
    before = peak_memory()
    record = trace(q, k, v, keep=causal())
    record.tile("weights", range(512), range(512))
    return peak_memory() - before


def map_rows(rounds: int) -> list[dict]:
    lines = []
    for shape, goal in zip(SHAPES, (2, 2.5, 4), strict=True):
        lines += maps(shape, goal, rounds)
    return lines


def every_mask_rows(rounds: int) -> list[dict]:
    lines = []
    for shape in SHAPES:
        lines += every_mask.rows(inputs(*shape), rounds, faster, no_slower)
    return lines


def with_huge_pages(rounds: int) -> list[dict]:
    """The same first rows where both sides get huge pages."""
    lines = in_another_process("benchmarks.kernels", "maps", str(rounds), **{HUGE_PAGES: "1"})
    kept = [line for line in lines if line["what"].startswith("`trace` ")]
    return [
        line | {"what": f"{line['what']}, huge pages", "goal": "", "met": None, "note": "a control"}
        for line in kept
    ]


def rows(rounds: int = 9) -> list[dict]:
    """The whole table but the long text's."""
    lines = every_mask_rows(5) + map_rows(rounds) + with_huge_pages(3) + small(9)
    return lines + settings(6, 2, 9) + settings(64, 32, 9)


def main() -> None:
    torch.set_num_threads(1)
    with torch.no_grad():
        if sys.argv[1:2] == ["memory"]:
            print(json.dumps(memory(int(sys.argv[2]))))
        elif sys.argv[1:2] == ["maps"]:
            print(json.dumps(map_rows(int(sys.argv[2]))))
        elif sys.argv[1:2] == ["long"]:
            report.store(long(LONG), f"One head over {LONG:,} tokens", "make bench", PACKAGES)
        else:
            report.store(rows(), "Attention beside other attention", "make bench", PACKAGES)


if __name__ == "__main__":
    main()
