"""One stage of a record as a matplotlib picture, in the explorer's colours."""

import base64
import io
import math
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from matplotlib import font_manager
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attn_core.checks import check_index, check_stage
from attn_core.digits import fixed
from attn_core.record import AttentionTrace
from attn_core.views.labels import check_places, check_record, count_text, token_lists

QUERY, KEY, VALUE = "#0072B2", "#C24E00", "#00795A"
# Paper, middle, ink for positive and for negative numbers; explorer.js draws with the same.
MORE = ("#ffffff", "#a98fd8", "#3b1f6b")
LESS = ("#ffffff", "#dcbc55", "#8a6d00")
INK, MASKED = "#1b1b22", "#ececf0"
MOST_DRAWN = 256
MOST_WRITTEN = 12
CJK_FONTS = "pylopdf_fonts_zh_cn"


class Picture(Figure):
    """A matplotlib figure that shows itself in a notebook; `alt` says in words what it shows."""

    alt = ""
    summary = "Figure"

    def draw(self, renderer) -> None:
        with warnings.catch_warnings():
            # A token may hold a character that no font here has; it is drawn as a box.
            warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from font")
            super().draw(renderer)

    def png(self) -> str:
        """The picture as PNG, in base64."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=self.dpi, bbox_inches="tight", transparent=False)
        return base64.b64encode(stream.getvalue()).decode("ascii")

    def _repr_png_(self) -> tuple[str, dict[str, str]]:
        return self.png(), {"alt": self.alt}

    def __repr__(self) -> str:
        return self.summary


def figure(
    record: AttentionTrace,
    stage: str = "weights",
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    head: int = 0,
    batch: int = 0,
    places: int = 2,
) -> Picture:
    """A stage of one head as a heatmap with its numbers: queries in rows, keys in columns.

    >>> from attn_core import toy, trace
    >>> words = toy.journey()
    >>> figure(trace(words.x, words.x, words.x), tokens=words.tokens)
    Figure: weights, 6 queries × 6 keys, 1 head

    tokens: one string a query; key_tokens: one a key, the same as tokens unless given.
    places: decimals of the numbers, which are left out of maps with more than 12 columns.
    Above 256 rows or columns it draws means of blocks. `.alt` describes the picture in words.
    Taught in chapter 03.
    """
    check_record(record)
    check_stage(stage)
    check_places(places)
    check_index("batch", batch, record.shape[0])
    check_index("head", head, record.shape[1])
    rows, cols = token_lists(record, tokens, key_tokens)
    L, width = record.shape[2], record.columns(stage)
    if stage == "output":
        cols = [str(d) for d in range(width)]
    is_pooled = max(L, width) > MOST_DRAWN
    if is_pooled:
        shape = min(L, MOST_DRAWN), min(width, MOST_DRAWN)
        cells = record.pooled(stage, shape, batch=batch, head=head)
    else:
        cells = record.tile(stage, slice(None), slice(None), batch=batch, head=head)
    cells = cells.detach().double().cpu().tolist()
    if is_pooled:
        rows = [str(r * L // len(cells)) for r in range(len(cells))]
        cols = [str(c * width // len(cells[0])) for c in range(len(cells[0]))]
    picture = draw(cells, stage, rows, cols, places)
    picture.summary = f"Figure: {count_text(record, stage)}"
    picture.alt = describe(record, stage, cells, rows, cols)
    return picture


def draw(
    cells: list[list[float]], stage: str, rows: list[str], cols: list[str], places: int
) -> Picture:
    low, high, end = legend_ends(cells)
    n, m = len(rows), len(cols)
    fonts = font_families("".join(rows + cols))
    cell_width = 0.62 if m <= MOST_WRITTEN else max(0.035, 7 / m)
    cell_height = 0.42 if m <= MOST_WRITTEN and n <= 24 else min(cell_width, max(0.035, 7 / n))
    size = max(m * cell_width, 1.6) + 1.6, max(n * cell_height, 1.0) + 1.1
    picture = Picture(figsize=size, dpi=110, facecolor="white", layout="constrained")
    axes = picture.add_subplot()
    share = [low / end + (high - low) / end * step / 255 for step in range(256)]
    colors = ListedColormap([mix(s) for s in share])
    shown = [[math.nan if math.isinf(x) else x for x in row] for row in cells]
    image = axes.imshow(shown, cmap=colors, vmin=low, vmax=high, aspect="auto")
    is_whole = all(x.is_integer() for row in cells for x in row if math.isfinite(x))
    for i, row in enumerate(cells):
        for j, x in enumerate(row):
            if x == -math.inf:
                corner = (j - 0.5, i - 0.5)
                axes.add_patch(
                    Rectangle(
                        corner, 1, 1, facecolor=MASKED, edgecolor="#c4c4cc", hatch="///", lw=0
                    )
                )
            if m <= MOST_WRITTEN and n <= 24:
                ink = INK if x == -math.inf else ink_on(mix(x / end))
                text = cell_text(x, is_whole, places)
                axes.text(j, i, text, ha="center", va="center", fontsize=9, color=ink, family=fonts)
    label_axes(axes, stage, rows, cols, fonts)
    bar = picture.colorbar(image, ax=axes, pad=0.02, fraction=0.046, aspect=24)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color="#999999", labelcolor=INK)
    axes.set_title(stage, fontsize=11, fontweight="bold", color=INK, loc="left")
    return picture


def label_axes(axes, stage: str, rows: list[str], cols: list[str], fonts: list[str]) -> None:
    side = VALUE if stage == "output" else KEY
    name = "value column" if stage == "output" else "key"
    for axis, labels, color in ((axes.yaxis, rows, QUERY), (axes.xaxis, cols, side)):
        step = 1 if len(labels) <= 48 else math.ceil(len(labels) / 16)
        places = range(0, len(labels), step)
        axis.set_ticks(places, [labels[i].replace("$", r"\$") for i in places])
        for label in axis.get_ticklabels():
            label.set(color=color, family=fonts, fontsize=9 if len(labels) <= 24 else 7)
    if max(len(text) for text in cols) > 6 or len(cols) > MOST_WRITTEN:
        axes.tick_params(axis="x", rotation=90 if len(cols) > MOST_WRITTEN else 40)
    axes.tick_params(length=0)
    axes.set_xlabel(f"{name} →", color=side, fontsize=9, family=fonts)
    axes.set_ylabel("← query", color=QUERY, fontsize=9, family=fonts)
    axes.spines[:].set_visible(False)


def describe(
    record: AttentionTrace, stage: str, cells: list[list[float]], rows: list[str], cols: list[str]
) -> str:
    places = [(x, i, j) for i, row in enumerate(cells) for j, x in enumerate(row)]
    x, i, j = max(places, key=lambda place: place[0])
    kind = "column" if stage == "output" else "key"
    largest = f"The largest number is {fixed(x)}, query {rows[i]}, {kind} {cols[j]}."
    return f"Heatmap of {count_text(record, stage)}. {largest}"


def legend_ends(cells: list[list[float]]) -> tuple[float, float, float]:
    """The ends of the colours, low ≤ 0 ≤ high, and the larger of their sizes."""
    finite = [x for row in cells for x in row if math.isfinite(x)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    return low, high or (1.0 if low == 0 else 0.0), max(high, -low) or 1.0


def cell_text(x: float, is_whole: bool, places: int) -> str:
    """As the explorer writes it: whole numbers if the whole stage is whole."""
    return fixed(x, 0 if is_whole and abs(x) < 1e6 else places)


def mix(share: float) -> tuple[float, float, float]:
    """The colour of a number: its share of the legend's end, −1 to 1."""
    stops = [to_rgb(stop) for stop in (LESS if share < 0 else MORE)]
    t = 2 * min(abs(share), 1.0)
    start, stop, part = (0, 1, t) if t < 1 else (1, 2, t - 1)
    pairs = zip(stops[start], stops[stop], strict=True)
    return tuple(round((a + (b - a) * part) * 255) / 255 for a, b in pairs)


def luminance(color: tuple[float, float, float]) -> float:
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def ink_on(color: tuple[float, float, float]) -> str:
    """Ink that reads well (4.5:1) on a cell: soft black if it does, else white or black."""
    light = luminance(color) + 0.05
    if light / (luminance(to_rgb(INK)) + 0.05) >= 4.5:
        return INK
    return "#ffffff" if 1.05 / light >= light / 0.05 else "#000000"


def font_families(text: str) -> list[str]:
    """matplotlib's own font, and for Chinese one from a package rather than from the machine."""
    needs_cjk = any("\u2e80" <= character <= "\u9fff" for character in text)
    return ["DejaVu Sans", *([cjk_font()] if needs_cjk and cjk_font() else [])]


@cache
def cjk_font() -> str:
    spec = find_spec(CJK_FONTS)
    if spec is None:
        found = {font.name for font in font_manager.fontManager.ttflist}
        names = ("Noto Sans SC", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "SimHei")
        return next((name for name in names if name in found), "")
    path = Path(spec.submodule_search_locations[0]) / "NotoSansSC-Regular.otf"
    font_manager.fontManager.addfont(path)
    return font_manager.FontProperties(fname=path).get_name()
