"""The map of the book: which chapter is about which of the six stages."""

from __future__ import annotations

from attn_core.checks import STAGES
from attn_core.views.drawings.drawing import WIDEST, Drawing

# As the line of stages at the beginning of each chapter has them in bold.
CHAPTERS = {
    "01 Bottleneck": "",
    "02 Three stages": "scores weights output",
    "03 Self-attention": "scores weights output",
    "04 By hand": "scores scaled weights output",
    "05 Trainable weights": "scores scaled",
    "06 Masking": "masked weights",
    "07 Dropout": "weights dropped output",
    "08 Multi-head": "scores scaled masked weights output",
    "09 Transformer": "scores scaled masked weights output",
    "10 A whole model": "scores scaled masked weights output",
    "11 Cost": "scores scaled masked weights dropped output",
    "12 Language model": "scores scaled masked weights output",
    "13 Learning": "scores scaled weights output",
    "14 Mistakes": "scores scaled masked weights dropped output",
}
NAMES, ACROSS, DOWN, TOP = 172, 57, 27, 50


def book_map() -> Drawing:
    """A row for each chapter, a column for each stage; what a chapter is about is filled.

    >>> print(book_map().alt.split(". ")[1])
    01 Bottleneck: none yet

    Taught in [the map](map.md).
    """
    sentences = [
        f"{name}: {', '.join(lit.split())}." if lit else f"{name}: none yet."
        for name, lit in CHAPTERS.items()
    ]
    alt = "A table of the chapters and the six stages shows which stages each chapter is about. "
    alt += " ".join(sentences)
    sheet = Drawing(WIDEST, TOP + DOWN * len(CHAPTERS) + 8, alt)
    for place, stage in enumerate(STAGES):
        # In two rows: one would be too narrow for their letters on a phone.
        sheet.text(stage, NAMES + (place + 0.5) * ACROSS, 14 + 22 * (place % 2))
    for row, (name, lit) in enumerate(CHAPTERS.items()):
        y = TOP + row * DOWN
        sheet.text(name, 4, y + DOWN / 2, align="start")
        for place, stage in enumerate(STAGES):
            x = NAMES + place * ACROSS
            is_lit = stage in lit.split()
            sheet.box(
                x + 5, y + 5, ACROSS - 10, DOWN - 10,
                fill="more" if is_lit else "wash", round=3,
            )  # fmt: skip
    return sheet
