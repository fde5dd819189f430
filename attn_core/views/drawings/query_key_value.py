"""Query, key and value: one word, looked at in three ways, by three matrices."""

from __future__ import annotations

from collections.abc import Sequence

from attn_core.digits import fixed
from attn_core.source import Projection
from attn_core.views.drawings.drawing import WIDEST, Box, Drawing, minus

CELL = 27
PARTS = (("query", "asks"), ("key", "is found"), ("value", "hands over"))
TOP = 50
BLOCK = 132  # from one matrix to the next
MATRIX, RESULT = 196, 384  # where they begin
WIDE = 62  # of a cell with four decimals


def query_key_value(source: Projection, token: int = 0, *, tokens: Sequence[str] = ()) -> Drawing:
    """The row of one word, through each of the three matrices: its query, its key, its value.

    >>> import torch
    >>> w = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> query_key_value(Projection(torch.tensor([[0.5, 1.0]]), w, 2 * w, -w), tokens=["one"])
    Drawing: The row of “one”, (0.50, 1.00), goes through three matrices. w_query makes its query \
(0.5000, 2.0000), w_key its key (1.0000, 4.0000), w_value its value (−0.5000, −2.0000).

    Args:
        source: x and its three matrices.
        token: whose row is drawn.
        tokens: the words, for its name.

    Taught in chapter 05.
    """
    matrices = (source.w_query, source.w_key, source.w_value)
    high, wide = matrices[0].shape[0], max(w.shape[1] for w in matrices)
    if high > 4 or wide > 2:
        raise ValueError(
            f"source must have matrices of at most 4 rows and 2 columns, got {high} × {wide}"
        )
    if source.biases is not None:
        raise ValueError("source must have no biases: the drawing has no place for them")
    x = source.x.reshape(-1, *source.x.shape[-2:])[0]
    if not 0 <= token < len(x):
        raise ValueError(f"token must be one of the {len(x)} rows of x, got {token}")
    row = x[token].detach().double()
    name = tokens[token] if tokens else f"token {token}"
    spoken = f"“{name}”" if tokens else name
    results = [part.reshape(-1, *part.shape[-2:])[0][token] for part in source.project()]
    sentences = [
        f"w_{part} {'makes its' if part == 'query' else 'its'} {part} {vector(result.tolist())}"
        for (part, _), result in zip(PARTS, results, strict=True)
    ]
    sheet = Drawing(
        WIDEST,
        TOP + 3 * BLOCK - (BLOCK - high * CELL) + 12,
        f"The row of {spoken}, {vector(row.tolist(), 2)}, goes through three matrices. "
        f"{', '.join(sentences)}.",
    )
    middle = TOP + BLOCK + high * CELL / 2
    word = sheet.cells([row.tolist()], 8, middle - CELL / 2, 42, height=CELL, places=2, line="ink")
    sheet.text(name, word.middle[0], middle - CELL / 2 - 15, bold=True)
    for n, ((part, does), w, result) in enumerate(zip(PARTS, matrices, results, strict=True)):
        y = TOP + n * BLOCK
        values = w.detach().double().tolist()
        matrix = colored(sheet, values, MATRIX, y, part)
        sheet.text(f"w_{part}", MATRIX + matrix.width / 2, y - 13, part)
        made = colored(sheet, [result.tolist()], RESULT, matrix.middle[1] - CELL / 2, part)
        sheet.frame(made, part)
        sheet.text(part, made.middle[0], made.y - 15, part, bold=True)
        sheet.text(does, made.middle[0], made.y + CELL + 14)
        sheet.arrow(word.right, matrix.left, part, width=2)
        sheet.arrow(matrix.right, made.left, part, width=2)
    return sheet


def colored(
    sheet: Drawing, values: Sequence[Sequence[float]], x: float, y: float, part: str
) -> Box:
    """Numbers on the wash of their part."""
    box = Box(x, y, WIDE * len(values[0]), CELL * len(values))
    sheet.box(x, y, box.width, box.height, fill=f"{part}-wash", round=0)
    for i, row in enumerate(values):
        for j, n in enumerate(row):
            words = minus(fixed(n))
            sheet.text(words, x + (j + 0.5) * WIDE, y + (i + 0.5) * CELL)
    sheet.grid(box, len(values), len(values[0]), part, 0.8)
    return box


def vector(numbers: Sequence[float], places: int = 4) -> str:
    """
    >>> vector([0.5, -1])
    '(0.5000, −1.0000)'
    """
    return f"({', '.join(fixed(n, places).replace('-', '−') for n in numbers)})"
