"""Dropout: which weights fall, by what the others grow, and what becomes of the sum of a row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_core import stages
from attn_core.digits import fixed, plain
from attn_core.dropout import Dropout
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.margins import above, beside, check_words
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import listed

TIMES = 10_000  # tables of coins in the average


def dropout(record: AttentionTrace, tokens: Sequence[str]) -> Steps:
    """Weights through dropout, step by step: fallen, grown, tossed again, and on average.

    >>> from attn_core import Dropout, toy, trace
    >>> words, x = toy.journey()
    >>> dropout(trace(x, x, x, dropout=Dropout(0.5, seed=7)), words)  # doctest: +ELLIPSIS
    Drawing: A map of weights with the sum of each row beside it. 1: The weights: every row adds \
up to 1. 2: A coin is tossed for each cell, p = 0.5: 21 of 36 cells are dropped. ...

    Args:
        record: an attention with dropout: its first sentence and head are drawn.
        tokens: the words, queries and keys alike.

    Taught in chapter 07.
    """
    drop = dropout_of(record)
    weights, kept = first_weights(record, tokens)
    seen = int(kept.sum())
    now, then = survivors(record, drop), survivors(record, drop.step(1))
    grown, again = (stages.dropped(weights, coins, drop.p) for coins in (now, then))
    many = survivors(record, drop, TIMES)
    average = stages.dropped(weights.expand_as(many), many, drop.p).mean(dim=0)
    end = max(part.sum(dim=1).max().item() for part in (weights, grown, again, average))
    factor = plain(round(1 / (1 - drop.p), 4))
    sums = grown.sum(dim=1)
    most, least = tokens[int(sums.argmax())], tokens[int(sums.argmin())]
    far = (average.sum(dim=1) - 1).abs().max().item()
    everywhere = torch.ones_like(kept)
    alive = "" if kept.any(dim=1).all() else " that keeps a key"

    def drawn(values: Tensor, coins: Tensor) -> Drawing:
        return map_with_sums(values, kept, coins, tokens, end)

    return Steps(
        [
            (drawn(weights, everywhere), f"The weights: every row{alive} adds up to 1."),
            (
                drawn(weights * now, now),
                f"A coin is tossed for each cell, p = {plain(drop.p)}: {int((kept & ~now).sum())} "
                f"of {seen} cells are dropped. No row adds up to more than 1 now.",
            ),
            (
                drawn(grown, now),
                f"What stays is multiplied by 1/(1 − p) = {factor}. The row of {most} now adds up "
                f"to {fixed(sums.max().item(), 2)}, that of {least} to "
                f"{fixed(sums.min().item(), 2)}.",
            ),
            (
                drawn(again, then),
                "The next training step tosses the coins again and drops other cells. The sums "
                "change, but stay around 1.",
            ),
            (
                drawn(average, everywhere),
                f"The average of {TIMES:,} tables of coins is nearly the weights again: no sum is "
                f"off by more than {fixed(far, 2)}.",
            ),
        ],
        "A map of weights with the sum of each row beside it.",
    )


def training_steps(
    record: AttentionTrace, tokens: Sequence[str], *, query: int = 0, steps: int = 3
) -> Drawing:
    """One query's weights as lines, whole and in the first passes of a training with dropout.

    >>> from attn_core import Dropout, toy, trace
    >>> words, x = toy.journey()
    >>> training_steps(trace(x, x, x, dropout=Dropout(0.5, seed=7)), words, query=5, steps=1)
    Drawing: The weights of “step” are drawn as lines from its keys, thicker for larger \
weights. Without dropout, all of them are there, with the sum 1.00; in pass 1 only “one” survives, \
with the sum 0.25.

    Args:
        record: an attention with dropout: its first sentence and head are drawn.
        tokens: the words, queries and keys alike.
        query: whose row.
        steps: how many steps, one to three.

    Taught in chapter 07.
    """
    drop = dropout_of(record)
    if not 1 <= steps <= 3:
        raise ValueError(f"steps must be 1 to 3, got {steps}")
    weights, kept = first_weights(record, tokens)
    count = len(tokens)
    panels = [("no dropout", weights[query], kept[query])]
    passes = []
    for step in range(steps):
        survives = survivors(record, drop.step(step)) & kept
        row, coins = stages.dropped(weights, survives, drop.p)[query], survives[query]
        panels.append((f"pass {step + 1}", row, coins))
        left = [f"“{tokens[j]}”" for j in range(count) if coins[j]]
        names = listed(left) if left else "none"
        verb = "survives" if len(left) < 2 else "survive"
        total = fixed(row.sum().item(), 2)
        passes.append(f"in pass {step + 1} only {names} {verb}, with the sum {total}")
    sheet = Drawing(
        WIDEST,
        40 + count * 30 + 38,
        f"The weights of “{tokens[query]}” are drawn as lines from its keys, thicker for larger "
        "weights. Without dropout, all of them are there, with the sum "
        f"{fixed(weights[query].sum().item(), 2)}; {'; '.join(passes)}.",
    )
    top, high, first = 40, 30, 76
    step_wide = (WIDEST - first - 4) / len(panels)
    thick = 16 / (1 if weights[query].max() < 0.5 else 2)
    bottom = top + count * high
    middle = top + count * high / 2
    for j, word in enumerate(tokens):
        ink = "key" if kept[query, j] else "soft"
        sheet.text(word, first - 8, top + (j + 0.5) * high, ink, align="end")
    for place, (name, row, coins) in enumerate(panels):
        x = first + place * step_wide
        end = x + step_wide - 24
        sheet.text(name, (x + end) / 2, 18, "accent" if place else "ink", bold=True)
        for j in range(count):
            y = top + (j + 0.5) * high
            if not kept[query, j]:
                continue
            if coins[j]:
                wide = max(row[j].item() * thick, 0.6)
                sheet.line((x + 4, y), (end, middle), ink="accent", width=round(wide, 1))
                sheet.box(x, y - 4, 8, 8, fill="key", round=4)
            else:
                ends = (x + 10, y), (end, middle)
                sheet.line(*ends, ink="soft", width=0.9, stroke_dasharray="2 6")
                sheet.line((x, y - 4), (x + 8, y + 4), ink="soft", width=1.6)
                sheet.line((x, y + 4), (x + 8, y - 4), ink="soft", width=1.6)
        sheet.box(end - 7, middle - 7, 14, 14, fill="query", round=7)
        sheet.text(tokens[query], end - 14, middle + 29, "query", align="start")
        sheet.text(f"sum {fixed(row.sum().item(), 2)}", (x + end) / 2, bottom + 22)
    return sheet


def map_with_sums(
    values: Tensor, kept: Tensor, coins: Tensor, tokens: Sequence[str], end: float
) -> Drawing:
    """The cells with their numbers, a cross where one fell, and a bar for the sum of each row."""
    count, wide, high, left, top = len(tokens), 42, 31, 76, 70
    sheet = Drawing(WIDEST, top + count * high + 12, "")
    box = Box(left, top, count * wide, count * high)
    beside(sheet, tokens, box)
    above(sheet, tokens, box)
    for i in range(count):
        for j in range(count):
            x, y = left + j * wide, top + i * high
            number = values[i, j].item()
            if not kept[i, j]:
                sheet.box(x, y, wide, high, fill="masked", opacity=0.75, round=0)
            elif not coins[i, j]:
                sheet.line((x + 15, y + 10), (x + wide - 15, y + high - 10), ink="soft")
                sheet.line((x + 15, y + high - 10), (x + wide - 15, y + 10), ink="soft")
            else:
                sheet.box(x, y, wide, high, fill="more", opacity=min(number, 1), round=0)
                sheet.text(fixed(number, 2), x + wide / 2, y + high / 2)
    sheet.grid(box, count, count, "soft", 0.8)
    zero = left + count * wide + 18
    long = WIDEST - 52 - zero
    one = zero + long / end
    sheet.text("sum of the row", zero, top - 42, "soft", align="start")
    sheet.text("1", one, top - 17, "accent", bold=True)
    sums = values.sum(dim=1).tolist()
    for i, total in enumerate(sums):
        y = top + i * high
        sheet.box(zero, y + 5, max(total / end * long, 1), high - 10, fill="more", round=0)
        sheet.text(fixed(total, 2), WIDEST - 8, y + high / 2, align="end")
    sheet.line((zero, top), (zero, top + count * high))
    ends = (one, top - 6), (one, top + count * high)
    sheet.line(*ends, ink="accent", stroke_dasharray="5 3")
    return sheet


def dropout_of(record: AttentionTrace) -> Dropout:
    if record.dropout is None:
        raise ValueError("record must have a dropout, got one without")
    return record.dropout


def first_weights(record: AttentionTrace, tokens: Sequence[str]) -> tuple[Tensor, Tensor]:
    """The weights of the first sentence and head, and which of them no mask hides."""
    check_words(tokens, record.shape[2])
    check_words(tokens, record.shape[3])
    part = range(record.shape[2]), range(record.shape[3])
    kept = record.tile("masked", *part).detach().isfinite()
    return record.tile("weights", *part).detach().double(), kept


def survivors(record: AttentionTrace, drop: Dropout, tables: int = 1) -> Tensor:
    """The coins of the first sentence and head; or many tables of them, one for each sentence."""
    rows, cols = range(record.shape[2]), range(record.shape[3])
    coins = drop.survives(range(tables), range(1), rows, cols)[:, 0]
    return coins if tables > 1 else coins[0]
