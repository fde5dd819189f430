"""The words of a map: beside its rows and above its columns."""

from __future__ import annotations

from collections.abc import Sequence

import drawsvg

from attn_core.views.drawings.drawing import Box, Drawing, neat


def beside(sheet: Drawing, words: Sequence[str], box: Box, inks: Sequence[str] = ()) -> None:
    """Each word left of its row."""
    high = box.height / len(words)
    for i, word in enumerate(words):
        ink = inks[i] if inks else "ink"
        sheet.text(word, box.x - 7, box.y + (i + 0.5) * high, ink, align="end")


def above(sheet: Drawing, words: Sequence[str], box: Box, inks: Sequence[str] = ()) -> None:
    """Each word over its column, read from below to above."""
    wide = box.width / len(words)
    for j, word in enumerate(words):
        x, y = neat(box.x + (j + 0.5) * wide + 0.35 * sheet.letters), neat(box.y - 6)
        ink = inks[j] if inks else "ink"
        turned = {"class_": ink, "transform": f"rotate(-90 {x} {y})"}
        sheet.add(drawsvg.Text(word, neat(sheet.letters), x, y, text_anchor="start", **turned))


def across(word: str, letters: float) -> float:
    """About how wide a word is, a little more rather than less.

    >>> across("journey", 16) > across("it", 16)
    True
    """
    narrow = sum(letter in "ijlft.,'’()[] " for letter in word)
    return letters * (0.64 * (len(word) - narrow) + 0.4 * narrow)


def check_words(tokens: Sequence[str], count: int) -> None:
    if len(tokens) != count:
        raise ValueError(f"tokens must be {count} words, got {len(tokens)}")
