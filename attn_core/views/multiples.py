"""All heads at a glance: one small map a head, all in the same colours."""

import math
import textwrap

from attn_core.views.fonts import font_families
from attn_core.views.given import Numbers
from attn_core.views.heat import INK, MASKED, Color, mix, rgb_of
from attn_core.views.labels import count_in_words, head_in_words

MOST_ACROSS = 12
MOST_A_SIDE = 64
SHEET = 7.2  # inches of a row of many maps
LETTER = 0.6 * 7.5 / 72  # inches of a letter of a name


def grid_shape(heads: int) -> tuple[int, int]:
    """Rows and columns of a sheet of small maps: full rows where that is possible.

    >>> grid_shape(12), grid_shape(72), grid_shape(5)
    ((2, 6), (6, 12), (1, 5))
    """
    if heads <= 6:
        return 1, heads
    for across in range(MOST_ACROSS, 3, -1):
        if heads % across == 0 and heads > across:
            return heads // across, across
    across = min(MOST_ACROSS, math.ceil(math.sqrt(2 * heads)))
    return math.ceil(heads / across), across


def draw_heads(picture, maps: list, names: list[str], head: int | None) -> float:
    """Draws the maps of all heads into an empty picture; returns the end of the colours."""
    finite = [abs(x) for cells in maps for row in cells for x in row if math.isfinite(x)]
    end = max(finite, default=0.0) or 1.0
    down, across = grid_shape(len(maps))
    shape = len(maps[0][0]) / len(maps[0])
    wide = SHEET / across if across > 4 else 1.7
    names = [
        textwrap.fill(name, max(1, int(wide / LETTER)), break_long_words=False) for name in names
    ]
    tall = wide / min(max(shape, 0.5), 2.0) + 0.24 + 0.12 * max(name.count("\n") for name in names)
    picture.set_size_inches(across * wide, down * tall + 0.35)
    for place, (axes, cells) in enumerate(
        zip(picture.subplots(down, across, squeeze=False).flat, maps, strict=False)
    ):
        colored = [[color_of(x, end) for x in row] for row in cells]
        axes.imshow(colored, aspect="auto", interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        fonts = font_families(names[place])
        axes.set_title(
            names[place].replace("$", r"\$"), fontsize=7.5, color=INK, pad=2, family=fonts
        )
        chosen = place == head
        axes.spines[:].set(color=INK if chosen else "#c4c4cc", linewidth=2 if chosen else 0.6)
    for axes in picture.axes[len(maps) :]:
        axes.remove()
    return end


def color_of(x: float, end: float) -> Color:
    return mix(x / end) if math.isfinite(x) else rgb_of(MASKED)


def describe_heads(record: Numbers, stage: str, maps: list, names: list[str]) -> str:
    """In words: how many maps, and which head holds the largest number."""
    most = [max(x for row in cells for x in row) for cells in maps]
    largest = head_in_words(names[most.index(max(most))])
    counts = count_in_words(record, stage)
    return f"Small heatmaps of {counts}. The largest number is in {largest}."
