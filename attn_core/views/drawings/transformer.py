"""The whole Transformer as a scheme: a stack that reads beside a stack that writes."""

from __future__ import annotations

from attn_core.views.drawings.drawing import Box, Drawing

WIDE, TALL = 164, 34
PAD = 9  # between a layer and its sublayers
SHEET = 6  # from one layer of a stack to the next
LEFT, RIGHT = 16, 246
GROUND = 440


def transformer() -> Drawing:
    """Encoder stack and decoder stack, what goes in below, and what comes out above.

    >>> transformer()
    Drawing: The whole Transformer, read upward. On the left is the encoder: the words that are \
read become embeddings, their positions are added, and n layers of self-attention and feed-forward \
follow. On the right is the decoder: the words so far become embeddings, their positions are \
added, and n layers of causal self-attention, cross-attention and feed-forward follow; a linear \
layer and softmax give the next word, which joins the words so far. The encoder's output, the \
memory, goes as keys and values into every cross-attention.

    Taught in chapter 09.
    """
    sheet = Drawing(
        460,
        458,
        "The whole Transformer, read upward. On the left is the encoder: the words that are read "
        "become embeddings, their positions are added, and n layers of self-attention and "
        "feed-forward follow. On the right is the decoder: the words so far become embeddings, "
        "their positions are added, and n layers of causal self-attention, cross-attention and "
        "feed-forward follow; a linear layer and softmax give the next word, which joins the words "
        "so far. The encoder's output, the memory, goes as keys and values into every "
        "cross-attention.",
    )
    read = column(sheet, LEFT, "Tom chases Jerry", ("self-attention", "feed-forward"))
    write = column(
        sheet,
        RIGHT,
        "<start> 汤姆 追逐",
        ("causal self-attention", "cross-attention", "feed-forward"),
    )
    middle, y = write[-1].middle[0], write[-1].y - PAD - 2 * SHEET
    for words in ("linear", "softmax"):
        sheet.arrow((middle, y), (middle, y - 16), gap=0, width=1.6)
        y = sheet.box(middle - 52, y - 44, 104, 28, words, fill="paper", line="soft").y
    sheet.arrow((middle, y), (middle, y - 16), gap=0, width=1.6)
    sheet.text("杰瑞", middle, y - 28, "accent", bold=True)
    sheet.text("next word", middle - 26, y - 28, "soft", align="end")
    side = RIGHT + WIDE + PAD + 2 * SHEET + 14
    round = (middle + 24, y - 28), (side, y - 28), (side, GROUND)
    sheet.line(*round, ink="accent", stroke_dasharray="5 4")
    sheet.arrow((side, GROUND), (middle + 64, GROUND), "accent", width=1.5, gap=0)
    for words, x in (("encoder", LEFT), ("decoder", RIGHT)):
        sheet.text(words, x + WIDE / 2, 18, bold=True)

    crossed, (start, top) = write[1], read[-1].top
    memory = top - PAD - 2 * SHEET
    turn = LEFT + WIDE + 33
    for way, ink, name in ((-7, "key", "k"), (7, "value", "v")):
        x, over, end = turn - way, memory - 20 + way, crossed.left[1] + way
        sheet.line((start - way, memory), (start - way, over), (x, over), (x, end), ink=ink)
        sheet.arrow((x, end), (crossed.x, end), ink, gap=0, width=1.6)
        sheet.text(name, RIGHT - PAD - 10, end + 1.7 * way, ink)
    sheet.text("memory", start, memory - 40)
    return sheet


def column(sheet: Drawing, x: float, words: str, parts: tuple[str, ...]) -> list[Box]:
    """What goes in, and a stack of layers, the first in sight; the boxes of its sublayers."""
    middle, ground = x + WIDE / 2, GROUND
    sheet.text(words, middle, ground)
    sheet.arrow((middle, ground - 12), (middle, ground - 28), gap=0, width=1.6)
    row = sheet.box(x, ground - 58, WIDE, 30, "embedding", fill="paper", line="soft")
    row = sheet.box(x, row.y - 38, WIDE, 30, "+ position", fill="paper", line="soft")
    sheet.line(row.bottom, (middle, row.y + 38))
    low = row.y - 26
    high = len(parts) * (TALL + PAD) + PAD
    sheet.arrow(row.top, (middle, low), gap=0, width=1.6)
    for behind in (2, 1, 0):
        at = x - PAD + behind * SHEET, low - high - behind * SHEET
        sheet.box(*at, WIDE + 2 * PAD, high, fill="paper", line="soft")
    sheet.text("n layers", middle + 16, low + 13, "soft", align="start")
    return [
        sheet.box(x, low - (n + 1) * (TALL + PAD), WIDE, TALL, part) for n, part in enumerate(parts)
    ]
