"""Memory as one strip: how heads are cut out of it, and how a wrong cut mixes words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from attn_core.digits import plain
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.margins import check_words
from attn_core.views.drawings.steps import Steps

FILLS = (("more", 0.75), ("less", 0.75), ("masked", 1.0))  # of the words, by turns
HEADS = ("ink", "accent")
HIGH = 44
TOP = 38
ROWS = 164
EDGE, LABEL, BETWEEN = 8, 98, 60


def memory(q: Tensor, heads: int, tokens: Sequence[str], *, wrong: bool = False) -> Steps:
    """Where each number of a projection lies in memory, and which head gets it.

    >>> q = torch.arange(12).view(3, 4)
    >>> words = ["Your", "journey", "starts"]
    >>> memory(q, 2, words)  # doctest: +ELLIPSIS
    Drawing: A strip of 12 numbers, from which two heads of 3 × 2 numbers are cut. 1: Memory is \
one strip, word after word. Each head must get 2 of the 4 numbers of every word. 2: ...
    >>> memory(q, 2, words, wrong=True)  # doctest: +ELLIPSIS
    Drawing: ... 3: From word to word it is now 2 places: 8 of 12 numbers land in another word's \
row.

    Args:
        q: the numbers of a few words, [words, heads · width], at most 12 of them.
        heads: how many heads, 2.
        tokens: the words.
        wrong: cut by .view(b, h, n, d) alone, as it must not be.

    Taught in chapter 08.
    """
    if q.ndim != 2 or q.numel() > 12:
        raise ValueError(f"q must be a matrix of at most 12 numbers, got {list(q.shape)}")
    if heads != 2 or q.shape[1] % heads:
        raise ValueError(f"heads must be 2 and divide the width {q.shape[1]}, got {heads}")
    count, width = q.shape
    check_words(tokens, count)
    part = width // heads
    strip = Strip(q, tokens, part)
    steps = wrong_way(strip) if wrong else right_way(strip)
    said = f"A strip of {q.numel()} numbers, from which two heads of {count} × {part} numbers "
    return Steps(steps, said + "are cut.")


def right_way(strip: Strip) -> list[tuple[Drawing, str]]:
    part, width = strip.part, strip.width
    cuts = strip.places.view(strip.count, 2, part).transpose(0, 1)
    return [
        (
            strip.drawn(),
            f"Memory is one strip, word after word. Each head must get {part} of the {width} "
            "numbers of every word.",
        ),
        (
            strip.drawn(cuts),
            f".view(b, n, h, d) cuts the {width} numbers of each word in two. Nothing moves.",
        ),
        (
            strip.drawn(cuts, filled=[0], walking=[0]),
            f".transpose(1, 2) puts heads first: head 0 walks from word to word, {width} places "
            "a step.",
        ),
        (
            strip.drawn(cuts, filled=[0, 1], walking=[1]),
            f"Head 1 walks in the same way, {part} places further on. Each row holds its own word.",
        ),
    ]


def wrong_way(strip: Strip) -> list[tuple[Drawing, str]]:
    count, part = strip.count, strip.part
    cuts = strip.places.view(2, count, part)
    own = torch.arange(count).view(1, -1, 1)
    strays = int((cuts // strip.width != own).sum())
    return [
        (
            strip.drawn(),
            "The same strip. .view(b, h, n, d) gives the right shape: "
            f"2 heads, {count} words, {part} numbers.",
        ),
        (
            strip.drawn(cuts),
            "But it cuts the strip itself in two: head 0 gets the first half of the sentence.",
        ),
        (
            strip.drawn(cuts, filled=[0, 1], walking=[0, 1]),
            f"From word to word it is now {part} places: {strays} of {cuts.numel()} numbers land "
            "in another word's row.",
        ),
    ]


class Strip:
    """The strip above, and the two heads below, in their places."""

    def __init__(self, q: Tensor, tokens: Sequence[str], part: int) -> None:
        self.numbers = [plain(n) for n in q.flatten().tolist()]
        self.count, self.width = q.shape
        self.tokens, self.part = tokens, part
        self.places = torch.arange(q.numel())
        self.side = (WIDEST - 2 * EDGE) / len(self.numbers)

    def drawn(
        self, cuts: Tensor | None = None, filled: Sequence[int] = (), walking: Sequence[int] = ()
    ) -> Drawing:
        """Cut for [heads, words, numbers]; these heads filled, the walk of those drawn."""
        sheet = Drawing(WIDEST, ROWS + 30 + self.count * HIGH + 8, "")
        for place in range(len(self.numbers)):
            self.cell(sheet, place, EDGE + place * self.side, TOP)
        for word, name in enumerate(self.tokens):
            x = EDGE + (word + 0.5) * self.width * self.side
            sheet.text(name, x, TOP - 18, bold=True)
        self.tables(sheet)
        if cuts is not None:
            self.cut(sheet, cuts)
            for head in walking:
                self.walked(sheet, cuts[head], head)
            for head in filled:
                self.fill(sheet, cuts[head], head)
        return sheet

    def cell(self, sheet: Drawing, place: int, x: float, y: float, row: int | None = None) -> None:
        """A number in its word's colour, with its word's letter; a cross in another word's row."""
        word = place // self.width
        fill, opacity = FILLS[word % len(FILLS)]
        box = sheet.box(x, y, self.side, HIGH, fill=fill, opacity=opacity, round=0)
        sheet.frame(box, "soft", 0.8)
        is_stray = row not in (None, word)
        middle = x + self.side / 2
        sheet.text(self.tokens[word][0].upper(), middle - (8 if is_stray else 0), y + 13)
        if is_stray:
            for down in (-4, 4):
                ends = (middle + 5, y + 13 - down), (middle + 13, y + 13 + down)
                sheet.line(*ends, ink="ink", width=2)
        sheet.text(self.numbers[place], middle, y + 31, bold=True)

    def cut(self, sheet: Drawing, cuts: Tensor) -> None:
        """Under the strip, what lies together for one head: a bracket and its name."""
        y = TOP + HIGH + 6
        pieces: list[tuple[int, int, int]] = []  # head, first place, last place
        for head, rows in enumerate(cuts.tolist()):
            for row in rows:
                if pieces and pieces[-1][0] == head and pieces[-1][2] == row[0] - 1:
                    pieces[-1] = (head, pieces[-1][1], row[-1])
                else:
                    pieces.append((head, row[0], row[-1]))
        for head, first, last in pieces:
            left, right = EDGE + first * self.side + 3, EDGE + (last + 1) * self.side - 3
            ink = HEADS[head]
            sheet.line((left, y), (left, y + 6), (right, y + 6), (right, y), ink=ink, width=2)
            sheet.text(f"head {head}", (left + right) / 2, y + 20, ink)

    def walked(self, sheet: Drawing, rows: Tensor, head: int) -> None:
        """From each word's row of a head to the next: how many places a step takes."""
        ink = HEADS[head]
        y = TOP + HIGH + 40
        starts = rows[:, 0].tolist()
        for here, there in pairwise(starts):
            a, b = (EDGE + (place + self.part / 2) * self.side for place in (here, there))
            sheet.arrow((a, y), (b, y), ink, bend=-26, gap=2, width=1.6)
            sheet.text(f"+{there - here}", (a + b) / 2, y + 24, ink)

    def tables(self, sheet: Drawing) -> None:
        """Two empty heads, and the words that their rows are for."""
        for i, name in enumerate(self.tokens):
            fill, opacity = FILLS[i % len(FILLS)]
            y = self.head(0).y + i * HIGH
            x = self.head(0).x - LABEL
            sheet.box(x, y, LABEL - 14, HIGH, name, fill=fill, opacity=opacity, round=4)
        for head in range(2):
            box = self.head(head)
            sheet.text(f"head {head}", box.top[0], box.y - 16, HEADS[head], bold=True)
            sheet.grid(box, self.count, self.part, "soft", 0.6)

    def head(self, head: int) -> Box:
        wide = self.part * self.side
        left = (WIDEST - LABEL - 2 * wide - BETWEEN) / 2 + LABEL
        return Box(left + head * (wide + BETWEEN), ROWS + 26, wide, self.count * HIGH)

    def fill(self, sheet: Drawing, rows: Tensor, head: int) -> None:
        box = self.head(head)
        for i, row in enumerate(rows.tolist()):
            for j, place in enumerate(row):
                self.cell(sheet, place, box.x + j * self.side, box.y + i * HIGH, row=i)
