"""The still of a text that a language model reads: its arcs, what may come next, and the map."""

from matplotlib.axes import Axes

from attn_core.digits import fixed
from attn_core.views.arcs_still import AXIS, CELL, HALF, SENTENCE, fan, words_taken, write
from attn_core.views.fonts import font_families
from attn_core.views.given import Numbers
from attn_core.views.heat import INK, VALUE, legend_ends
from attn_core.views.heatmap import draw_map
from attn_core.views.next_tokens import best_of, likeliest, percent
from attn_core.views.picture import Picture
from attn_core.views.wide import in_float64

# Inches.
RISE = 1.1  # the highest arc
LINE, BAR = 0.27, 1.0  # of a chance: its height, and the width of 100 %
LABELS = 0.9  # left of the numbers


def prompts_still(record: Numbers, payload: dict) -> Picture:
    """The first text under its arcs, its likeliest next words below it, and the head's weights."""
    prompts, view = payload["prompts"], payload["view"]
    text = prompts["texts"][view["batch"]]
    words = text["tokens"]
    place = {"batch": view["batch"], "head": 0}
    weights = in_float64(record).tile("weights", slice(None), slice(None), **place).tolist()
    side, height = CELL[0] * len(words), CELL[1] * len(words)
    wide = SENTENCE + LABELS + side
    list_high = LINE * (prompts["count"] + 1)
    tall = max(list_high + 2 * HALF + RISE + 0.3, height + AXIS)
    picture = Picture(figsize=(wide, tall), dpi=110, facecolor="#ffffff")
    axes = picture.add_axes((0, 0, SENTENCE / wide, 1))
    axes.set(xlim=(0, SENTENCE), ylim=(0, tall))
    axes.axis("off")
    ground = list_high + HALF
    places = write(axes, words, ground, INK)
    row = view["select"][0] if view["select"] else len(words) - 1
    fan(axes, places, row, weights[row], ground, RISE)
    chances(axes, text, prompts["count"], list_high)
    numbers = picture.add_axes(
        ((SENTENCE + LABELS) / wide, AXIS / tall, side / wide, height / tall)
    )
    draw_map(numbers, weights, "weights", words, words, 2, view["select"], legend_ends(weights))
    picture.alt = described(prompts, text, words, weights[row], row)
    picture.summary = picture.alt
    return picture


def chances(axes: Axes, text: dict, count: int, top: float) -> None:
    """The likeliest next words from above, with the head and, paler, without it."""
    without = dict(zip(text["next"], text["off"]["chances"], strict=True))
    for n, (word, chance) in enumerate(likeliest(text, "on", count)):
        y = top - LINE * (n + 1)
        fonts = font_families(word)
        axes.text(
            1.0, y, word.strip(), fontsize=10, color=INK, family=fonts, ha="right", va="center"
        )
        axes.barh(y + 0.05, BAR * chance, 0.09, left=1.1, color=VALUE)
        axes.barh(y - 0.06, BAR * without[word], 0.09, left=1.1, color=VALUE, alpha=0.35)
        said = f"{percent(chance)}, without the head {percent(without[word])}"
        axes.text(1.2 + BAR * chance, y, said, fontsize=8.5, color=INK, va="center")


def described(prompts: dict, text: dict, words: list[str], row: list[float], at: int) -> str:
    """The picture in words."""
    layer, head = prompts["head"]
    best, on, off = best_of(text)
    return (
        f"The text is “{text['text']}”. In head {head} of layer {layer}, “{words[at]}” takes most "
        f"from “{words_taken(words, row)}”: {fixed(max(row), 2)}. The likeliest next word is "
        f"“{best.strip()}”: {percent(on)}, or {percent(off)} without this head. Beside the text "
        "are the head's weights as numbers."
    )
