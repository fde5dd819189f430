"""How far a sliding window reaches through the layers, and how much of each input arrives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import drawsvg

from attn_core.views.drawings.drawing import WIDEST, Drawing, neat

MOST_TOKENS, MOST_LAYERS = 12, 4
LEFT, RIGHT = 76, 10
TOP, STEP = 58, 62
DOT = 6


def window_reach(tokens: int, window: int, layers: int) -> Drawing:
    """From the last token on top down to the inputs that it reads, each with its share.

    >>> window_reach(tokens=7, window=3, layers=2)
    Drawing: 7 tokens in 2 layers with a window of 3. The last token reads, through all layers, \
inputs 3 to 7; its reach is 2 · (3 − 1) + 1 = 5. If each layer takes the even mean of its \
window, the shares of these inputs are 1/9, 2/9, 3/9, 2/9, 1/9.

    A token reads itself and the window − 1 tokens before it, or those that there are. There are no
    residuals: they would keep more of the token itself.

    Args:
        tokens: columns, at most 12.
        window: how many tokens one reads in a layer, itself among them.
        layers: rows above the input, at most 4.

    Taught in chapter 12.
    """
    for name, count, most in (
        ("tokens", tokens, MOST_TOKENS),
        ("window", window, tokens),
        ("layers", layers, MOST_LAYERS),
    ):
        if not 1 <= count <= most:
            raise ValueError(f"{name} must be from 1 to {most}, got {count}")
    shares = shares_of(tokens, window, layers)
    bottom = lcm(*(share.denominator for share in shares[-1]))
    if bottom > 999:
        raise ValueError(
            f"window and layers must give shares with a denominator of at most 999, got {bottom}; "
            "take fewer of them"
        )
    far = layers * (window - 1) + 1
    first = next(n for n, share in enumerate(shares[-1]) if share)
    parts = [int(share * bottom) for share in shares[-1]]
    reach = f"{layers} · ({window} − 1) + 1 = {far}"
    ends = f"inputs {first + 1} to {tokens}" if first + 1 < tokens else f"input {tokens}"
    listed = ", ".join(f"{part}/{bottom}" for part in parts[first:])
    sheet = Drawing(
        WIDEST,
        TOP + STEP * layers + 92,
        f"{tokens} tokens in {layers} layer{'s' if layers > 1 else ''} with a window of {window}. "
        f"The last token reads, through all layers, {ends}; its reach is {reach}. "
        "If each layer takes the even mean of its window, the shares of these inputs are "
        f"{listed}.",
    )
    across = (WIDEST - LEFT - RIGHT) / tokens
    ground = TOP + STEP * layers

    def at(layer: int, token: int) -> tuple[float, float]:
        return LEFT + (token + 0.5) * across, ground - layer * STEP

    sheet.text(f"reach: {reach}", LEFT, 20, "accent", align="start", bold=True)
    # What is reached is drawn over the rest.
    for is_reached in (False, True):
        for layer in range(1, layers + 1):
            for token in range(tokens):
                if bool(shares[layers - layer][token]) != is_reached:
                    continue
                for read in range(max(0, token - window + 1), token + 1):
                    ink, width = ("accent", 2.2) if is_reached else ("soft", 0.5)
                    sheet.line(at(layer, token), at(layer - 1, read), ink=ink, width=width)
    for layer in range(layers + 1):
        words = f"layer {layer}" if layer else "input"
        sheet.text(words, 8, at(layer, 0)[1], align="start")
        for token in range(tokens):
            is_reached = bool(shares[layers - layer][token])
            x, y = map(neat, at(layer, token))
            ink, size = ("accent", DOT) if is_reached else ("masked", DOT - 1)
            sheet.add(drawsvg.Circle(x, y, size, class_=ink))
    sheet.text("share", 8, ground + 50, align="start")
    for token, part in enumerate(parts):
        x = at(0, token)[0]
        sheet.text(str(token + 1), x, ground + 20, "soft")
        if part:
            fraction(sheet, part, bottom, x, ground + 52)
        else:
            sheet.text("0", x, ground + 52, "soft")
    return sheet


def fraction(sheet: Drawing, top: int, bottom: int, x: float, y: float) -> None:
    half = 5.5 * len(str(bottom))
    sheet.text(str(top), x, y - 11, "accent", bold=True)
    sheet.line((x - half, y), (x + half, y), ink="accent", width=1.4)
    sheet.text(str(bottom), x, y + 12, "accent")


def shares_of(tokens: int, window: int, layers: int) -> list[list[Fraction]]:
    """What of each place goes into the last token on top: the top layer first, the input last.

    >>> [str(share) for share in shares_of(tokens=3, window=2, layers=2)[-1]]
    ['1/4', '1/2', '1/4']
    """
    rows = [[Fraction(token == tokens - 1) for token in range(tokens)]]
    for _ in range(layers):
        below = [Fraction(0)] * tokens
        for token, share in enumerate(rows[-1]):
            read: Sequence[int] = range(max(0, token - window + 1), token + 1)
            for one in read:
                below[one] += share / len(read)
        rows.append(below)
    return rows
