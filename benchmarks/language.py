"""The language model in a page: its speed beside other programs', its memory and its bytes.

    make bench

All read the same 16 tokens and write the same number of further ones, in turn, with one thread.
Our page is timed until a frame shows the chances, and until they are computed. The others are timed
by their own clocks or around their calls, and paint nothing, so they are compared with the latter.
Where what npm brings for the comparison is missing, nothing is measured, and what is stored stays
as it is.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median

from playwright.sync_api import Browser

from attn_core.pretrained import smollm2
from benchmarks import driver, language_page, language_peers, tab
from benchmarks.timing import busy, ratio
from benchmarks.visits import bytes_of

SECTION = "language"
TOKENS, ROUNDS, STEPS = 16, 5, 8
STARTS = ("Many", "Some", "Most", "All", "Few", "Old", "Young")  # so that no text is in a cache
TEXT = "{} people in our little town now know that the capital of the country France is"
TYPED = "The animal did not cross the street because it was too tired"
MOST_READ, MOST_NEXT, MOST_TASK, MOST_LAYER = 250, 70, 50, 200  # milliseconds
MOST_MEMORY, MOST_SCREEN, MOST_FILE = 300e6, 350e3, 30e3  # bytes
OURS = "this page"
COMPUTED = "this page, not painted"

row, within = partial(driver.row, SECTION), partial(driver.within, SECTION)
unblocked = partial(driver.unblocked, SECTION)
Times = dict[str, dict[str, list]]


def texts() -> list[tuple[str, list[int]]]:
    """Texts of the same number of tokens, the first of which differs."""
    model = smollm2()
    made = [(TEXT.format(start), model.ids(TEXT.format(start))[0].tolist()) for start in STARTS]
    for text, ids in made:
        if len(ids) != TOKENS:
            raise RuntimeError(f"a text must have {TOKENS} tokens, got {len(ids)} for {text!r}")
    return made


def in_turn(browser: Browser, site: str, peers_site: str) -> tuple[Times, dict[str, list[float]]]:
    """By side: "read" and "next", milliseconds a round, and "said", what it wrote.

    COMPUTED has those of our page before anything is painted. And the tasks of 50 ms and more of
    our page, while it reads and writes and while one types.
    """
    model = smollm2()
    ours = language_page.Loaded(browser, site)
    peers = {peer.name: peer.opened(browser, peers_site) for peer in language_peers.peers()}
    sides = (OURS, COMPUTED, *peers)
    times: Times = {name: {"read": [], "next": [], "said": []} for name in sides}
    made = texts()
    for n, (text, ids) in enumerate(made[: ROUNDS + 1]):
        own = ours.round(text, STEPS)
        taken = {OURS: own, COMPUTED: own["computed"] | {"said": own["said"]}}
        for name, page in peers.items():
            taken[name] = language_peers.round_of(page, text, ids, STEPS)
        if n == 0:
            ours.tasks()  # the first of their kind
            continue
        for name, of in taken.items():
            times[name]["read"].append(of["prompt"])
            times[name]["next"].append(median(of["later"]))
            said = of["said"]
            times[name]["said"].append(said if isinstance(said, str) else model.text(said))
    tasks = {"written": ours.tasks()}
    ours.type(TYPED)
    tasks["typed"] = ours.tasks()
    return times, tasks


def speeds(times: Times, sizes: dict[str, int]) -> list[dict]:
    """Rows of our times, and of how many times as long the others take.

    sizes: bytes of each other program's model.
    """
    rows = []
    for of, what, limit in (
        ("read", f"a text of {TOKENS} tokens", MOST_READ),
        ("next", "a further token", MOST_NEXT),
    ):
        painted = within(f"{what}: the probabilities are painted after", times[OURS][of], limit)
        computed = (
            f"computed after {median(times[COMPUTED][of]):.0f} ms; the rest is the next frame"
        )
        rows.append(painted | {"note": "; ".join(filter(None, (computed, painted["note"])))})
        sides = {name: each[of] for name, each in times.items()}
        for name in sides:
            if name not in (OURS, COMPUTED):
                others = differing(times[OURS]["said"], times[name]["said"])
                size = f"a model of {sizes[name] / 1e6:.0f} MB"
                rows.append(beside(what, name, sides, (size, others)))
    return rows


def differing(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """
    >>> differing([" Paris", " Paris"], [" Paris.", " a town"])
    'another first word in 1 of 2 texts'
    """
    count = sum(not said.startswith(word) for word, said in zip(ours, theirs, strict=True))
    return f"another first word in {count} of {len(ours)} texts" if count else ""


def beside(what: str, name: str, sides: dict[str, list[float]], notes: Sequence[str]) -> dict:
    times, spread = ratio(sides, name, COMPUTED)
    theirs, ours = (median(sides[side]) for side in (name, COMPUTED))
    taken = f"{theirs:,.0f} ms, ours {ours:,.0f} ms, both without painting"
    note = "; ".join(filter(None, (taken, *notes, busy())))
    return row(f"{what}: {name} / ours", f"{times:.2f}×", "> 1×", times > 1, spread, note)


def tasks(taken: dict[str, list[float]]) -> list[dict]:
    rows = []
    for when, what in (
        ("typed", "a text is typed"),
        ("written", "texts are read and words written"),
    ):
        what = f"the longest task of the page while {what} takes"
        longest = max(taken[when], default=0)
        rows.append(unblocked(what, longest, MOST_TASK))
    return rows


def visited(visits: Sequence[tuple[dict, dict]]) -> list[dict]:
    """visits: a first and a second one, with the seconds until something was painted."""
    rows = []
    for n, (visit, limit) in enumerate(
        (
            ("first visit, files from a server here", 0),
            ("second visit, files from its store", MOST_LAYER),
        )
    ):
        layers, chances = ([1000 * pair[n][of] for pair in visits] for of in ("layer", "painted"))
        rows.append(within(f"{visit}: the first layer is painted after", layers, limit, places=0))
        rows.append(
            within(f"{visit}: the probabilities for a text are painted after", chances, places=0)
        )
    return rows


def sizes(memory: dict[str, int], screen: int, layer: int) -> list[dict]:
    """Rows of bytes: a tab's memory by what it has done, and what travels without the model."""
    rows = [
        row(
            f"memory of the tab {when}",
            f"{count / 1e6:.0f} MB",
            f"under {MOST_MEMORY / 1e6:.0f} MB",
            count < MOST_MEMORY,
        )
        for when, count in memory.items()
    ]
    for what, count, most in (
        (
            "before the model is requested: everything that the page loads, gzip",
            screen,
            MOST_SCREEN,
        ),
        ("before the model is requested: one more layer, at most, gzip", layer, MOST_FILE),
    ):
        measured, goal = f"{count / 1e3:.1f} KB", f"under {most / 1e3:.0f} KB"
        rows.append(row(what, measured, goal, count < most))
    return rows


def main() -> None:
    if absent := language_peers.missing():
        print(f"Not here, so nothing is measured of the language model: {', '.join(absent)}.")
        return
    with ExitStack() as stack:
        peers_site = stack.enter_context(driver.served(language_peers.put_together()))
        site = stack.enter_context(driver.served(driver.HTML))
        with driver.headless() as browser:
            times, taken = in_turn(browser, site, peers_site)
            sizes_of_peers = {peer.name: peer.bytes for peer in language_peers.peers()}
            rows = [*speeds(times, sizes_of_peers), *tasks(taken)]
            rows += visited([language_page.visits(browser, site) for _ in range(3)])
            screen = bytes_of(browser, site, language_page.PAGE)
        rows += sizes(tab.memory(), screen, language_page.bytes_layer())
    driver.publish(rows, "A language model in the browser", ("playwright", "onnx", "torch"))


if __name__ == "__main__":
    main()
