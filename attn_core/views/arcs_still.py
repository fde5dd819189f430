"""The still of a sentence with arcs: who takes from whom, and one head's numbers beside it."""

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text

from attn_core.steps import Pass, Steps
from attn_core.views.fonts import boxes_for_what_is_missing, font_families
from attn_core.views.heat import INK, VALUE, legend_ends
from attn_core.views.heatmap import draw_map
from attn_core.views.model_pass import read_and_written
from attn_core.views.picture import Picture

# Inches.
SENTENCE = 3.7  # its width
RISE, LEAST_RISE, BELOW = 1.4, 0.35, 0.9  # the highest arc, the lowest, down to the translation
CELL = 0.58, 0.42
LABELS, AXIS = 0.8, 0.62  # left of the numbers and below them
SPACE, HALF = 0.24, 0.14  # between words; half a line
LOOP = 0.3, 0.42  # half the width of what a word takes from itself, and its height
THICKEST, LEAST_SEEN = 6, 0.02  # points; the weight below which the page draws no arc, either
ARC = "#a98fd8"


def arcs_still(steps: Steps, payload: dict) -> Picture:
    """The sentence under its arcs, its translation below it, and the weights that the arcs are."""
    done, labels = read_and_written(steps, payload)
    view = payload["view"]
    read, wrote = labels["source"], labels["target"][1:]
    within, across = (weights(done, **view["arcs"][which]) for which in ("within", "across"))
    side, height = CELL[0] * len(read), CELL[1] * len(read)
    wide, tall = SENTENCE + LABELS + side, max(RISE + BELOW + 0.3, height + AXIS)
    picture = Picture(figsize=(wide, tall), dpi=110, facecolor="#ffffff")
    axes = picture.add_axes((0, 0, SENTENCE / wide, 1))
    axes.set(xlim=(0, SENTENCE), ylim=(0, tall))
    axes.axis("off")
    ground = BELOW + HALF
    above, below = write(axes, read, ground, INK), write(axes, wrote, ground - BELOW, VALUE)
    for at, row in enumerate(within):
        fan(axes, above, at, row, ground, RISE)
    for x, row in zip(below, across, strict=False):
        for to, weight in zip(above, row, strict=True):
            if weight >= LEAST_SEEN:
                start, end = (x, ground - BELOW + HALF), (to, ground - HALF)
                join(axes, start, end, ground - BELOW / 2, weight, VALUE)
    place = (SENTENCE + LABELS) / wide, AXIS / tall, side / wide, height / tall
    select = view["select"] and view["select"][1:]
    numbers = picture.add_axes(place)
    draw_map(numbers, within, "weights", read, read, 2, select, legend_ends(within))
    picture.alt = described(read, wrote, within)
    picture.summary = picture.alt
    return picture


def weights(done: Pass, step: str, head: int) -> list[list[float]]:
    return done.value(step, "weights")[0, head].tolist()


def write(axes: Axes, words: list[str], y: float, color: str) -> list[float]:
    """Write the words in a row, in the middle of the axes, and say where the middle of each is."""
    fonts = font_families("".join(words))
    written = [axes.text(0, y, w, fontsize=13, color=color, family=fonts) for w in words]
    widths = [width(text) for text in written]
    x = (SENTENCE - sum(widths) - SPACE * (len(words) - 1)) / 2
    middles = []
    for text, wide in zip(written, widths, strict=True):
        middles.append(x + wide / 2)
        text.set(x=middles[-1], horizontalalignment="center", verticalalignment="center")
        x += wide + SPACE
    return middles


def width(text: Text) -> float:
    """Inches."""
    with boxes_for_what_is_missing():
        return text.get_window_extent(dpi=72).width / 72


def fan(
    axes: Axes, places: list[float], at: int, row: list[float], ground: float, highest: float
) -> None:
    """What one word takes from each: arcs above the words, and a loop to itself."""
    x, y = places[at], ground + HALF
    for to, weight in zip(places, row, strict=True):
        if weight >= LEAST_SEEN and x == to:
            loop(axes, (x, y), weight)
        elif weight >= LEAST_SEEN:
            rise = max(LEAST_RISE, highest * abs(to - x) / (places[-1] - places[0]))
            join(axes, (x, y), (to, y), ground + rise, weight, ARC)


def join(axes: Axes, start: tuple, end: tuple, height: float, weight: float, color: str) -> None:
    """A curve from one place to another, as thick as the weight is large."""
    bend(axes, [start, *((x, height) for x, _ in (start, end)), end], weight, color)


def loop(axes: Axes, start: tuple[float, float], weight: float) -> None:
    """What a word takes from itself: from the word back to it."""
    x, y = start
    between = [(x + side * LOOP[0], y + LOOP[1]) for side in (-1, 1)]
    bend(axes, [start, *between, start], weight, ARC)


def bend(axes: Axes, points: list[tuple[float, float]], weight: float, color: str) -> None:
    curve = Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])
    thick = THICKEST * weight
    axes.add_patch(PathPatch(curve, fill=False, edgecolor=color, linewidth=thick, alpha=0.75))


def described(read: list[str], wrote: list[str], within: list[list[float]]) -> str:
    """The picture in words."""
    most = [words_taken(read, row) for row in within]
    pairs = ", ".join(
        f"“{word}” {'from' if n else 'takes most from'} “{taken}”"
        for n, (word, taken) in enumerate(zip(read, most, strict=True))
    )
    return (
        f"The sentence “{' '.join(read)}” is under arcs, which show what each word takes from "
        f"every word in one head. {pairs}. Below the sentence is its "
        f"translation “{' '.join(wrote)}”, each word joined to those that it was made from. Beside "
        "both are the head's weights as numbers."
    )


def words_taken(words: list[str], row: list[float]) -> str:
    """The word that a row takes most from."""
    return words[max(range(len(row)), key=row.__getitem__)]
