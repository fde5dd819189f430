"""Chapter 09, level 2: the table of positions."""

import torch

from exercises import Clue, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    return {"length": 3 + seed % 20, "width": 4 + 2 * (seed % 3)}


def checks(names, parameters):
    length, width = parameters["length"], parameters["width"]
    got = in_shape(names["positions"](length, width), (length, width))
    shaped = got is not None
    place = torch.arange(length, dtype=torch.float64)[:, None]
    rate = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return [
        Clue("`positions(length, width)` has the shape [length, width]", shaped),
        Clue(
            "position 0 is 0, 1, 0, 1, …",
            shaped and same(got[0], [0.0, 1.0] * (width // 2)),
        ),
        ("the even columns are the sines", shaped and same(got[:, 0::2], (place * rate).sin())),
        ("the odd columns are the cosines", shaped and same(got[:, 1::2], (place * rate).cos())),
    ]


EXERCISE = Exercise(
    id="09-positions",
    chapter="09",
    title="The table of positions",
    level=2,
    points=2,
    text=(
        "Write `positions(length, width)`, which returns a table with a row for each "
        "position, sines in columns 0, 2, 4, …, and cosines in columns 1, 3, 5, …, as "
        "`sinusoids` does. {% if chapter %}Compare `positions(3, 4)` with "
        "`attn_core.layers.sinusoids(3, 4)`, and try a width of 6, too.{% else "
        "%}(`sinusoids` is in attn_core.) Try `positions(length, width)`, and other widths, "
        "too.{% endif %} *Expected: five or six lines; two loops are fine, but a "
        "version without loops is faster. `table[:, 0::2]` is every second column.*"
    ),
    starter="""\
def positions(length, width):
    return ...""",
    solution="""\
import torch


def positions(length, width):
    table = torch.zeros(length, width)
    for position in range(length):
        rate = 10000 ** (-torch.arange(0, width, 2) / width)
        table[position, 0::2] = torch.sin(position * rate)
        table[position, 1::2] = torch.cos(position * rate)
    return table""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def positions(length, width):
    angle = torch.arange(length)[:, None] * 10000 ** (-torch.arange(0, width, 2) / width)
    return torch.cat((angle.sin(), angle.cos()), dim=1)""",
            (
                "You put all sines first, then all cosines. Here they alternate. (Some libraries "
                "do it your way; a model that was trained with one way can't use the other.)"
            ),
        ),
        change(
            "-torch.arange",
            "-2 * torch.arange",
            hint=(
                "The exponent is 2i/width for columns 2i and 2i "
                "+ 1. Your step of two has already doubled i."
            ),
            name="position-exponent",
        ),
        Mistake(
            """\
import torch


def positions(length, width):
    angle = torch.arange(length)[:, None] * 10000 ** (-torch.arange(width) / width)
    table = angle.sin()
    table[:, 1::2] = angle[:, 1::2].cos()
    return table""",
            "A sine and the cosine next to it must have the same rate. Yours differ.",
        ),
        change(
            ("sin(position", "sin((position + 1)"),
            ("cos(position", "cos((position + 1)"),
            hint="The first position is 0, not 1.",
        ),
    ),
    probes=lambda parameters: [(1, 2), (40, 16)],
    fields=(Field("positions(2, 6)", places=3),),
)
