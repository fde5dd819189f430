"""How far the first word is from the last, in networks that are given as who reads whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import drawsvg

from attn_core.views.drawings.drawing import WIDEST, Drawing, neat

Place = tuple[int, int]  # a layer, from 0 for the words, and a place in it
Net = Mapping[Place, Sequence[Place]]

SIDE = 42  # from the edge to the middle of the first word
HEAD, FOOT = 30, 34
DOT = 5


def path_lengths(nets: Mapping[str, Net], tokens: Sequence[str]) -> Drawing:
    """Networks below each other, the shortest ways of both end words to where they meet in colour.

    >>> words = ["Your", "journey", "starts"]
    >>> attention = {(1, t): [(0, s) for s in range(3)] for t in range(3)}
    >>> recurrent = {(1, t): [(0, t)] + [(1, t - 1)] * (t > 0) for t in range(3)}
    >>> path_lengths({"attention": attention, "recurrent": recurrent}, words)
    Drawing: Networks read “Your journey starts”; the shortest paths from “Your” and from “starts” \
to a place that both reach are in colour. The longer of the two paths: attention 1 arrow, \
recurrent 3 arrows.

    Args:
        nets: of each network what every place reads: (layer, place) → places, layer 0 are words.
        tokens: the words.

    Taught in chapter 11.
    """
    n = len(tokens)
    if n < 2:
        raise ValueError(f"tokens must be two words at least, got {n}")
    met = {}
    for name, net in nets.items():
        first, last = distances(net, 0), distances(net, n - 1)
        far, place = min((max(first[p], last[p]), p) for p in net)
        if far == inf:
            raise ValueError(f"nets must let the end words meet, and {name} does not")
        met[name] = int(far), place
    heights = {name: max(layer for layer, _ in net) for name, net in nets.items()}
    steps = {name: 72 if count == 1 else 42 for name, count in heights.items()}
    longer = ", ".join(f"{name} {arrows(far)}" for name, (far, _) in met.items())
    sheet = Drawing(
        WIDEST,
        sum(HEAD + heights[name] * steps[name] + FOOT + DOT for name in nets),
        f"Networks read “{' '.join(tokens)}”; the shortest paths from “{tokens[0]}” and from "
        f"“{tokens[-1]}” to a place that both reach are in colour. The longer of the two paths: "
        f"{longer}.",
    )
    top = 0.0
    for name, net in nets.items():
        far, meeting = met[name]
        ground = top + HEAD + heights[name] * steps[name]
        draw_net(sheet, net, tokens, meeting, ground, steps[name])
        sheet.text(name, 10, top + 14, align="start", bold=True)
        sheet.text(arrows(far), WIDEST - 10, top + 14, "accent", align="end", bold=True)
        top = ground + FOOT + DOT
    return sheet


def draw_net(
    sheet: Drawing, net: Net, tokens: Sequence[str], meeting: Place, ground: float, step: float
) -> None:
    n = len(tokens)
    across = (WIDEST - 2 * SIDE) / (n - 1)

    def at(place: Place) -> tuple[float, float]:
        return SIDE + place[1] * across, ground - place[0] * step

    taken = {*way(net, 0, meeting), *way(net, n - 1, meeting)}
    for place, reads in net.items():
        for start in reads:
            if (start, place) not in taken:
                sheet.line(at(start), at(place), width=0.7, stroke_opacity=0.6)
    for start, end in sorted(taken):
        sheet.arrow(at(start), at(end), "accent", width=2.4, gap=DOT)
    ends = {(0, 0), (0, n - 1), meeting}
    for place in [(0, t) for t in range(n)] + list(net):
        x, y = map(neat, at(place))
        ink = "accent" if place in ends else "soft"
        sheet.add(drawsvg.Circle(x, y, DOT if place in ends else 3, class_=ink))
    for t, word in enumerate(tokens):
        is_end = t in (0, n - 1)
        sheet.text(word, at((0, t))[0], ground + 18, "ink" if is_end else "soft", bold=is_end)


def distances(net: Net, word: int) -> dict[Place, float]:
    """How many arrows from this word to each place, by the shortest way."""
    far: dict[Place, float] = {(0, word): 0}
    for place, reads in net.items():
        far[place] = 1 + min(far.get(read, inf) for read in reads)
    return far


def way(net: Net, word: int, place: Place) -> list[tuple[Place, Place]]:
    """The arrows of one shortest way from a word to a place."""
    far, path = distances(net, word), []
    while place != (0, word):
        start = min(net[place], key=lambda read: far.get(read, inf))
        path.append((start, place))
        place = start
    return path


def arrows(count: int) -> str:
    return f"{count} arrow" if count == 1 else f"{count} arrows"
