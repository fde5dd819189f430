"""Masks over words: what each word sees, and several masks side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from attn_core.masks import Keep, of_cells
from attn_core.views.drawings.drawing import LETTERS, WIDEST, Box, Drawing
from attn_core.views.drawings.margins import above, across, beside
from attn_core.views.drawings.strip import listed, quoted

CELL = 28.0  # the largest side
GAP = 15


def next_words(keep: Keep | Tensor, tokens: Sequence[str]) -> Drawing:
    """What each word of a sentence sees, and the word that it is to guess.

    >>> from attn_core import causal, toy
    >>> next_words(causal(), toy.journey().tokens[:3])
    Drawing: 3 lines show what each word sees; 3 of 9 cells are hidden. “journey” sees “Your” and \
“journey”, and guesses “starts”. The answer is in none of the lines.

    Where a mask lets a word see the answer, the answer is framed.

    Args:
        keep: the mask, True = keep, of one sentence and one head.
        tokens: the words.

    Taught in chapter 06.
    """
    count = len(tokens)
    kept = table(keep, count)
    hidden = count * count - sum(map(sum, kept))
    shown = count // 2
    wide, high, top = 408 / max(count, 5), 32, 36
    sheet = Drawing(WIDEST, top + count * high + 12, "")
    left = 6.0
    edge = left + count * wide
    sheet.text("each word sees", left, top - 17, "soft", align="start")
    sheet.text("guesses", edge + 30, top - 17, "soft", align="start")
    for i in range(count):
        y = top + i * high
        answer = tokens[i + 1] if i + 1 < count else "?"
        for j, other in enumerate(tokens):
            x = left + j * wide
            if not kept[i][j]:
                sheet.box(x, y, wide, high, fill="masked", round=0)
                continue
            fill, ink = ("query-wash", "query") if i == j else ("key-wash", "ink")
            sheet.box(x, y, wide, high, other, fill=fill, ink=ink, round=0)
        middle = y + high / 2
        sheet.arrow((edge, middle), (edge + 30, middle), "accent", gap=5)
        sheet.text(answer, edge + 30, middle, "accent", align="start", bold=True)
    whole = Box(left, top, count * wide, count * high)
    sheet.grid(whole, count, count, "soft", 0.8)
    cheats = [i for i in range(count - 1) if kept[i][i + 1]]
    for i in cheats:
        sheet.frame(Box(left + (i + 1) * wide, top + i * high, wide, high), "accent", room=-2)
    seen = [f"“{other}”" for other, is_seen in zip(tokens, kept[shown], strict=True) if is_seen]
    guess = f"“{tokens[shown + 1]}”" if shown + 1 < count else "what comes next"
    answers = f"in {len(cheats)} of the lines" if cheats else "in none of the lines"
    sheet.alt = (
        f"{count} lines show what each word sees; {hidden} of {count**2} cells are hidden. "
        f"“{tokens[shown]}” sees {listed(seen) if seen else 'nothing'}, and guesses {guess}. "
        f"The answer is {answers}."
    )
    return sheet


def masks(
    keeps: Mapping[str, Keep | Tensor],
    tokens: Sequence[str],
    *,
    framed: Sequence[int] = (),
    batch: int = 0,
) -> Drawing:
    """Masks side by side: a row for each query, a column for each key, hidden cells grey.

    >>> from attn_core import causal, padding
    >>> both = causal() & padding([2])
    >>> masks({"causal": causal(), "both": both}, ["one", "step", "pad"], framed=[0, 1])
    Drawing: 2 masks of 3 queries × 3 keys. “causal” keeps 6 cells, “both” keeps 5 cells. In the \
framed rows, “one” and “step”, the masks “causal” and “both” keep the same cells.

    Args:
        keeps: the masks by their names, True = keep; at most three.
        tokens: the words, queries and keys alike.
        framed: rows to be compared.
        batch: of which sentence, where a mask has several.

    Taught in chapter 06.
    """
    if not 1 <= len(keeps) <= 3:
        raise ValueError(f"keeps must be one to three masks, got {len(keeps)}")
    count = len(tokens)
    tables = {name: table(keep, count, batch) for name, keep in keeps.items()}
    counts = [f"“{name}” keeps {sum(map(sum, kept))} cells" for name, kept in tables.items()]
    sentences = [f"{len(keeps)} masks of {count} queries × {count} keys.", f"{', '.join(counts)}."]
    if framed:
        names = listed(quoted(dict.fromkeys(tokens[i] for i in framed)))
        sentences.append(f"In the framed rows, {names}, {alike(tables, framed)}.")
        dead = [f"“{n}”" for n, kept in tables.items() if not any(any(kept[i]) for i in framed)]
        if dead:
            sentences.append(f"There, {listed(dead)} keeps nothing.")
    label = max(across(word, LETTERS) for word in tokens)
    cell = min(CELL, (WIDEST - 2 * GAP - label - 24) / 3 / count)
    side = count * cell
    top = 42 + label
    sheet = Drawing(WIDEST, top + side + 12, " ".join(sentences))
    left = (WIDEST + label + 7 - len(keeps) * (side + GAP) + GAP) / 2
    inks = ["soft" if word == "pad" else "ink" for word in tokens]
    for place, (name, kept) in enumerate(tables.items()):
        box = Box(left + place * (side + GAP), top, side, side)
        sheet.text(name, box.x + side / 2, 14, bold=True)
        if place == 0:
            beside(sheet, tokens, box, inks)
        above(sheet, tokens, box, inks)
        for i in range(count):
            for j in range(count):
                fill, opacity = ("more", 0.8) if kept[i][j] else ("masked", 0.75)
                x, y = box.x + j * cell, box.y + i * cell
                sheet.box(x, y, cell, cell, fill=fill, opacity=opacity, round=0)
        sheet.grid(box, count, count, "soft", 0.8)
        for first, last in runs(framed):
            high = (last - first + 1) * cell
            sheet.frame(Box(box.x, box.y + first * cell, side, high), "query", room=1)
    return sheet


def table(keep: Keep | Tensor, count: int, batch: int = 0) -> list[list[bool]]:
    """One sentence and head of a mask, cell by cell."""
    rule = keep if isinstance(keep, Keep) else of_cells(keep)
    dense = rule.dense(count, count)
    return dense[min(batch, len(dense) - 1), 0].tolist()


def alike(tables: Mapping[str, list[list[bool]]], rows: Sequence[int]) -> str:
    """Which masks keep the same cells in these rows."""
    groups: dict[str, list[str]] = {}
    for name, kept in tables.items():
        groups.setdefault(str([kept[i] for i in rows]), []).append(f"“{name}”")
    same = [listed(names) for names in groups.values() if len(names) > 1]
    if not same:
        return "no two masks keep the same cells"
    return f"the masks {'; '.join(same)} keep the same cells"


def runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Rows that follow one another, as first and last.

    >>> runs([0, 1, 3])
    [(0, 1), (3, 3)]
    """
    ends: list[tuple[int, int]] = []
    for row in sorted(rows):
        if ends and ends[-1][1] == row - 1:
            ends[-1] = (ends[-1][0], row)
        else:
            ends.append((row, row))
    return ends
