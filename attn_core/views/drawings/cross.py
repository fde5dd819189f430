"""Cross-attention: the written words ask, the words that were read answer."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import SMALL, WIDEST, Box, Drawing
from attn_core.views.drawings.strip import listed, quoted

CELL = 11.5  # of a number of q, k and v
ROW, COLUMN = 32, 56  # of a weight
LETTER = 0.85  # how wide a letter is, of its height: enough for a Chinese one


def cross_attention(
    record: AttentionTrace,
    written: Sequence[str],
    read: Sequence[str],
    *,
    head: int = 0,
    query: int = 0,
) -> Drawing:
    """Queries come in from the left, keys from above, values further right: one map between them.

    >>> from attn_core import toy, trace
    >>> chinese, queries, english, states = toy.tom_and_jerry()
    >>> cross_attention(trace(queries, states, states), chinese, english, query=2)
    Drawing: Cross-attention as a matrix product. 4 written words ask, each with a query; “Tom”, \
“chases” and “Jerry” answer, each with a key and a value. The row of “杰瑞” has the weights 0.03 \
for “Tom”, 0.10 for “chases”, 0.87 for “Jerry”. The output of “杰瑞” is a mixture of their values.

    Args:
        record: the attention between two sentences; its first sentence is drawn.
        written: the words that ask, a row each.
        read: the words that answer, a column each.
        head: whose numbers are drawn.
        query: whose row is framed.

    Taught in chapter 09.
    """
    _, heads, rows, cols = record.shape
    check_words("written", written, rows)
    check_words("read", read, cols)
    if not 0 <= head < heads:
        raise ValueError(f"head must be from 0 to {heads - 1}, got {head}")
    if not 0 <= query < rows:
        raise ValueError(f"query must be from 0 to {rows - 1}, got {query}")
    q, k, v = (tensor[0, head].tolist() for tensor in (record.q, record.k, record.v))
    weights = record.tile("weights", range(rows), range(cols), head=head).tolist()
    output = record.output.reshape(-1, heads, rows, len(v[0]))[0, head].tolist()

    pairs = zip(weights[query], read, strict=True)
    shares = ", ".join(f"{w:.2f} for “{word}”" for w, word in pairs)
    alt = (
        f"Cross-attention as a matrix product. {rows} written words ask, each with a "
        f"query; {listed(quoted(read))} answer, each with a key and a "
        f"value. The row of “{written[query]}” has the weights {shares}. The output of "
        f"“{written[query]}” is a mixture of their values."
    )
    label = LETTER * SMALL * max(map(len, written)) if written else 0
    label = max(label, 56)
    asks = 8 + label
    left = asks + len(q[0]) * CELL + 12
    right = left + cols * COLUMN + 12
    top = 62 + max(len(k[0]) * CELL, cols * CELL + 40)
    width = right + len(v[0]) * CELL + 8
    sheet = Drawing(min(WIDEST, max(width, 380)), top + rows * ROW + 40, alt)

    def put(values, x: float, y: float, size: float, high: float, ink: str, **how) -> Box:
        return sheet.cells(values, x, y, size, height=high, line=ink, **how)

    columns = [[row[n] for row in k] for n in range(len(k[0]))]
    keys = put(columns, left, top - 12 - len(columns) * CELL, COLUMN, CELL, "key")
    loudest = max(abs(n) for row in v for n in row)
    values = put(v, right, top - 12 - cols * 18, CELL, 18, "value", end=loudest)
    asked = put(q, asks, top, CELL, ROW, "query")
    grid = put(weights, left, top, COLUMN, ROW, "soft", end=1)
    mixed = put(output, right, top, CELL, ROW, "soft", end=loudest)
    for i, word in enumerate(written):
        y = top + (i + 0.5) * ROW
        sheet.text(word, asks - 8, y, "query", align="end", bold=i == query)
        for j, w in enumerate(weights[i]):
            sheet.text(f"{w:.2f}", left + (j + 0.5) * COLUMN, y, bold=i == query)
    for j, word in enumerate(read):
        sheet.text(word, left + (j + 0.5) * COLUMN, keys.y - 14, "key")
    sheet.text("keys", left - 8, keys.middle[1], "key", align="end")
    sheet.text("values", values.middle[0], values.y - 14, "value")
    below = top + rows * ROW + 18
    sheet.text("queries", asked.x + asked.width, below, "query", align="end")
    sheet.text("weights", grid.middle[0], below)
    sheet.text("outputs", mixed.middle[0], below)
    most = max(range(cols), key=weights[query].__getitem__)
    sheet.frame(Box(left + most * COLUMN, keys.y, COLUMN, keys.height), "key", room=1)
    sheet.frame(Box(right, values.y + most * 18, values.width, 18), "value", room=1)
    for part in (asked, grid, mixed):
        sheet.frame(Box(part.x, top + query * ROW, part.width, ROW), "query", room=1)
    sheet.text("written words ask,", 8, 24, "query", align="start")
    sheet.text("read words answer", 8, 44, "key", align="start")
    return sheet


def check_words(name: str, words: Sequence[str], count: int) -> None:
    if len(words) != count:
        raise ValueError(f"{name} must be {count} words, got {len(words)}")
