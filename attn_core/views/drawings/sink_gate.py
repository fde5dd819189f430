"""A sink in the softmax: one more share, which is lost, so that the row is turned down."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attn_core.views.drawings.drawing import WIDEST, Drawing, short
from attn_core.views.drawings.margins import across, check_words
from attn_core.views.drawings.row_shares import spans
from attn_core.views.drawings.sampled import probabilities

LABELS, RIGHT = 122, 12
TOP, BAR, ROW = 40, 40, 84


def sink_gate(scores: Sequence[float], sink: float, tokens: Sequence[str]) -> Drawing:
    """A row of weights without a sink and with one: the sink takes a share, all others shrink.

    >>> sink_gate([0, math.log(3)], 0, ["Tom", "Jerry"])
    Drawing: The weights of a row as bars of length 1. Without a sink: Tom 0.25, Jerry 0.75. With \
the sink as one more score: Tom 0.2, Jerry 0.6, lost to the sink 0.2. Each weight is 0.8 of what \
it was.

    The weights shrink by σ(lse − sink), lse being the log of the sum of the exps of the scores:
    the sink is a gate for the whole row.

    Args:
        scores: of one query, one to five numbers.
        sink: a score that no key has; the layer learns it.
        tokens: the words of the scores.

    Source: gpt-oss, `gpt_oss/torch/model.py`.

    Taught in chapter 12.
    """
    if not 1 <= len(scores) <= 5 or not all(map(math.isfinite, scores)):
        raise ValueError(f"scores must be one to five finite numbers, got {list(scores)}")
    if not math.isfinite(sink):
        raise ValueError(f"sink must be a finite number, got {sink}")
    check_words(tokens, len(scores))
    without = probabilities(scores, 1)
    *with_it, lost = probabilities([*scores, sink], 1)
    gate = 1 - lost
    sheet = Drawing(
        WIDEST,
        TOP + ROW + BAR + 52,
        f"The weights of a row as bars of length 1. Without a sink: {paired(tokens, without)}. "
        f"With the sink as one more score: {paired(tokens, with_it)}, lost to the sink "
        f"{short(lost)}. Each weight is {short(gate)} of what it was.",
    )
    ends: list[list[float]] = []
    for n, (label, row) in enumerate((("without sink", without), ("with sink", with_it))):
        y = TOP + ROW * n
        sheet.text(label, LABELS - 10, y + BAR / 2, align="end")
        whole = WIDEST - LABELS - RIGHT
        numbered = {str(place): share for place, share in enumerate(row)}
        places = list(spans(numbered, LABELS, whole).values())
        for place, (x, wide) in enumerate(places):
            sheet.box(x, y, wide, BAR, fill="more", line="soft", round=0,
                      opacity=(1.0, 0.45)[place % 2])  # fmt: skip
            if across(short(row[place]), sheet.letters) < wide:
                sheet.text(short(row[place]), x + wide / 2, y + BAR / 2)
            if n == 0 and across(tokens[place], sheet.letters) < wide:
                sheet.text(tokens[place], x + wide / 2, y - 18)
        ends.append([x + wide for x, wide in places])
        if n == 1:
            x, wide = ends[1][-1], lost * whole
            sheet.box(x, y, wide, BAR, fill="none", line="accent", round=0, dashed=True)
            sheet.text(f"lost: {short(lost)}", WIDEST - RIGHT, y + BAR + 20, "accent", align="end")
            sheet.text(f"each × {short(gate)}", LABELS, y + BAR + 20, "accent", align="start",
                       bold=True)  # fmt: skip
    for above, below in zip(*ends, strict=True):
        sheet.line((above, TOP + BAR), (below, TOP + ROW), width=0.8, stroke_dasharray="2 3")
    return sheet


def paired(names: Sequence[str], numbers: Sequence[float]) -> str:
    return ", ".join(f"{name} {short(n)}" for name, n in zip(names, numbers, strict=True))
