"""Attention as a look-up made soft: its three stages, and beside it a look-up in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.digits import fixed, plain
from attn_core.record import AttentionTrace
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing, minus
from attn_core.views.drawings.strip import first_map, listed, quoted

MOST = 3  # keys
HIGH = 30


def three_stages(
    record: AttentionTrace, query: int, tokens: Sequence[str], key_tokens: Sequence[str]
) -> Drawing:
    """One query's way: compared with each key, made shares, and mixed from the values.

    >>> from attn_core import toy, trace
    >>> chinese, queries, english, states = toy.tom_and_jerry()
    >>> three_stages(trace(queries, states, states, scale=1.0), 0, chinese, english)
    Drawing: The query of “汤姆”, (0.5, −0.5), goes through three stages. Compared with the keys \
of “Tom”, “chases” and “Jerry”, it scores 2, 0, −1. Normalised, these scores become the shares \
0.8438, 0.1142, 0.0420. The values, mixed with these shares, give the context (3.7296, 0.4384).

    Args:
        record: attention with two numbers a vector, in its first sentence and head.
        query: whose row is drawn.
        tokens: the names of the queries.
        key_tokens: the names of the keys, at most three.

    Taught in chapter 02.
    """
    row = Row(record, query, tokens, key_tokens)
    sheet = Drawing(
        WIDEST,
        122 + 46 * len(row.names),
        f"The query of “{row.name}”, {pair(row.query)}, goes through three stages. Compared with "
        f"the keys of {listed(quoted(row.names))}, it scores "
        f"{', '.join(short(n) for n in row.scores)}. Normalised, these scores become the shares "
        f"{', '.join(fixed(n) for n in row.weights)}. The values, mixed with these shares, give "
        f"the context {pair(row.output)}.",
    )
    for words, x in (("1 compare", 116), ("2 normalise", 254), ("3 mix", 408)):
        sheet.text(words, x, 16, "accent", bold=True)
    # The query stands above the keys: number above number, as the dot product pairs them.
    size = cell_size([row.query, *row.keys])
    asked = numbers(sheet, row.query, 64, 60, size, "query")
    sheet.text(row.name, 58, 60, "query", align="end", bold=True)
    joint = asked.right[0] + 12
    rows = [110.0 + 46 * j for j in range(len(row.names))]
    sheet.line(asked.right, (joint, 60), (joint, rows[-1]), ink="query", width=2)
    middle = (rows[0] + rows[-1]) / 2
    size_out = cell_size([row.output], 2)
    outcome = Box(WIDEST - 10 - 2 * size_out, middle, 0, 0)
    for y, name, key, value, score, weight in zip(
        rows, row.names, row.keys, row.values, row.scores, row.weights, strict=True
    ):
        sheet.text(name, 58, y, align="end")
        compared = numbers(sheet, key, 64, y, size, "key")
        sheet.line(compared.right, (joint, y), ink="key", width=2)
        sheet.box(joint - 4, y - 4, 8, 8, fill="query")
        sheet.text(short(score), joint + 22, y)
        sheet.arrow((joint + 40, y), (joint + 60, y), gap=1)
        left = joint + 62
        sheet.box(left, y - 14, 70 * weight, 28, fill="more", round=0)
        sheet.text(fixed(weight), left + 5, y, align="start")
        sheet.text("×", left + 81, y, "soft")
        mixed = numbers(sheet, value, left + 92, y, cell_size(row.values), "value")
        sheet.line(
            mixed.right, (outcome.x, middle), ink="value", width=max(0.8, 12 * weight)
        )  # fmt: skip
    sheet.frame(
        numbers(sheet, row.output, outcome.x, middle, size_out, "value", 2), "value", room=2
    )
    names = (
        ("keys", asked.middle[0], "key"),
        ("scores", joint + 16, "ink"),
        ("weights", joint + 92, "ink"),
        ("values", mixed.middle[0], "value"),
        ("output", outcome.x + size_out, "value"),
    )
    for words, column, ink in names:
        sheet.text(words, column, rows[-1] + 36, ink)
    return sheet


def look_up(
    record: AttentionTrace, query: int, key: str, tokens: Sequence[str], key_tokens: Sequence[str]
) -> Drawing:
    """A look-up in a dictionary, which finds one value, beside attention, which mixes all.

    >>> from attn_core import toy, trace
    >>> chinese, queries, english, states = toy.tom_and_jerry()
    >>> look_up(trace(queries, states, states, scale=1.0), 1, "chases", chinese, english)
    Drawing: On the left is a dictionary: “chases” fits one key, and its value, (2, 2), comes out. \
On the right is attention: “追逐” fits each key a little, “Tom”, “chases” and “Jerry” with the \
shares 0.0900, 0.6652, 0.2447, and a mixture of all values, (2.4248, 2.5541), comes out.

    Args:
        record: attention with two numbers a vector, in its first sentence and head.
        query: whose row is drawn.
        key: what the dictionary is asked for, one of key_tokens.
        tokens: the names of the queries.
        key_tokens: the names of the keys, at most three.

    Taught in chapter 02.
    """
    row = Row(record, query, tokens, key_tokens)
    if key not in row.names:
        raise ValueError(f"key must be one of {', '.join(row.names)}, got {key!r}")
    hits = [float(name == key) for name in row.names]
    value = row.values[row.names.index(key)]
    sheet = Drawing(
        WIDEST,
        330,
        f"On the left is a dictionary: “{key}” fits one key, and its value, {pair(value)}, comes "
        f"out. On the right is attention: “{row.name}” fits each key a little, "
        f"{listed(quoted(row.names))} with the shares "
        f"{', '.join(fixed(n) for n in row.weights)}, and a mixture of all values, "
        f"{pair(row.output)}, comes out.",
    )
    sheet.line((WIDEST / 2, 8), (WIDEST / 2, 322), width=1)
    panel(sheet, 4, "dictionary", f'"{key}"', row, hits, [short(n) for n in hits], value)
    shares = [fixed(n) for n in row.weights]
    panel(sheet, 264, "attention", row.name, row, row.weights, shares, row.output)
    for words, ink, y in (("query", "query", 54), ("keys", "key", 100), ("values", "value", 241)):
        sheet.box(WIDEST / 2 - 30, y - 11, 60, 22, words, fill="paper", ink=ink)
    return sheet


def panel(
    sheet: Drawing, left: float, title: str, asked: str, row: Row, shares: list[float],
    written: list[str], result: list[float],
) -> None:  # fmt: skip
    """One of the two look-ups: the query, the keys, their shares, the values, the result."""
    wide = 252
    middle = left + wide / 2
    sheet.text(title, middle, 16, bold=True)
    sheet.box(middle - 44, 40, 88, 28, asked, fill="query-wash", line="query")
    sheet.box(middle - 84, 288, 168, 30, pair(result), fill="value-wash", line="value", bold=True)
    step = wide / len(row.names)
    for j, (name, share) in enumerate(zip(row.names, shares, strict=True)):
        x = left + (j + 0.5) * step
        sheet.box(x - 36, 116, 72, 28, name, fill="key-wash", line="key")
        sheet.box(x - 36, 196, 72, 28, pair(row.values[j]), fill="value-wash", line="value")
        sheet.text(written[j], x, 170, bold=share == max(shares))
        if share:
            width = max(0.8, 12 * share)
            sheet.line((middle, 68), (x, 116), ink="query", width=width)
            sheet.line((x, 224), (middle, 288), ink="value", width=width)


class Row:
    """The numbers of one query, as lists, if a drawing has room for them."""

    def __init__(
        self, record: AttentionTrace, query: int, tokens: Sequence[str], key_tokens: Sequence[str]
    ) -> None:
        scores = first_map(record, "scores")
        if not 0 <= query < len(scores):
            raise ValueError(f"query must be 0 to {len(scores) - 1}, got {query}")
        for name, words, count in (
            ("tokens", tokens, len(scores)),
            ("key_tokens", key_tokens, len(scores[0])),
        ):
            if len(words) != count:
                raise ValueError(f"{name} must have {count} words, got {len(words)}")
        if len(key_tokens) > MOST:
            raise ValueError(f"key_tokens must be at most {MOST} words, got {len(key_tokens)}")
        both = {"q": record.q, "k": record.k, "v": record.v, "output": record.output}
        sides = {name: side.reshape(-1, *side.shape[-2:])[0] for name, side in both.items()}
        for name, side in sides.items():
            if side.shape[-1] != 2:
                raise ValueError(f"{name} must have two numbers a vector, got {side.shape[-1]}")
        lists = {name: side.detach().tolist() for name, side in sides.items()}
        self.name, self.names = tokens[query], list(key_tokens)
        self.query, self.keys, self.values = lists["q"][query], lists["k"], lists["v"]
        self.output = lists["output"][query]
        self.scores, self.weights = scores[query], first_map(record, "weights")[query]


def numbers(
    sheet: Drawing, vector: list[float], x: float, y: float, size: float, ink: str,
    places: int | None = None,
) -> Box:  # fmt: skip
    """A vector as a row of cells in the color of its part."""
    whole = Box(x, y - HIGH / 2, size * len(vector), HIGH)
    sheet.box(whole.x, whole.y, whole.width, HIGH, fill=f"{ink}-wash", round=0)
    for j, n in enumerate(vector):
        sheet.text(short(n, places), x + (j + 0.5) * size, y)
    sheet.grid(whole, 1, len(vector), ink, 1.2)
    return whole


def cell_size(vectors: Sequence[Sequence[float]], places: int | None = None) -> float:
    """So wide that each number has room."""
    longest = max(len(short(n, places)) for vector in vectors for n in vector)
    return max(30.0, 12 + 8 * longest)


def short(n: float, places: int | None = None) -> str:
    return minus(plain(n) if places is None else fixed(n, places))


def pair(vector: Sequence[float]) -> str:
    """
    >>> pair([3.0, -0.5])
    '(3, −0.5)'
    """
    return f"({', '.join(short(n) for n in vector)})"
