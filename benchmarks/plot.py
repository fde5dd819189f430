"""The measured ratios as a picture: each beside its goal, and how far the rounds lay apart."""

import re
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PICTURE = Path(__file__).parent / "results.svg"
PANELS = {
    "≥": (
        "times as fast as the other (the further right, the better)",
        (0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30),
    ),
    "≤": (
        "its time as a share of the other's (the further left, the better)",
        (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3),
    ),
}
# The same bytes on every day, and text that can be searched.
SAME = {"svg.hashsalt": "ratios", "svg.fonttype": "none", "font.size": 8}


def ratios(stored: dict) -> list[dict]:
    """Of the rows that have a goal and a ratio: what, sign, goal, ratio, low, high."""
    found = []
    for section in stored.values():
        for row in section["rows"]:
            goal = re.fullmatch(r"([≥≤]) ([\d.]+)×", row["goal"])
            measured = row["measured"]
            if goal is None or not isinstance(measured, dict) or not measured.get("ratio"):
                continue
            ratio = float(measured["ratio"].removesuffix("×"))
            apart = re.fullmatch(r"([\d.]+) to ([\d.]+)×", row["spread"])
            low, high = map(float, apart.groups()) if apart else (ratio, ratio)
            what = row["what"].replace("`", "")
            found.append(
                {"what": what, "sign": goal[1], "goal": float(goal[2])}
                | {"ratio": ratio, "low": low, "high": high}
            )
    return found


def draw(stored: dict, path: Path = PICTURE) -> None:
    """Write the picture: a panel for goals of at least, one for goals of at most."""
    rows = ratios(stored)
    panels = [[row for row in rows if row["sign"] == sign] for sign in PANELS]
    with rc_context(SAME):
        figure = Figure(figsize=(8, 0.8 + 0.3 * len(rows)), layout="constrained")
        heights = [len(panel) + 1 for panel in panels]
        axes = figure.subplots(2, 1, gridspec_kw={"height_ratios": heights})
        for ax, panel, (label, marks) in zip(axes, panels, PANELS.values(), strict=True):
            fill(ax, panel, marks)
            ax.set_xlabel(label)
        figure.savefig(path, metadata={"Date": None})


def fill(ax: Axes, rows: list[dict], marks: tuple[float, ...]) -> None:
    """A line a row: the spread, the median as a dot, the goal as a bar."""
    for place, row in enumerate(rows):
        ax.hlines(place, row["low"], row["high"], color="#7a7a7a", linewidth=1.5)
        ax.plot(row["ratio"], place, "o", color="#4b2a8f", markersize=5)
        ax.plot(row["goal"], place, "|", color="#b3470a", markersize=14, markeredgewidth=2)
    ax.set_yticks(range(len(rows)), [row["what"] for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    shown = [mark for mark in marks if low <= mark <= high]
    ax.set_xticks(shown, [f"{mark:g}×" for mark in shown])
    ax.set_xticks([], minor=True)
    ax.grid(axis="x", linewidth=0.4)
    ax.spines[["top", "right"]].set_visible(False)
