"""Softmax as shares: each score makes a bar by exp, and the bars together are the whole."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed, plain
from attn_core.views.drawings.drawing import WIDEST, Drawing, minus

ROW = 26
BAR = 19
LEFT = 12
WHOLE = WIDEST - 2 * LEFT  # the bar of length 1
NAMES = 80  # where the words end, and the bars of the scores begin
LETTER = 0.64  # how wide a digit is at most, in letters


def softmax_shares(
    scores: Tensor, tokens: Sequence[str] | None = None, *, subtract_max: bool = True
) -> Drawing:
    """A row of scores as bars, their exps as a staircase, and the staircase pushed into one bar.

    >>> softmax_shares(torch.tensor([0.0, 1.0]), ["with", "one"])
    Drawing: Bars in three groups. The scores: “with” 0, “one” 1. Exp of each score less the \
largest: “with” 0.3679, “one” 1.0000; their sum is 1.3679. The same bars end to end make one bar \
of length 1, cut into the weights: “with” 0.2689, “one” 0.7311.

    Each bar of the staircase is as long as its share of the bar below.

    Args:
        scores: of one query, a number for each word.
        tokens: the words; without them each bar is called by its number.
        subtract_max: whether exp is taken of the score less the largest, or of the score.

    Taught in chapter 03.
    """
    row = scores.double()
    if row.ndim != 1 or not torch.isfinite(row).all():
        raise ValueError(f"scores must be one row of finite numbers, got {scores.tolist()}")
    if tokens is not None and len(tokens) != len(row):
        raise ValueError(f"tokens must be {len(row)}, one for each score, got {len(tokens)}")
    whole = all(n == int(n) for n in row.tolist())
    numbers = [minus(plain(n) if whole else fixed(n)) for n in row.tolist()]
    names = numbers if tokens is None else tokens
    kind, cut = ("numbers", "shares") if tokens is None else ("scores", "weights")
    largest = float(row.max())
    exps = torch.exp(row - largest if subtract_max else row)
    total = fixed(float(exps.sum()))
    shares = (exps / exps.sum()).tolist()
    less = " less the largest" if subtract_max else ""
    top = 32
    stairs = top + ROW * len(names) + 46
    bottom = stairs + ROW * len(names) + 18
    sheet = Drawing(
        WIDEST,
        bottom + 52,
        f"Bars in three groups. The {kind}: {paired(tokens, numbers)}. Exp of each {kind[:-1]}"
        f"{less}: {paired(tokens, list(map(fixed, exps.tolist())))}; their sum is {total}. "
        f"The same bars end to end make one bar of length 1, cut into the {cut}: "
        f"{paired(tokens, list(map(fixed, shares)))}.",
    )
    sheet.text(kind, LEFT, 15, align="start", bold=True)
    score_bars(sheet, row.tolist(), tokens, numbers, top)
    most = numbers[int(row.argmax())]
    words = f"exp({kind[:-1]} − {most})" if subtract_max else f"exp({kind[:-1]})"
    sheet.text(words, LEFT, stairs - 17, align="start", bold=True)
    sheet.text(f"→ divided by their sum, {total}", WIDEST - LEFT, stairs - 17, align="end")
    steps = zip(names, exps.tolist(), shares, strict=True)
    ends = [LEFT + WHOLE * sum(shares[:n]) for n in range(len(shares) + 1)]
    written: list[tuple[float, float]] = []  # where a row's words are
    for n, (name, exp, share) in enumerate(steps):
        y = stairs + ROW * n
        begin, end = ends[n], ends[n + 1]
        heat = ink(share / max(shares))
        fits = LETTER * sheet.letters * len(name) < end - begin
        for place, high in ((y, BAR), (bottom, 26)):
            sheet.box(begin, place, end - begin, high, fill="more", opacity=heat, round=0)
            if fits:
                sheet.text(name, (begin + end) / 2, place + high / 2, bold=place == bottom)
        says = f"{fixed(exp)} → {fixed(share)}"
        room = LETTER * sheet.letters * len(says)
        if end + 8 + room < WIDEST:
            sheet.text(says, end + 8, y + BAR / 2, align="start")
            written.append((end + 8, end + 8 + room))
        else:
            sheet.text(says, begin - 8, y + BAR / 2, align="end")
            written.append((begin - 8 - room, begin - 8))
    # From the end of each bar down to the bar of length 1, around the words.
    for n, x in enumerate(ends):
        for place in range(max(n - 1, 0), len(names) + 1):
            y = stairs + ROW * place
            over = place < len(names) and written[place][0] - 4 < x < written[place][1] + 4
            if over:
                continue
            below = y + ROW if place < len(names) else bottom
            sheet.line((x, y), (x, below), width=0.8, stroke_dasharray="2 3")
        sheet.line((x, bottom), (x, bottom + 26), ink="ink", width=1.2)
    sheet.text("0", LEFT, bottom + 39)
    sheet.text("1", LEFT + WHOLE, bottom + 39)
    sheet.text(f"the {cut}: together 1", WIDEST / 2, bottom + 39, bold=True)
    return sheet


def score_bars(
    sheet: Drawing, row: Sequence[float], tokens: Sequence[str] | None, numbers: Sequence[str],
    top: float,
) -> None:  # fmt: skip
    low, high = min(0.0, *row), max(0.0, *row)
    unit = (WIDEST - NAMES - 110) / ((high - low) or 1)
    zero = NAMES + 8 - low * unit
    for n, score in enumerate(row):
        y = top + ROW * n
        if tokens is not None:
            sheet.text(tokens[n], NAMES, y + BAR / 2, align="end")
        begins, ends = sorted((zero, zero + score * unit))
        heat = ink(abs(score) / max(high, -low, 1e-9))
        fill = "less" if score < 0 else "more"
        sheet.box(begins, y, ends - begins, BAR, fill=fill, opacity=heat, round=0)
        sheet.text(numbers[n], ends + 8, y + BAR / 2, align="start")
    sheet.line((zero, top - 4), (zero, top + ROW * len(row) - 3), ink="ink", width=1.2)


def ink(share: float) -> float:
    """More is darker; a bar of almost nothing is still seen."""
    return 0.3 + 0.7 * share


def paired(names: Sequence[str] | None, numbers: Sequence[str]) -> str:
    """
    >>> paired(["with", "one"], ["0", "1"]), paired(None, ["0", "1"])
    ('“with” 0, “one” 1', '0, 1')
    """
    if names is None:
        return ", ".join(numbers)
    return ", ".join(f"“{name}” {n}" for name, n in zip(names, numbers, strict=True))


def warmup_softmax() -> Drawing:
    """The five numbers of the warm-up.

    >>> warmup_softmax().alt.split(". ")[1]
    'The numbers: −2, −1, 0, 1, 2'

    Taught in the warm-up.
    """
    return softmax_shares(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]), subtract_max=False)
