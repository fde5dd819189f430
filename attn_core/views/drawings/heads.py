"""Several heads: side by side in one layer, and what each of them takes for one word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attn_core.digits import fixed
from attn_core.modules import MultiHeadAttention
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing
from attn_core.views.drawings.margins import across, check_words
from attn_core.views.drawings.strip import listed

HEADS = ("ink", "accent")
MOST = 18.0  # the largest side of a cell
EDGE, TOP, LANES = 8, 36, 52
INNER, BETWEEN, TO_OUTPUT = 9, 27, 84


def heads(
    layer: MultiHeadAttention, x: Tensor, tokens: Sequence[str], *, query: int = 0
) -> Drawing:
    """A layer of two heads: split, each its own weights, outputs side by side, projected.

    >>> from attn_core import causal, toy
    >>> words, x = toy.journey()
    >>> _ = torch.manual_seed(123)
    >>> heads(MultiHeadAttention(3, 2, num_heads=2, keep=causal()), x, words, query=1)
    Drawing: From x come two heads, each with its own q, k, v and map of weights. The row of \
“journey” has the weights 0.48 and 0.52 in head 0, and 0.50 and 0.50 in head 1. The outputs of the \
heads are put side by side, and out_proj mixes them.

    Args:
        layer: the heads, two of them.
        x: the words, [T, d_in].
        tokens: the words.
        query: whose row is framed.

    Taught in chapter 08.
    """
    if layer.num_heads != 2:
        raise ValueError(f"layer must have 2 heads, got {layer.num_heads}")
    check_words(tokens, len(x))
    with torch.no_grad():
        record = layer.trace(x[None])
        parts = [part[0].tolist() for part in (record.q, record.k, record.v, record.output)]
        hidden = record.stage("masked")[0] == -torch.inf
        maps = record.stage("weights")[0].masked_fill(hidden, -torch.inf).tolist()
        merged = record.output.transpose(1, 2).flatten(2)
        projected = layer.out_proj(merged)[0].tolist()
    side_by_side, words = merged[0].tolist(), x.tolist()
    sentences = []
    for head, weights in enumerate(maps):
        shares = [fixed(share, 2) for share in weights[query] if share > 0]
        sentences.append(f"{listed(shares)} in head {head}")
    sheet = Drawing(
        WIDEST,
        0,
        "From x come two heads, each with its own q, k, v and map of weights. The row of "
        f"“{tokens[query]}” has the weights {', and '.join(sentences)}. The outputs of the heads "
        "are put side by side, and out_proj mixes them.",
    )
    count, part = len(x), len(parts[0][0][0])
    columns = len(words[0]) + 3 * part + count + part + 2 * part + len(projected[0])
    spare = 2 * INNER + 4 * BETWEEN + TO_OUTPUT + 2 * EDGE
    side = min(MOST, (WIDEST - spare) / columns)
    high = count * side
    tops = (TOP, TOP + high + LANES)
    middle = (tops[0] + tops[1]) / 2
    sheet.height = tops[1] + high + 44

    def matrix(values: list, left: float, top: float, line: str | None = None) -> Box:
        box = sheet.cells(values, left, top, side, line=line)
        sheet.frame(Box(left, top + query * side, box.width, side), "query", room=1)
        return box

    left = float(EDGE)
    start = matrix(words, left, middle)
    sheet.text("x", start.x + start.width / 2, middle - 16, bold=True)
    lanes = start.x + start.width + BETWEEN
    outputs = []
    for head, top in enumerate(tops):
        left = lanes
        ink = HEADS[head]
        for letter, name, values in zip("qkv", ("query", "key", "value"), parts[:3], strict=True):
            box = matrix(values[head], left, top, line=name)
            sheet.text(letter, box.x + box.width / 2, top - 14, name)
            left += box.width + INNER
        left += BETWEEN - INNER
        y = top + high / 2
        sheet.arrow(start.right, (lanes, y), gap=5)
        sheet.arrow((left - BETWEEN, y), (left, y), gap=5)
        weights = matrix(maps[head], left, top)
        sheet.text(f"head {head}", weights.x + weights.width / 2, top - 14, ink, bold=True)
        left += weights.width + BETWEEN
        output = matrix(parts[3][head], left, top)
        sheet.arrow(weights.right, output.left, gap=5)
        outputs.append(output)
    left = outputs[0].x + outputs[0].width + BETWEEN
    joined = matrix(side_by_side, left, middle)
    for head, output in enumerate(outputs):
        x_half = joined.x + (head + 0.5) * joined.width / 2
        end = (x_half, joined.y if head == 0 else joined.y + high)
        sheet.arrow(output.right, end, HEADS[head], bend=14 if head == 0 else -14, gap=5)
    left += joined.width + TO_OUTPUT
    last = matrix(projected, left, middle)
    sheet.arrow(joined.right, last.left, "accent", gap=5)
    sheet.text("out_proj", (joined.right[0] + last.x) / 2, last.left[1] - 16, "accent")
    sheet.text(f"the row of {tokens[query]}", EDGE, tops[1] + high + 24, "query", align="start")
    return sheet


def attended_words(rows: Mapping[str, Tensor], tokens: Sequence[str], *, query: int) -> Drawing:
    """A sentence once for each head: the darker a word, the more of it the framed one takes.

    >>> rows = {"head 0": torch.tensor([0.9, 0.1]), "head 1": torch.tensor([0.2, 0.8])}
    >>> attended_words(rows, ["one", "step"], query=1)
    Drawing: Shading shows what “step” takes from each word. In head 0, “step” takes most from \
“one”, 0.90. In head 1, “step” takes most from “step”, 0.80.

    Args:
        rows: for each head, by its name, the weights of the query.
        tokens: the words of the sentence.
        query: which of them takes.

    Taught in chapter 08.
    """
    for row in rows.values():
        check_words(tokens, len(row))
    strongest = {name: int(row.argmax()) for name, row in rows.items()}
    sentences = [
        f"In {name}, “{tokens[query]}” takes most from “{tokens[j]}”, "
        f"{fixed(rows[name][j].item(), 2)}."
        for name, j in strongest.items()
    ]
    lines = laid(tokens)
    each = 34 + 30 * (max(line for line, _, _ in lines) + 1) + 14
    alt = f"Shading shows what “{tokens[query]}” takes from each word. {' '.join(sentences)}"
    sheet = Drawing(WIDEST, len(rows) * each + 4, alt)
    for place, (name, row) in enumerate(rows.items()):
        top = place * each + 8
        best = strongest[name]
        sheet.text(name, 10, top + 10, align="start", bold=True)
        share = f"{tokens[best]} {fixed(row[best].item(), 2)}"
        sheet.text(share, WIDEST - 10, top + 10, "accent", align="end", bold=True)
        for j, (line, x, wide) in enumerate(lines):
            y = top + 26 + 30 * line
            at = sheet.box(x, y, wide, 26, fill="wash")
            if row[j] > 0.01:
                sheet.box(x, y, wide, 26, fill="more", opacity=row[j].item())
            sheet.text(tokens[j], x + wide / 2, y + 13, bold=j in (best, query))
            if j == query:
                sheet.frame(at, "query")
    return sheet


def laid(tokens: Sequence[str]) -> list[tuple[int, float, float]]:
    """Of each word its line, where it begins, and its width."""
    places, line, x = [], 0, 10.0
    for word in tokens:
        wide = across(word, 16) + 9
        if x + wide > WIDEST - 10:
            line, x = line + 1, 10.0
        places.append((line, x, wide))
        x += wide + 3
    return places
