"""Where each written word looks: lines to the words that were read, as thick as the weights."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attn_core.views.drawings.drawing import WIDEST, Drawing

THICKEST = 9  # the line of a weight of 1
LEAST = 0.04  # a share that is drawn
SIDE = 10
HIGH, BOX = 196, 30
HIDDEN = 8  # of a line's end, behind a box


def alignment(weights: Tensor, written: Sequence[str], read: Sequence[str]) -> Drawing:
    """The read sentence above, the written one below, each line as thick as its weight.

    >>> import torch
    >>> shares = torch.tensor([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8], [0.03, 0.95, 0.02]])
    >>> alignment(shares, ["Tom", "mag", "Jerry"], ["Tom", "likes", "Jerry"])
    Drawing: Above are the words that were read: “Tom likes Jerry”. Below are those that are \
written: “Tom mag Jerry”. The lines between them are as thick as the attention. “Tom” looks most \
at “Tom” (0.90), “mag” at “Jerry” (0.80), “Jerry” at “likes” (0.95).

    Args:
        weights: [L, S], a row of shares for each written word.
        written: L words.
        read: S words.

    Taught in chapter 09.
    """
    if tuple(weights.shape) != (len(written), len(read)):
        wanted = f"[{len(written)}, {len(read)}]"
        raise ValueError(f"weights must be {wanted}, got {list(weights.shape)}")
    most = [int(row.argmax()) for row in weights]
    description = ", ".join(
        f"“{word}” {'at' if i else 'looks most at'} “{read[j]}” ({weights[i, j]:.2f})"
        for i, (word, j) in enumerate(zip(written, most, strict=True))
    )
    sheet = Drawing(
        WIDEST,
        HIGH + 26,
        f"Above are the words that were read: “{' '.join(read)}”. Below are those that are "
        f"written: “{' '.join(written)}”. The lines between them are as thick as the attention. "
        f"{description}.",
    )
    above, below = spread(len(read)), spread(len(written))
    for i, row in enumerate(weights.tolist()):
        for j, share in enumerate(row):
            if share >= LEAST:
                ink = "accent" if j == most[i] else "soft"
                ends = (above[j], 12 + BOX - HIDDEN), (below[i], HIGH - BOX + HIDDEN)
                sheet.line(*ends, ink=ink, width=THICKEST * share, stroke_opacity=0.8)
    across = (WIDEST - 2 * SIDE) / max(len(read), len(written)) - 8
    for x, word in zip(above, read, strict=True):
        sheet.box(x - across / 2, 12, across, BOX, word, fill="key-wash", line="key")
    for i, (x, word) in enumerate(zip(below, written, strict=True)):
        sheet.box(x - across / 2, HIGH - BOX, across, BOX, word, fill="query-wash", line="query")
        sheet.text(f"{weights[i, most[i]]:.2f}", x, HIGH + 14, "accent")
    return sheet


def spread(count: int) -> list[float]:
    """The middles of so many boxes, across the whole width."""
    each = (WIDEST - 2 * SIDE) / count
    return [SIDE + (n + 0.5) * each for n in range(count)]
