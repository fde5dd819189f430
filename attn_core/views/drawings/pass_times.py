"""How long a pass takes at least, over the length of the text: prefill, and one step of decode."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from attn_core.views.drawings.drawing import WIDEST, Drawing

LEFT, TOP = 70, 72
GAP = 26
WIDE = (WIDEST - LEFT - GAP - 12) / 2  # of each of the two
HIGH = 238
POINTS = 48  # of a curve


@dataclass(frozen=True)
class Layer:
    """A layer of four matrices and a feed-forward network; a time of 1 reads its matrices once.

    ratio: how many multiply-adds a machine does while it reads one number.
    """

    width: int
    ratio: float

    def prefill(self, n: float) -> tuple[float, float]:
        """What n words of a prompt take: by arithmetic, by reading.

        >>> Layer(width=768, ratio=200).prefill(4608)
        (46.08, 1.0)
        """
        return n * (1 + n / (6 * self.width)) / self.ratio, 1.0

    def decode(self, n: float) -> tuple[float, float]:
        """What one word takes with n words in its cache, which is read as the matrices are.

        >>> Layer(width=768, ratio=200).decode(4608)
        (0.01, 2.0)
        """
        read = 1 + n / (6 * self.width)
        return read / self.ratio, read

    def turn(self) -> float:
        """The length from which prefill waits for arithmetic: n · (1 + n / 6d) is the ratio.

        >>> layer = Layer(width=768, ratio=200)
        >>> round(layer.turn()), round(layer.prefill(layer.turn())[0], 6)
        (192, 1.0)
        """
        reach = 6 * self.width
        return 2 * self.ratio / (1 + math.sqrt(1 + 4 * self.ratio / reach))


def pass_times(width: int = 768, ratio: float = 200.0, longest: int = 65536) -> Drawing:
    """What arithmetic takes and what reading takes, counted; a pass waits for the upper one.

    >>> pass_times(width=768, ratio=200)
    Drawing: Two charts over the length of the text, 1 to 65,536 words, show the least time for a \
pass over a layer of width 768; 1 is the time to read its matrices. Prefill: reading takes 1; \
arithmetic takes less up to 192 words, and more from there on, 4,988 at 65,536 words. Decode, one \
word: reading takes 1.0, with 4,608 words in the cache it takes 2.0, and with 65,536 words 15.2; \
arithmetic always takes 200 times less.

    Args:
        width: of the layer, d. Its matrices hold 12·d² numbers.
        ratio: the multiply-adds that a machine does in the time in which it reads one number.
        longest: how many words the text has at most, a power of 2 that is above the ratio.

    Taught in chapter 11.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if ratio <= 1:
        raise ValueError(f"ratio must be above 1, got {ratio}")
    if longest <= ratio or longest & (longest - 1):
        raise ValueError(f"longest must be a power of 2 above the ratio, got {longest}")
    layer, reach = Layer(width, ratio), 6 * width
    turn = layer.turn()
    low = math.floor(math.log10(1 / ratio))
    high = math.ceil(math.log10(max(layer.prefill(longest))))
    sheet = Drawing(
        WIDEST,
        TOP + HIGH + 56,
        f"Two charts over the length of the text, 1 to {longest:,} words, show the least time for "
        f"a pass over a layer of width {width:,}; 1 is the time to read its matrices. Prefill: "
        f"reading takes 1; arithmetic takes less up to {turn:,.0f} words, and more from there on, "
        f"{layer.prefill(longest)[0]:,.0f} at {longest:,} words. Decode, one word: reading takes "
        f"1.0, with {reach:,} words in the cache it takes {layer.decode(reach)[1]:.1f}, and with "
        f"{longest:,} words {layer.decode(longest)[1]:.1f}; arithmetic always takes {ratio:.0f} "
        "times less.",
    )
    sheet.text("time of a pass, 1 = all matrices read once", 6, 14, "soft", align="start")
    lefts = LEFT, LEFT + WIDE + GAP
    titles = ("prefill", "decode, one word"), ("words in the prompt", "words in the cache")
    places = []
    for left, title, words, times in zip(
        lefts, *titles, (layer.prefill, layer.decode), strict=True
    ):
        at = scale(left, longest, low, high)
        places.append(at)
        sheet.text(title, left, 48, align="start", bold=True)
        axes(sheet, left, at, low, high, longest, labels=left == LEFT)
        sheet.text(words, left + WIDE, TOP + HIGH + 42, "soft", align="end")
        curves(sheet, at, times, turn if left == LEFT else longest, longest)
    first, second = places
    x, y = first(turn, 1)
    sheet.line((x, y), (x, TOP + HIGH), ink="soft", width=1.2, stroke_dasharray="4 3")
    sheet.text(f"{turn:,.0f} words", x + 7, TOP + HIGH - 14, "soft", align="start")
    for at in places:
        sheet.text("reading", at(1, 1)[0] + 5, at(1, 1)[1] - 14, "ink", align="start")
    middle = math.sqrt(turn * longest)
    x, y = first(middle, layer.prefill(middle)[0])
    sheet.text("arithmetic", x - 14, y - 4, "accent", align="end")
    x, y = second(1, layer.decode(1)[0])
    sheet.text("arithmetic", x + 5, y + 15, "accent", align="start")
    x, ends = x + 22, (second(1, 1)[1], y)
    sheet.arrow((x, sum(ends) / 2), (x, ends[0]), gap=4)
    sheet.arrow((x, sum(ends) / 2), (x, ends[1]), gap=4)
    sheet.text(f"{ratio:.0f} times", x + 9, sum(ends) / 2, "soft", align="start")
    return sheet


def scale(left: float, longest: int, low: int, high: int) -> Callable:
    """From a length and a time to a place: both go by factors, not by differences."""

    def at(n: float, time: float) -> tuple[float, float]:
        up = (math.log10(time) - low) / (high - low)
        return left + math.log2(n) / math.log2(longest) * WIDE, TOP + HIGH * (1 - up)

    return at


def curves(
    sheet: Drawing, at: Callable, times: Callable[[float], tuple[float, float]], turn: float,
    longest: int,
) -> None:  # fmt: skip
    """Reading and arithmetic; thick is what the pass waits for, which changes at the turn."""
    every = sorted({turn, *(longest ** (n / POINTS) for n in range(POINTS + 1))})
    for which, ink in enumerate(("accent", "ink")):
        for part in ([n for n in every if n <= turn], [n for n in every if n >= turn]):
            if len(part) < 2:
                continue
            middle = times(part[len(part) // 2])
            waits = middle[which] == max(middle)
            sheet.line(*(at(n, times(n)[which]) for n in part), ink=ink, width=4 if waits else 1.3)


def axes(
    sheet: Drawing, left: float, at: Callable, low: int, high: int, longest: int, *, labels: bool
) -> None:
    """From line to line a hundred times as long, from mark to mark 256 times as many words."""
    for power in range(low, high + 1):
        _, y = at(1, 10.0**power)
        if power % 2 == 0:
            sheet.line((left, y), (left + WIDE, y), width=0.5)
            if labels:
                sheet.text(f"{10.0**power:,g}", left - 8, y, "soft", align="end")
    ground = TOP + HIGH
    sheet.line((left, TOP), (left, ground), (left + WIDE, ground), width=1)
    for power in range(0, longest.bit_length(), 8):
        n = 2**power
        x, _ = at(n, 1)
        sheet.line((x, ground), (x, ground + 5), width=1)
        # The first and the last number would hang over the edge.
        align = "start" if n == 1 else "end" if n == longest else "middle"
        sheet.text(f"{n:,}", x - 4 * (n == 1), ground + 18, "soft", align=align)
