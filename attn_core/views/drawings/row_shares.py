"""A row as the sum of its parts, station after station: what came from where, as shares of it."""

from __future__ import annotations

from collections.abc import Mapping

from attn_core.digits import fixed
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus

LABELS = 152  # where the names of the stations end
RIGHT = 14
TOP = 34
BAR = 28
ROW = 44
SEEN = 6  # what is narrower has no frame, and no line leads to it
LETTER = 0.62  # how wide a letter is at most, in letters
FIRST, LATER = (1.0, 0.5), (0.12, 0.3)  # ink of what a row begins with, and of what is added to it


def row_shares(shares: Mapping[str, Mapping[str, float]]) -> Drawing:
    """A bar for each station, cut into the shares of the parts that the row is the sum of.

    >>> row_shares({"at first": {"word": 0.75, "place": 0.25},
    ...             "+ attention": {"word": 0.5, "place": 0.125, "attention": 0.375}})
    Drawing: The shares of a row as bars of length 1, one for each station. at first: word 0.7500, \
place 0.2500. + attention: word 0.5000, place 0.1250, attention 0.3750.

    What a station adds stands at the right end of its bar, and dotted lines lead from there to the
    next bar. A part that points against the row lies left of 0.

    Args:
        shares: by station, in the model's order, the share of each part; of one station they add
            up to 1. A part that is in a station is in all that follow, in the same order.

    Taught in chapter 10.
    """
    check(shares)
    sums = [[sum(max(way * n, 0.0) for n in of.values()) for way in (-1, 1)]
            for of in shares.values()]  # fmt: skip
    before, after = (max(pair[way] for pair in sums) for way in (0, 1))
    unit = (WIDEST - LABELS - RIGHT) / (before + after)
    zero = LABELS + before * unit
    description = ". ".join(
        f"{station}: {', '.join(f'{part} {fixed(n)}' for part, n in of.items())}"
        for station, of in shares.items()
    )
    high = TOP + ROW * len(shares) + 16
    alt = f"The shares of a row as bars of length 1, one for each station. {description}."
    sheet = Drawing(WIDEST, high, alt)
    first = list(next(iter(shares.values())))
    above: dict[str, float] = {}  # where a part ended in the bar above
    for n, (station, of) in enumerate(shares.items()):
        y = TOP + ROW * n
        sheet.text(station, LABELS - 10, y + BAR / 2, align="end")
        places = spans(of, zero, unit)
        for place, (name, (x, wide)) in enumerate(places.items()):
            fill, seen = "less" if of[name] < 0 else "more", wide >= SEEN
            sheet.box(x, y, wide, BAR, fill=fill, line="soft" if seen else None,
                      opacity=ink(place, len(first)), round=0)  # fmt: skip
            if seen and name in above:
                sheet.line((above[name], y - ROW + BAR), (x + wide, y), width=0.8,
                           stroke_dasharray="2 3")  # fmt: skip
            fit = [words for words in (fixed(of[name]), fixed(of[name], 2))
                   if LETTER * sheet.letters * len(words) < wide]  # fmt: skip
            if fit:
                sheet.text(minus(fit[0]), x + wide / 2, y + BAR / 2)
        above = {name: x + wide for name, (x, wide) in places.items() if wide >= SEEN}
    stations = list(shares.values())
    for of, y in ((stations[0], TOP - 16), (stations[-1], high - 20)):
        for name, (x, wide) in spans(of, zero, unit).items():
            if LETTER * sheet.letters * len(name) < wide:
                sheet.text(name, x + wide / 2, y)
    return sheet


def check(shares: Mapping[str, Mapping[str, float]]) -> None:
    if not shares:
        raise ValueError("shares must have a station, got none")
    parts: list[str] = []
    for station, of in shares.items():
        if abs(sum(of.values()) - 1) > 1e-4:
            raise ValueError(f"shares of {station!r} must add up to 1, got {sum(of.values()):.4f}")
        if list(of)[: len(parts)] != parts:
            raise ValueError(
                f"shares of {station!r} must begin with those before it, {', '.join(parts)};"
                f" got {', '.join(of)}"
            )
        parts = list(of)


def spans(of: Mapping[str, float], zero: float, unit: float) -> dict[str, tuple[float, float]]:
    """Where each part begins, and how wide it is: side by side from 0, what is negative leftwards.

    >>> spans({"word": 0.75, "against": -0.25, "more": 0.5}, 100, 40)
    {'word': (100.0, 30.0), 'against': (90.0, 10.0), 'more': (130.0, 20.0)}
    """
    places, low, high = {}, float(zero), float(zero)
    for name, share in of.items():
        wide = abs(share) * unit
        if share < 0:
            low -= wide
            places[name] = (low, wide)
        else:
            places[name] = (high, wide)
            high += wide
    return places


def ink(place: int, first: int) -> float:
    """What a row begins with is darkest; then light and lighter in turn."""
    return FIRST[place % 2] if place < first else LATER[(place - first) % 2]
