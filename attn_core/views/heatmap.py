"""A stage of a record as a matplotlib picture, in the explorer's colours."""

import math
from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from attn_core.checks import check_index, check_stage
from attn_core.digits import fixed
from attn_core.views.fonts import font_families
from attn_core.views.given import GivenWeights, Numbers
from attn_core.views.heat import INK, MASKED, cell_text, ink_on, legend_ends, long_ends, mix
from attn_core.views.labels import (
    check_head_names,
    check_places,
    check_record,
    check_select,
    count_in_words,
    count_text,
    head_in_words,
    in_quotes,
    of_sequence,
    selection_text,
    token_lists,
)
from attn_core.views.multiples import MOST_A_SIDE, describe_heads, draw_heads
from attn_core.views.picture import MOST_WRITTEN, Picture, colors_of, label_axes, light
from attn_core.views.visible import visible
from attn_core.views.wide import in_float64

MOST_DRAWN = 256
MAP = 4.8  # inches of a map whose cells have no numbers


def figure(
    record: Numbers,
    stage: str = "weights",
    *,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    head: int | None = 0,
    batch: int = 0,
    select: Sequence[int] | None = None,
    how: str = "mean",
    head_names: Sequence[str] | None = None,
    places: int = 2,
) -> Picture:
    """A stage as a heatmap with its numbers: queries in rows, keys in columns.

    >>> from attn_core import toy, trace
    >>> words = toy.journey()
    >>> figure(trace(words.x, words.x, words.x), tokens=words.tokens, select=(1, 0))
    Figure: weights, 6 queries × 6 keys, 1 head

    tokens: one string a query; key_tokens: one a key, by default the same as tokens.
    head: which one; None draws all of them, small, under their `head_names`.
    select: (row, column) of a number to be framed, with a sentence about it.
    how: above 256 rows or columns it draws blocks of cells, their "mean" or their "max".
    places: decimals of the numbers, which are left out of maps with more than 12 columns.
    `.alt` describes the picture in words. Taught in chapter 03.
    """
    if not isinstance(record, GivenWeights):
        check_record(record)
    check_stage(stage)
    places = check_places(places)
    batch = check_index("batch", batch, record.shape[0])
    select = check_select(record, stage, select)
    sides = dict(zip(("queries", "keys"), token_lists(record, tokens, key_tokens), strict=True))
    rows, cols = ([*map(visible, labels)] for labels in of_sequence(sides, batch).values())
    names = check_head_names(record, head_names)
    if head is None:
        return all_heads(record, stage, batch, how, names)
    head = check_index("head", head, record.shape[1])
    L, width = record.shape[2], record.columns(stage)
    if stage == "output":
        cols = [str(d) for d in range(width)]
    said = selection_text(record, stage, select, rows, cols, batch, head)
    queries, keys = ([*map(in_quotes, labels)] for labels in (rows, cols))
    spoken = selection_text(record, stage, select, queries, keys, batch, head)
    cells = cells_of(in_float64(record), stage, batch, head, how, MOST_DRAWN)
    n, m = len(cells), len(cells[0])
    is_pooled = (n, m) != (L, width)
    if is_pooled:
        rows, cols = [str(r * L // n) for r in range(n)], [str(c * width // m) for c in range(m)]
        # Block r holds rows r·L//n to (r + 1)·L//n − 1.
        select = select and [((select[0] + 1) * n - 1) // L, ((select[1] + 1) * m - 1) // width]
    title = stage if names is None else f"{stage}, {names[head]}"
    ends = long_ends(cells) if is_pooled else None
    picture = draw(cells, stage, rows, cols, places, select, ends)
    picture.axes[0].set_title(
        title.replace("$", r"\$") + (f", {how} of blocks" if is_pooled else ""),
        fontsize=11,
        family=font_families(title),
        fontweight="bold",
        color=INK,
        loc="left",
    )
    picture.summary = f"Figure: {count_text(record, stage)}"
    name = names[head] if names else f"head {head}"
    where = shown_of(record, batch, name)
    picture.alt = describe(record, stage, cells, rows, cols, where)
    picture.alt += f" {spoken}" if spoken else ""
    if said:
        picture.supxlabel(
            said.replace("$", r"\$"), fontsize=9.5, color=INK, family=font_families(said)
        )
    return picture


def all_heads(
    record: Numbers,
    stage: str,
    batch: int,
    how: str,
    names: list[str] | None,
    chosen: int | None = None,
) -> Picture:
    """The small maps of all heads, the chosen one in a frame."""
    count = record.shape[1]
    names = names or [f"head {h}" for h in range(count)]
    wide = in_float64(record)
    maps = [cells_of(wide, stage, batch, h, how, MOST_A_SIDE) for h in range(count)]
    picture = Picture(dpi=110, facecolor="white", layout="constrained")
    end = draw_heads(picture, maps, names, chosen)
    title = f"{stage}, {count} heads, paper 0, ink {fixed(end)}"
    picture.suptitle(title, fontsize=9, color=INK)
    picture.summary = f"Figure: {count_text(record, stage)}"
    picture.alt = describe_heads(record, stage, maps, names)
    return picture


def cells_of(
    record: Numbers, stage: str, batch: int, head: int, how: str, most: int
) -> list[list[float]]:
    """The cells of one head, or blocks of them where there are more than `most` a side."""
    L, width = record.shape[2], record.columns(stage)
    place = {"batch": batch, "head": head}
    if max(L, width) > most:
        cells = record.pooled(stage, (min(L, most), min(width, most)), how, **place)
    else:
        cells = record.tile(stage, slice(None), slice(None), **place)
    return cells.tolist()


def written(x: float, is_whole: bool, places: int) -> str:
    """A number in a picture, where 0.00 says enough of what is smaller.

    >>> written(0.004, False, 2), written(-0.004, False, 2), written(1e9, False, 2)
    ('0.00', '0.00', '1e+09')
    """
    text = cell_text(x, is_whole, places)
    return f"{0:.{places}f}" if abs(x) < 1 and "e" in text else text


def draw(
    cells: list[list[float]],
    stage: str,
    rows: list[str],
    cols: list[str],
    places: int,
    select: list[int] | None = None,
    ends: tuple[float, float, float] | None = None,
) -> Picture:
    n, m = len(rows), len(cols)
    cell_width = 0.62 if m <= MOST_WRITTEN else MAP / m
    cell_height = 0.42 if m <= MOST_WRITTEN and n <= 24 else min(cell_width, MAP / n)
    size = max(m * cell_width, 1.6) + 1.6, max(n * cell_height, 1.0) + 1.1
    picture = Picture(figsize=size, dpi=110, facecolor="white", layout="constrained")
    axes = picture.add_subplot()
    low, high, end = ends or legend_ends(cells)
    image = draw_map(axes, cells, stage, rows, cols, places, select, (low, high, end))
    more = "max" if ends and legend_ends(cells)[1] > high else "neither"
    bar = picture.colorbar(image, ax=axes, pad=0.02, fraction=0.046, aspect=24, extend=more)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, color="#999999", labelcolor=INK)
    return picture


def draw_map(
    axes: Axes,
    cells: list[list[float]],
    stage: str,
    rows: list[str],
    cols: list[str],
    places: int,
    select: list[int] | None,
    ends: tuple[float, float, float],
) -> AxesImage:
    """The cells in their colours, with their numbers where there are few, and their words."""
    low, high, end = ends
    n, m = len(rows), len(cols)
    fonts = font_families("".join(rows + cols))
    shown = [[math.nan if math.isinf(x) else x for x in row] for row in cells]
    image = axes.imshow(shown, cmap=colors_of(low, high, end), vmin=low, vmax=high, aspect="auto")
    is_whole = all(x.is_integer() for row in cells for x in row if math.isfinite(x))
    hatched = partial(Rectangle, facecolor=MASKED, edgecolor="#c4c4cc", hatch="///", lw=0)
    for i, row in enumerate(cells):
        for j, x in enumerate(row):
            if x == -math.inf:
                axes.add_patch(hatched((j - 0.5, i - 0.5), 1, 1))
            if m <= MOST_WRITTEN and n <= 24:
                ink = INK if x == -math.inf else ink_on(mix(x / end))
                text = written(x, is_whole, places)
                axes.text(j, i, text, ha="center", va="center", fontsize=9, color=ink, family=fonts)
    label_axes(axes, stage, rows, cols, fonts)
    if select:
        light(axes, stage, n, m, *select)
    return image


def shown_of(record: Numbers, batch: int, head: str) -> str:
    """The sequence and the head that a heatmap shows, where there are several."""
    B, H = record.shape[:2]
    places = [head_in_words(head)] * (H > 1) + [f"sequence {batch}"] * (B > 1)
    return f" in {' of '.join(places)}" if places else ""


def describe(
    record: Numbers,
    stage: str,
    cells: list[list[float]],
    rows: list[str],
    cols: list[str],
    where: str,
) -> str:
    """The heatmap in words; where: the head that it shows, if there are several."""
    places = [(x, i, j) for i, row in enumerate(cells) for j, x in enumerate(row)]
    x, i, j = max(places, key=lambda place: place[0])
    kind = "column" if stage == "output" else "key"
    query, key = in_quotes(rows[i]), in_quotes(cols[j])
    largest = f"The largest number{where} is {fixed(x)}, for query {query} and {kind} {key}."
    return f"Heatmap of {count_in_words(record, stage)}. {largest}"
