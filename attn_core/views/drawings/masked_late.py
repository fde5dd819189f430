"""One row, masked after softmax and before: its shares as bars of length 1."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed
from attn_core.views.drawings.drawing import WIDEST, Drawing
from attn_core.views.drawings.margins import across, check_words

LEFT = 10
LONG = WIDEST - 2 * LEFT
HIGH = 46
STEP = 86


def masked_late(scores: Tensor, sees: Tensor, tokens: Sequence[str]) -> Drawing:
    """A row of shares, three steps of masking late; and below, masked early in one.

    >>> row, sees = torch.tensor([0.0, 1.0, 20.0]), torch.tensor([True, True, False])
    >>> masked_late(row, sees, ["a", "b", "c"])  # doctest: +ELLIPSIS
    Drawing: Bars show the weights of one row. Softmax of all: “a” 2.1e-09, “b” 5.6e-09, \
“c” 1.0000. With the hidden ones set to 0, the sum is 7.7e-09. ...
    >>> masked_late(torch.tensor([0.0, 1.0, 200.0]), sees, ["a", "b", "c"])  # doctest: +ELLIPSIS
    Drawing: ... the sum is 0.0000. Divided by this sum: 0/0, which is nan. With −∞ before \
softmax: “a” 0.2689, “b” 0.7311.

    Args:
        scores: a row, scaled.
        sees: for each key whether it is seen.
        tokens: the words of the keys.

    Taught in chapter 06.
    """
    if scores.ndim != 1 or scores.shape != sees.shape:
        shapes = f"{list(scores.shape)} and {list(sees.shape)}"
        raise ValueError(f"scores and sees must be rows of one length, got {shapes}")
    check_words(tokens, len(scores))
    seen = sees.tolist()
    shares = torch.softmax(scores, dim=0)
    zeroed = shares * sees
    total = zeroed.sum()
    late = zeroed / total
    early = torch.softmax(scores.masked_fill(~sees, -torch.inf), dim=0)
    is_broken = bool(late.isnan().any())
    divided = "0/0, which is nan" if is_broken else in_words(late, seen, tokens)
    sheet = Drawing(
        WIDEST,
        4 * STEP + 6,
        "Bars show the weights of one row. "
        f"Softmax of all: {in_words(shares, [True] * len(seen), tokens)}. With the hidden ones set "
        f"to 0, the sum is {fixed(total.item())}. Divided by this sum: {divided}. "
        f"With −∞ before softmax: {in_words(early, seen, tokens)}.",
    )
    bar(sheet, 0, "softmax of all", shares, seen, tokens, sum_of(shares))
    bar(sheet, 1, "then set what is hidden to 0", zeroed, seen, tokens, sum_of(zeroed))
    third = f"then divide by {fixed(total.item()) if total else 0}"
    if is_broken:
        bar(sheet, 2, third, None, seen, tokens, "")
        sheet.text("0/0 = nan", WIDEST / 2, 2 * STEP + 30 + HIGH / 2, "key", bold=True)
    else:
        bar(sheet, 2, third, late, seen, tokens, sum_of(late))
    bar(sheet, 3, "or: −∞ before softmax", early, seen, tokens, sum_of(early), "accent")
    return sheet


def bar(
    sheet: Drawing, place: int, name: str, shares: Tensor | None, seen: Sequence[bool],
    tokens: Sequence[str], total: str, ink: str = "ink",
) -> None:  # fmt: skip
    """The shares as lengths: 1 is the whole width, what is missing stays empty."""
    y = place * STEP + 30
    sheet.text(name, LEFT, y - 14, ink, align="start", bold=True)
    sheet.text(total, LEFT + LONG, y - 14, "soft", align="end")
    x = float(LEFT)
    drawn = [] if shares is None else shares.tolist()
    for share, is_seen, word in zip(drawn, seen, tokens, strict=False):
        wide = share * LONG
        if wide < 0.5:
            continue
        fill = "more" if is_seen else "masked"
        sheet.box(x, y, wide, HIGH, fill=fill, line="soft", round=0)
        words = (word, fixed(share))
        if wide > max(across(part, sheet.letters) for part in words):
            for line, part in enumerate(words):
                sheet.text(part, x + wide / 2, y + 14 + 19 * line, bold=line == 0)
        x += wide
    if LEFT + LONG - x > 2:
        sheet.box(x, y, LEFT + LONG - x, HIGH, fill="none", line="soft", dashed=True, round=0)


def in_words(shares: Tensor, shown: Sequence[bool], tokens: Sequence[str]) -> str:
    parts = zip(tokens, shares.tolist(), shown, strict=True)
    return ", ".join(f"“{word}” {fixed(share)}" for word, share, is_shown in parts if is_shown)


def sum_of(shares: Tensor) -> str:
    return f"sum {fixed(shares.sum().item())}"
