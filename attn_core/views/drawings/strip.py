"""The strip: one query's way through the six stages; lit are those that a chapter is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attn_core.checks import STAGES
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Drawing

SIDE = 52  # of each matrix
STEP = 75.5
LEFT, TOP = 7, 40


def strip(
    record: AttentionTrace,
    lit: Sequence[str] = STAGES,
    *,
    query: int = 0,
    tokens: Sequence[str] = (),
) -> Drawing:
    """x and the six stages in small, the row of one query framed in each; what is not lit is faint.

    >>> from attn_core import toy, trace
    >>> words, x = toy.journey()
    >>> strip(trace(x, x, x, scale=1.0), ["scores", "weights", "output"], query=1, tokens=words)
    Drawing: Seven small matrices: x, scores, scaled, masked, weights, dropped, output. \
Highlighted: scores, weights and output. A frame follows the row of “journey” through all seven.

    Args:
        record: the attention that is drawn: its first sentence and head.
        lit: the stages that the chapter is about.
        query: whose row is framed.
        tokens: the words, for the name of that row.

    Taught in chapter 03.
    """
    unknown = [stage for stage in lit if stage not in STAGES]
    if unknown:
        raise ValueError(f"lit must be among {', '.join(STAGES)}, got {unknown[0]}")
    name = tokens[query] if tokens else f"query {query}"
    spoken = f"“{name}”" if tokens else name
    sheet = Drawing(
        WIDEST,
        124,
        f"Seven small matrices: x, {', '.join(STAGES)}. Highlighted: {listed(lit)}. "
        f"A frame follows the row of {spoken} through all seven.",
    )
    source = record.q if record.source is None else record.source.x
    x = source.reshape(-1, *source.shape[-2:])[0].tolist()
    before = None
    for place, stage in enumerate(("x", *STAGES)):
        is_lit = stage in (*lit, "x")
        values = x if stage == "x" else first_map(record, stage)
        left = LEFT + place * STEP
        high = SIDE / len(values)
        matrix = sheet.cells(
            values, left, TOP, SIDE / len(values[0]), height=high, faint=not is_lit
        )
        # In bold two neighbours would touch.
        ink = "accent" if is_lit and stage != "x" else "ink" if is_lit else "soft"
        sheet.text(stage, left + SIDE / 2, TOP - 18, ink)
        row = TOP + query * high
        sheet.frame(type(matrix)(left, row, SIDE, high), "query", 2 if is_lit else 1, room=1)
        if before:
            y = row + high / 2
            sheet.arrow((before[0], y), (left, y), "query" if is_lit else "soft", width=1.5, gap=3)
        before = matrix.right
    sheet.text(f"the row of {name}", LEFT, TOP + SIDE + 20, "query", align="start")
    return sheet


def first_map(record: AttentionTrace, stage: str) -> list[list[float]]:
    """A stage of the first sentence and its first head."""
    rows, cols = range(record.shape[2]), range(record.columns(stage))
    return record.tile(stage, rows, cols).detach().double().tolist()


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["scores", "weights", "output"])
    'scores, weights and output'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def quoted(words: Iterable[str]) -> list[str]:
    """Words that are not to be read as a part of the sentence.

    >>> listed(quoted(["with", "one"]))
    '“with” and “one”'
    """
    return [f"“{word}”" for word in words]
