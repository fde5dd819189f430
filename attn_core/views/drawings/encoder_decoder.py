"""Encoder and decoder: with one vector between them, and with a context for each written word."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from attn_core.views.drawings.drawing import GAP, WIDEST, Box, Drawing, short
from attn_core.views.drawings.steps import Steps
from attn_core.views.drawings.strip import quoted

ACROSS = 8  # numbers in a row, at most, of a vector that is drawn without its digits
FEW = 2  # so many numbers are written out
MOST = 4  # words side by side
CELL = 8.5
ROOM = 100  # at the left, for the names of the parts
BAND = 46  # where the encoder begins


def encoder_decoder(
    states: Float[Tensor, "S E"], english: Sequence[str], chinese: Sequence[str]
) -> Drawing:
    """Two boxes and one vector between them: what every written word comes from.

    >>> import torch
    >>> states = torch.tensor([[4.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> encoder_decoder(states, ["Tom", "chases", "Jerry"], ["汤姆", "追逐", "杰瑞"])
    Drawing: An encoder reads “Tom”, “chases”, “Jerry”, one after the other, and has a state \
after each. Only the last state goes on: c, a vector of 2 numbers. A decoder writes “汤姆”, \
“追逐”, “杰瑞”, all of them from this one c.

    Args:
        states: the encoder's state after each word, a row for each.
        english: the words that it reads.
        chinese: the words that the decoder writes.

    Taught in chapter 01.
    """
    rows = checked(states, english, chinese)
    width = len(rows[0])
    sheet = Drawing(
        WIDEST,
        276 + 1.5 * height_of(rows[0]),
        f"An encoder reads {', '.join(quoted(english))}, one after the other, and has a state "
        f"after each. Only the last state goes on: c, a vector of {width} numbers. A decoder "
        f"writes {', '.join(quoted(chinese))}, all of them from this one c.",
    )
    last = encoder(sheet, rows, english, kept=False)
    y = last.y + last.height + 82
    c = vector(sheet, rows[-1], places(1)[0], y, rows)
    sheet.frame(c, "accent", room=2)
    corner = last.bottom[0], y
    sheet.line(last.bottom, corner, ink="accent", width=2.4)
    sheet.arrow((corner[0] + GAP, y), c.right, "accent", width=2.4)
    sheet.text("last state", (c.right[0] + corner[0]) / 2, y + 16, "soft")
    sheet.text(f"c: {width} numbers,", c.x - 16, y - 11, "accent", align="end", bold=True)
    sheet.text("all that gets through", c.x - 16, y + 11, "soft", align="end")
    for writer in decoder(sheet, chinese, y + c.height / 2 + 40):
        sheet.arrow(c.bottom, writer.top, "accent", width=2.4)
    return sheet


def contexts(
    states: Float[Tensor, "S E"],
    weights: Float[Tensor, "L S"],
    english: Sequence[str],
    chinese: Sequence[str],
) -> Steps:
    """All states are kept, and each written word takes a mixture of its own.

    >>> import torch
    >>> states = torch.tensor([[4.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> weights = torch.tensor([[0.8, 0.1, 0.1], [0.0, 0.1, 0.9]])
    >>> contexts(states, weights, ["Tom", "chases", "Jerry"], ["汤姆", "杰瑞"])
    Drawing: Encoder and decoder, with a context for each written word. 1: All states are kept, \
not only the last one. 2: 汤姆 takes 0.8 of Tom, 0.1 of chases, 0.1 of Jerry. Together \
c₁ = (3.7, 0.7). 3: 杰瑞 takes 0 of Tom, 0.1 of chases, 0.9 of Jerry. Together c₂ = (2.9, 4.7).

    Args:
        states: the encoder's state after each word, a row for each.
        weights: of each written word a row: how much it takes of each state.
        english: the words that are read.
        chinese: the words that are written.

    Taught in chapter 01.
    """
    rows = checked(states, english, chinese)
    shape = (len(chinese), len(english))
    if tuple(weights.shape) != shape:
        raise ValueError(
            f"weights must have a row for each written word and a column for each word that is "
            f"read, {shape}, got {tuple(weights.shape)}"
        )
    shares = weights.detach().double()
    mixed = (shares @ states.detach().double()).tolist()
    kept = mixture(rows, english, chinese, mixed, None, [])
    steps = [(kept, "All states are kept, not only the last one.")]
    for i, row in enumerate(shares.tolist()):
        parts = [f"{short(n)} of {word}" for n, word in zip(row, english, strict=True)]
        result = f"c{'₁₂₃₄'[i]}"
        if len(mixed[i]) <= FEW:
            result += f" = ({', '.join(short(n) for n in mixed[i])})"
        says = f"{chinese[i]} takes {', '.join(parts)}. Together {result}."
        steps.append((mixture(rows, english, chinese, mixed, i, row), says))
    return Steps(steps, "Encoder and decoder, with a context for each written word.")


def mixture(
    rows: list[list[float]],
    english: Sequence[str],
    chinese: Sequence[str],
    mixed: list[list[float]],
    now: int | None,
    weights: list[float],
) -> Drawing:
    """One step: the contexts up to now, and at the lines of this one its weights."""
    sheet = Drawing(WIDEST, 278 + 1.5 * height_of(rows[0]), "")
    last = encoder(sheet, rows, english, kept=True)
    wide, high, below = last.width, last.height, last.y + last.height
    y = below + 100
    written = 0 if now is None else now + 1
    sheet.text("contexts", 20, y, "accent", align="start", bold=True)
    writers = decoder(sheet, chinese, y + high / 2 + 24, written)
    for i, (x, writer) in enumerate(zip(places(len(chinese)), writers, strict=True)):
        if i >= written:
            sheet.box(
                x - wide / 2, y - high / 2, wide, high, fill="none", line="soft", dashed=True
            )  # fmt: skip
            continue
        is_now = i == now
        context = vector(sheet, mixed[i], x, y, rows, pale=not is_now)
        sheet.frame(context, "accent" if is_now else "soft", room=2)
        sheet.arrow(context.bottom, writer.top, "accent" if is_now else "soft", gap=4)
    if now is None:
        return sheet
    end = places(len(chinese))[now], y - high / 2 - 2
    part = 0.36  # of the way down a line its weight stands
    for start, share in zip(places(len(english)), weights, strict=True):
        if share > 0:
            sheet.line(
                (start, below + 2), end, ink="accent", width=max(0.8, 12 * share),
                stroke_opacity=0.8,
            )  # fmt: skip
    for start, share in zip(places(len(english)), weights, strict=True):
        x, level = start + part * (end[0] - start), below + 2 + part * (end[1] - below - 2)
        ink = "ink" if share > 0 else "soft"
        sheet.box(x - 20, level - 11, 40, 22, short(share), fill="paper", ink=ink)
    return sheet


def encoder(
    sheet: Drawing, rows: list[list[float]], words: Sequence[str], *, kept: bool
) -> Box:  # fmt: skip
    """The words, and the state after each; what is not kept is pale. Gives the last state."""
    high = height_of(rows[0])
    y = BAND + 16 + high / 2
    sheet.box(8, BAND, WIDEST - 16, high + 32)
    sheet.text("encoder", 20, y, align="start", bold=True)
    states: list[Box] = []
    for j, (word, x) in enumerate(zip(words, places(len(words)), strict=True)):
        is_on = kept or j == len(words) - 1
        sheet.text(word, x, 16)
        state = vector(sheet, rows[j], x, y, rows, pale=not is_on)
        sheet.arrow((x, 26), state.top, gap=4)
        if is_on:
            sheet.frame(state, "accent", room=2)
        if states:
            sheet.arrow(states[-1].right, state.left)
        states.append(state)
    return states[-1]


def decoder(
    sheet: Drawing, words: Sequence[str], y: float, written: int | None = None
) -> list[Box]:
    """A box for each word, in the order of writing, and below it the word; gives the boxes."""
    sheet.box(8, y - 8, WIDEST - 16, 44)
    sheet.text("decoder", 20, y + 14, align="start", bold=True)
    boxes: list[Box] = []
    for i, (word, x) in enumerate(zip(words, places(len(words)), strict=True)):
        is_written = written is None or i < written
        ink = "ink" if is_written else "soft"
        boxes.append(sheet.box(x - 16, y, 32, 28, str(i + 1), fill="paper", line="soft", ink=ink))
        if i:
            sheet.arrow(boxes[-2].right, boxes[-1].left, gap=4)
        if is_written:
            sheet.arrow((x, y + 28), (x, y + 62), gap=4)
            sheet.text(word, x, y + 74, bold=written == i + 1)
    return boxes


def vector(
    sheet: Drawing, numbers: list[float], x: float, y: float, among: list[list[float]], *,
    pale: bool = False,
) -> Box:  # fmt: skip
    """A vector around (x, y): its digits if they are few, else in rows of small cells."""
    end = max(abs(n) for row in among for n in row) * (2.5 if pale else 1)
    size = 34 if len(numbers) <= FEW else CELL
    across = max(n for n in range(1, ACROSS + 1) if len(numbers) % n == 0)
    rows = [numbers[i : i + across] for i in range(0, len(numbers), across)]
    high = height_of(numbers)
    left = x - size * across / 2
    sheet.box(left, y - high / 2, size * across, high, fill="paper", round=0)
    whole = sheet.cells(rows, left, y - high / 2, size, height=high / len(rows), end=end)
    if len(numbers) <= FEW:
        for j, n in enumerate(numbers):
            sheet.text(short(n), left + (j + 0.5) * size, y, "soft" if pale else "ink")
    return whole


def height_of(numbers: Sequence[float]) -> float:
    return 30 if len(numbers) <= FEW else 60


def places(count: int) -> list[float]:
    """The middles of so many columns."""
    step = (WIDEST - ROOM - 12) / count
    return [ROOM + (j + 0.5) * step for j in range(count)]


def checked(
    states: Float[Tensor, "S E"], english: Sequence[str], chinese: Sequence[str]
) -> list[list[float]]:
    """The states as lists, if they fit their words and a drawing."""
    for name, words in (("english", english), ("chinese", chinese)):
        if not 1 <= len(words) <= MOST:
            raise ValueError(f"{name} must have 1 to {MOST} words, got {len(words)}")
    if states.ndim != 2 or len(states) != len(english):
        raise ValueError(
            f"states must have a row for each of the {len(english)} words that are read, "
            f"got the shape {tuple(states.shape)}"
        )
    return states.detach().double().tolist()
