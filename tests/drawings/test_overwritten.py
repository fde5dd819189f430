"""The memory that is written over: its parts add up to what the reader of chapter 01 has."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from attn_core.views import drawings

VECTORS, WORDS = [(8.0, 0.0), (0.0, 4.0), (4.0, 8.0)], ["Tom", "chases", "Jerry"]


def steps(keep: float = 0.5) -> list[list[str]]:
    """The texts of each step."""
    svg = drawings.overwritten(VECTORS, WORDS, keep).svg()
    return [re.findall(r"<text[^>]*>([^<]+)</text>", step) for step in svg.split('class="step"')]


@pytest.mark.parametrize("keep", [0.5, 0.8])
def test_the_shares_of_a_step_are_those_of_the_box_and_add_up_to_one(keep):
    kept = Fraction(str(keep))
    for read, shown in enumerate(steps(keep)[2:], 1):
        shares = [Fraction(text) for text in shown if re.fullmatch(r"\d+/\d+", text)]
        assert shares == [kept**read] + [
            (1 - kept) * kept ** (read - t) for t in range(1, read + 1)
        ]
        assert sum(shares) == 1


def test_the_parts_add_up_to_the_memory():
    memory = [0.0, 0.0]
    for read, shown in enumerate(steps()[2:], 1):
        memory = [(old + new) / 2 for old, new in zip(memory, VECTORS[read - 1], strict=True)]
        pairs = [text for text in shown if re.fullmatch(r"\(\d, \d\)", text)]
        parts = [tuple(map(int, re.findall(r"\d", text))) for text in pairs[3:]]
        assert len(parts) == read
        assert [sum(numbers) for numbers in zip(*parts, strict=True)] == memory


def test_the_words_are_read_aloud_with_what_is_left_of_the_first():
    drawing = drawings.overwritten(VECTORS, WORDS)
    assert drawing.alt.endswith("Of “Tom” 1/8 is left: (1, 0).")
