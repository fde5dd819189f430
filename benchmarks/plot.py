"""The measured ratios as pictures: each beside its goal, and how far the rounds lay apart."""

import re
import textwrap
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
PANELS = {
    "≥": (
        "times as fast as the other\n(the further right, the better)",
        (0.5, 1, 1.5, 2, 3, 5, 10, 15, 20, 30),
    ),
    "≤": (
        "its time as a share of the other's\n(the further left, the better)",
        (0.5, 0.7, 1, 1.5, 2, 3, 5),
    ),
}
SHAPE = re.compile(r", (\((\d+), \d+, \d+, \d+\))$")
REST = "other lengths"
WIDTH, LETTERS = 3.1, 50  # inches of a picture, and how many letters they hold
AROUND = 0.75  # inches below the rows of a panel
MARKS, LINE = 0.14, 0.13  # inches of a row: its marks, a line of its name
# The same bytes on every day, and text that can be searched. On a phone and on paper a picture
# is as large as it is made, and so are its letters.
SAME = {"svg.hashsalt": "ratios", "svg.fonttype": "none", "font.size": 8.5}


def ratios(stored: dict) -> list[dict]:
    """Of the rows that have a goal and a ratio: what, sign, goal, ratio, low, high."""
    rows = []
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
            rows.append(
                {"what": what, "sign": goal[1], "goal": float(goal[2])}
                | {"ratio": ratio, "low": low, "high": high}
            )
    return rows


def pictures(stored: dict) -> dict[str, tuple[str, list[dict]]]:
    """The rows of each picture, with its title, by the end of its file's name: a shape's texts."""
    by_name: dict[str, tuple[str, list[dict]]] = {}
    for row in ratios(stored):
        shape = SHAPE.search(row["what"])
        name, title = (shape[2], shape[1]) if shape else ("rest", REST)
        what = SHAPE.sub("", row["what"]).replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        row = row | {"what": textwrap.fill(what, LETTERS)}
        by_name.setdefault(name, (title, []))[1].append(row)
    return by_name


def path_of(name: str, folder: Path = FOLDER) -> Path:
    return folder / f"results-{name}.svg"


def draw(stored: dict, folder: Path = FOLDER) -> None:
    """Write the pictures: in each a panel for goals of at least, one for goals of at most."""
    for name, (title, rows) in pictures(stored).items():
        panels = {sign: [row for row in rows if row["sign"] == sign] for sign in PANELS}
        panels = {sign: panel for sign, panel in panels.items() if panel}
        with rc_context(SAME):
            heights = [len(panel) for panel in panels.values()]
            lines = max(row["what"].count("\n") + 1 for row in rows)
            height = 0.3 + AROUND * len(panels) + (MARKS + LINE * lines) * sum(heights)
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            figure.suptitle(title, fontsize="medium", fontweight="bold")
            axes = figure.subplots(
                len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights}
            )
            for ax, (sign, panel) in zip(axes.flat, panels.items(), strict=True):
                label, marks = PANELS[sign]
                fill(ax, panel, marks)
                ax.set_xlabel(label)
            figure.savefig(path_of(name, folder), metadata={"Date": None})


def fill(ax: Axes, rows: list[dict], marks: tuple[float, ...]) -> None:
    """A line a row, below its name: the spread, the median as a dot, the goal as a bar."""
    for place, row in enumerate(rows):
        ax.hlines(place, row["low"], row["high"], color="#7a7a7a", linewidth=1.5)
        ax.plot(row["ratio"], place, "o", color="#4b2a8f", markersize=4.5)
        ax.plot(row["goal"], place, "|", color="#b3470a", markersize=9, markeredgewidth=2)
        where = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
        name = ax.annotate(row["what"], (0, place), (0, 4.5), va="bottom", **where)
        name.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # over the grid
        name.set_in_layout(False)
    ax.set_yticks([])
    ax.set_ylim(len(rows) - 0.5, -0.9)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    shown = [mark for mark in marks if low <= mark <= high]
    ax.set_xticks(shown, [f"{mark:g}×" for mark in shown])
    ax.set_xticks([], minor=True)
    ax.grid(axis="x", linewidth=0.4)
    ax.spines[["top", "right", "left"]].set_visible(False)
