"""The Transformer of 2017 beside a decoder-only model: two columns of words, and one stream."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.strip import quoted

MOST = 4  # words of a side
WIDE, HIGH = 80, 28  # of a word
STEP = 46  # from a word of the stream to the next
TOP = 62
ENCODER, DECODER, STREAM = 48, 196, 396  # where the columns begin
FARTHEST = 58  # how far the widest arc swings out


def one_stream(source: Sequence[str], target: Sequence[str]) -> Drawing:
    """Left, an encoder and a decoder; right, the same words as one stream, in one decoder.

    >>> one_stream(["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"])
    Drawing: Two models, read upward. On the left is the Transformer of 2017. It has an encoder, \
whose words, “Tom”, “chases”, “Jerry”, all read each other; a decoder, whose words, “汤姆”, \
“追逐”, “杰瑞”, read themselves and those before them; and cross-attention, 3 × 3 arrows from the \
encoder to the decoder. On the right is a decoder-only model: the 6 words are one stream, and each \
reads itself and those before it. The same 3 × 3 arrows are there, as part of its self-attention. \
In both models, the next token is above the last word.

    An arrow goes from the word that is read to the word that reads.

    Args:
        source: the words that the encoder reads, one to four.
        target: the words that the decoder has written, one to four.

    Taught in chapter 12.
    """
    for name, words in (("source", source), ("target", target)):
        if not 1 <= len(words) <= MOST:
            raise ValueError(f"{name} must have 1 to {MOST} words, got {len(words)}")
    words = [*source, *target]
    crossing = f"{len(source)} × {len(target)} arrows"
    next_at = TOP + HIGH / 2  # the middle of the next token, in both models
    ground = next_at + STEP * len(words)
    sheet = Drawing(
        WIDEST,
        ground + HIGH / 2 + 40,
        "Two models, read upward. On the left is the Transformer of 2017. It has an encoder, whose "
        f"words, {', '.join(quoted(source))}, all read each other; a decoder, whose words, "
        f"{', '.join(quoted(target))}, read themselves and those before them; and cross-attention, "
        f"{crossing} from the encoder to the decoder. On the right is a decoder-only model: the "
        f"{len(words)} words are one stream, and each reads itself and those before it. The same "
        f"{crossing} are there, as part of its self-attention. In both models, the next token is "
        "above the last word.",
    )
    sheet.text("Transformer, 2017", (ENCODER + DECODER + WIDE) / 2, 16, bold=True)
    sheet.text("decoder only", STREAM + WIDE / 2, 16, bold=True)
    sheet.line((330, 10), (330, sheet.height - 10), width=0.6)

    step = (ground - next_at) / max(len(source), len(target))
    read = column(sheet, source, ENCODER, ground, step)
    written = column(sheet, target, DECODER, ground, step)
    stream = column(sheet, words, STREAM, ground, STEP)
    # The height of a column's name: over its last word, or over the next token.
    sheet.text("encoder", read[0].middle[0], 42, "soft")
    sheet.text("decoder", written[0].middle[0], 42, "soft")

    for start in read:
        for end in written:
            sheet.arrow(start.right, end.left, "accent", width=1.4, gap=2)
    cross, among = stream[: len(source)], stream[len(source) :]
    for j, start in enumerate(cross):
        for i, end in enumerate(among, len(source)):
            out = FARTHEST * (i - j + 1) / len(words)
            arc(sheet, start, end, out, "accent", way=-1)
    self_arcs(sheet, read, way=-1, is_causal=False)
    for part in (written, cross, among):
        self_arcs(sheet, part, way=1)
    for last in (written[-1], stream[-1]):
        box = sheet.box(last.x - 12, TOP, WIDE + 24, HIGH, "next token", fill="none", line="accent",
                        dashed=True, ink="accent")  # fmt: skip
        sheet.arrow(last.top, box.bottom, "accent", gap=2)
    below = ground + HIGH / 2 + 22
    sheet.text("cross-attention", (read[0].right[0] + written[0].x) / 2, below, "accent")
    sheet.text("self-attention only", STREAM + WIDE / 2, below)
    return sheet


def column(
    sheet: Drawing, words: Sequence[str], x: float, ground: float, step: float
) -> list[Box]:  # fmt: skip
    """The words as boxes, the first lowest."""
    return [
        sheet.box(x, ground - n * step - HIGH / 2, WIDE, HIGH, word) for n, word in enumerate(words)
    ]


def self_arcs(sheet: Drawing, words: Sequence[Box], way: int, *, is_causal: bool = True) -> None:
    """From each word to those that read it, at the right of the column (1) or at the left (-1)."""
    for j, start in enumerate(words):
        for i, end in enumerate(words):
            if i >= j or not is_causal:
                arc(sheet, start, end, 13 + 7 * abs(i - j), "soft", way=way)


def arc(sheet: Drawing, start: Box, end: Box, out: float, ink: str, *, way: int) -> None:
    """Beside a column from one word to another or to itself: at the right (1) or the left (-1)."""
    x = start.x + (WIDE if way > 0 else 0)
    # The arrow to itself is in the middle of a word's side, the others are above and below it.
    leave = -4 if start is end else 10 if end.y < start.y else -10
    first, last = (x, start.middle[1] - leave), (x, end.middle[1] + leave)
    # An arrow bends to the left of its way: upward, that is the left side of the page. Its curve
    # goes half as far as its bend.
    bend = 2 * out * (-way if last[1] < first[1] else way)
    sheet.arrow(first, last, ink, width=1.2, bend=bend, gap=1)
