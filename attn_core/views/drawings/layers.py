"""An encoder layer and a decoder layer, and where a layer may have its norms."""

from __future__ import annotations

from attn_core.views.drawings.drawing import Box, Drawing

WIDE, TALL = 170, 36  # of a sublayer
NORM = 26  # how high a norm is
ROOM = 15  # between two boxes of a column
PLUS = 10  # the radius of a sum


def plus(sheet: Drawing, x: float, y: float) -> None:
    """A sum: the residual comes in, what the sublayer gave comes in."""
    sheet.box(x - PLUS, y - PLUS, 2 * PLUS, 2 * PLUS, "+", fill="paper", line="accent", round=PLUS)


def up(sheet: Drawing, x: float, start: float, end: float, ink: str = "soft", **how) -> None:
    sheet.arrow((x, start), (x, end), ink, gap=0, width=1.6, **how)


def wrapped(sheet: Drawing, x: float, y: float, words: str, side: float) -> tuple[Box, float]:
    """A sublayer with its sum and its norm, upward from y; its box, and where its norm begins.

    side is where the residual runs, a line past the sublayer.
    """
    fork = y - 8
    middle = x + WIDE / 2
    body = sheet.box(x, fork - ROOM - TALL, WIDE, TALL, words, line="soft")
    up(sheet, middle, y, body.y + TALL)
    add = body.y - ROOM - PLUS
    up(sheet, middle, body.y, add + PLUS)
    norm = sheet.box(x, add - PLUS - ROOM - NORM, WIDE, NORM, "norm", fill="paper", line="soft")
    up(sheet, middle, add - PLUS, norm.y + NORM)
    sheet.line((middle, fork), (side, fork), (side, add), ink="accent", width=2.4)
    near = middle + (PLUS if side > middle else -PLUS)
    sheet.arrow((side, add), (near, add), "accent", width=2.4, gap=0)
    plus(sheet, middle, add)
    return body, norm.y


def two_layers(source: str = "Tom chases Jerry", target: str = "<start> 汤姆 追逐") -> Drawing:
    """An encoder layer and a decoder layer, as in the paper: each sublayer in its own residual.

    >>> two_layers()
    Drawing: Two columns, read upward. The encoder layer has self-attention, then feed-forward. \
The decoder layer has causal self-attention, then cross-attention, then feed-forward. Around each \
of these five sublayers, a line leads to a sum, which then goes through a norm. The encoder's \
output, the memory, goes as keys and values into the cross-attention; its queries come from below.

    Args:
        source: what goes into the encoder layer.
        target: what goes into the decoder layer.

    Taught in chapter 09.
    """
    sheet = Drawing(
        456,
        488,
        "Two columns, read upward. The encoder layer has self-attention, then feed-forward. The "
        "decoder layer has causal self-attention, then cross-attention, then feed-forward. Around "
        "each of these five sublayers, a line leads to a sum, which then goes through a norm. The "
        "encoder's output, the memory, goes as keys and values into the cross-attention; its "
        "queries come from below.",
    )
    left, right, bottom = 34.0, 252.0, 462.0
    y, middle = bottom, left + WIDE / 2
    for part in ("self-attention", "feed-forward"):
        _, y = wrapped(sheet, left, y, part, left - 16)
    memory, y = y, bottom
    _, y = wrapped(sheet, right, y, "causal self-attention", right + WIDE + 16)
    sheet.text("q", right + WIDE / 2 - 14, y - 11, "query")
    crossed, y = wrapped(sheet, right, y, "cross-attention", right + WIDE + 16)
    _, y = wrapped(sheet, right, y, "feed-forward", right + WIDE + 16)
    up(sheet, right + WIDE / 2, y, y - 18)
    turn = left + WIDE + 17
    for way, ink, name in ((-7, "key", "k"), (7, "value", "v")):
        end, x = crossed.left[1] + way, turn - way
        start = middle - way, memory
        over = memory - 20 + way
        sheet.line(start, (start[0], over), (x, over), (x, end), ink=ink)
        sheet.arrow((x, end), (crossed.x, end), ink, gap=0, width=1.6)
        sheet.text(name, crossed.x - 10, end + 1.7 * way, ink)
    sheet.text("memory", middle, memory - 40)
    for words, asked, x in (
        ("encoder layer", source, left),
        ("decoder layer", target, right),
    ):
        sheet.text(words, x + WIDE / 2, 20, bold=True)
        sheet.text(asked, x + WIDE / 2, bottom + 13)
    return sheet


def norm_places() -> Drawing:
    """Post-norm beside pre-norm: does the path of the residuals go through the norms, or past them?

    >>> norm_places()
    Drawing: Two stacks of two sublayers, read upward. Post-norm: the path of the residuals goes \
through a sum and then a norm, again and again. Pre-norm: the norms come before the sublayers, \
beside the path, which goes straight up from sum to sum; one last norm closes the stack.

    Taught in chapter 09.
    """
    sheet = Drawing(
        440,
        456,
        "Two stacks of two sublayers, read upward. Post-norm: the path of the residuals goes "
        "through a sum and then a norm, again and again. Pre-norm: the norms come before the "
        "sublayers, beside the path, which goes straight up from sum to sum; one last norm closes "
        "the stack.",
    )
    bottom, unit, body = 412, 160, 116
    for x, name, formula, is_pre in (
        (56, "post-norm", "norm(x + f(x))", False),
        (276, "pre-norm", "x + f(norm(x))", True),
    ):
        sheet.text(name, x + 68, 18, bold=True)
        sheet.text(formula, x + 68, 40, "soft")
        sheet.arrow((x, bottom), (x, 58), "accent", width=4, gap=0)
        sheet.text("x", x, bottom + 14)
        beside = x + 34
        middle = beside + body / 2
        for y in (bottom, bottom - unit):
            fork, add = y - 12, y - (122 if is_pre else 88)
            first = y - 22 - NORM
            sheet.line((x, fork), (middle, fork), ink="soft")
            if is_pre:
                sheet.box(beside, first, body, NORM, "norm", fill="paper", line="soft")
                up(sheet, middle, fork, first + NORM)
                start, low = first, first - 14
            else:
                start, low = fork, fork - 16
            f = sheet.box(beside, low - TALL, body, TALL, "sublayer f", line="soft")
            up(sheet, middle, start, low)
            sheet.line((middle, f.y), (middle, add), ink="soft")
            sheet.arrow((middle, add), (x + PLUS, add), gap=0, width=1.6)
            plus(sheet, x, add)
            if not is_pre:
                top = add - PLUS - 10 - NORM
                sheet.box(x - 32, top, 64, NORM, "norm", fill="paper", line="accent")
        if is_pre:
            sheet.box(x - 32, 76, 64, NORM, "norm", fill="paper", line="accent")
            sheet.text("once,", x + 42, 80, "soft", align="start")
            sheet.text("at the end", x + 42, 98, "soft", align="start")
    return sheet
