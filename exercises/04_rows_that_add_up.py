"""Rounding a row so that what is printed sums to 1: the method of the largest remainder."""

import math

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, Field, Mistake, in_shape


def parameters(seed):
    if seed == 0:
        x = toy.notebook().x.double()
        return {"rows": torch.softmax(x @ x.T, dim=-1).tolist()}
    scores = Draws(seed).integers(0, 5, 4, 3 + seed % 3).double()
    return {"rows": torch.softmax(scores, dim=-1).tolist()}


def answers(units, rows, places):
    """A table of whole numbers, or None if it is none."""
    rounded = [in_shape(units(list(row), places), (len(row),)) for row in rows]
    if any(got is None or got.frac().any() for got in rounded):  # frac of inf is nan
        return None
    return [[int(unit) for unit in got.tolist()] for got in rounded]


def deserved(row, got, places):
    """No cell that was rounded down has a larger remainder than one that was rounded up."""
    exact = [weight * 10**places for weight in row]
    low = [math.floor(unit) for unit in exact]
    remainders = [unit - floor for unit, floor in zip(exact, low, strict=True)]
    cells = list(zip(got, low, remainders, strict=True))
    up = [remainder for unit, floor, remainder in cells if unit > floor]
    down = [remainder for unit, floor, remainder in cells if unit == floor]
    return min(up, default=1.0) >= max(down, default=0.0) - 1e-9


def checks(names, parameters):
    rows = parameters["rows"]
    tables = {places: answers(names["units"], rows, places) for places in (1, 2, 3)}
    given = all(got is not None for got in tables.values())
    cells = [
        (row, got, places)
        for places, table in tables.items()
        for row, got in zip(rows, table or [], strict=False)
    ]
    adds_up = given and all(sum(got) == 10**places for _, got, places in cells)
    is_close = given and all(
        abs(weight * 10**places - unit) < 1
        for row, got, places in cells
        for weight, unit in zip(row, got, strict=True)
    )
    return [
        Clue("`units(row, places)` returns one whole number for each weight", given),
        Clue("the numbers of a row sum to 10**places", adds_up),
        ("each differs from its weight by less than one unit", is_close),
        (
            "the cells with the largest remainders are rounded up, just enough for a sum of "
            "10**places",
            adds_up and is_close and all(deserved(*cell) for cell in cells),
        ),
    ]


EXERCISE = Exercise(
    id="04-rows-that-add-up",
    chapter="04",
    title="Rows that add up",
    level=3,
    points=3,
    text="""\
A printed table of percentages often has to sum to exactly 100. Write `units(row, places)`. It takes
a row of weights (floats) and returns whole numbers of units, for example thousandths for
`places=3`. Round every weight down to a whole number of units. The units still missing from
`10**places` go, one each, to the cells that lost the most. *Expected: six or seven lines.*
{% if chapter %}Try it on `rows`, the weights of 笔记本 (`x = toy.notebook().x`, then
`rows = torch.softmax(x @ x.T, dim=-1).tolist()`), and compare with
[the printed table](#deeper-three-wrong-digits-in-a-printed-table) below. Which of its three wrong
digits does this method explain, and which does it not explain?{% else %}Try it with
`[units(row, 2) for row in rows]`.{% endif %}""",
    starter="def units(row, places):\n    return ...",
    solution="""\
import math


def units(row, places):
    exact = [weight * 10**places for weight in row]
    cut = [math.floor(unit) for unit in exact]
    missing = 10**places - sum(cut)
    most_lost = sorted(range(len(row)), key=lambda j: cut[j] - exact[j])
    for j in most_lost[:missing]:
        cut[j] += 1
    return cut


# The method explains 0.064 and 0.156: it returns 64 and 156 thousandths. It does not explain
# 0.0069: it returns 7 thousandths, or 67 ten-thousandths.""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def units(row, places):
    return [round(weight * 10**places) for weight in row]""",
            "This rounds each cell to the nearest unit, so the row need not sum to 10**places.",
        ),
        Mistake(
            """\
def units(row, places):
    found = [int(weight * 10**places) for weight in row]
    found[-1] += 10**places - sum(found)
    return found""",
            (
                "You give all missing units to the last cell, but that may not be the cell that "
                "lost the most."
            ),
        ),
        Mistake(
            """\
def units(row, places):
    found = [int(weight * 10**places) for weight in row]
    found[row.index(max(row))] += 10**places - sum(found)
    return found""",
            (
                "You give the missing units to the largest weight. They belong to the largest "
                "remainders."
            ),
        ),
    ),
    probes=lambda parameters: [([1.0], 2), ([0.625, 0.25, 0.125], 1)],
    fields=(Field("units(rows[2], 3)", label="`units(…, 3)` for the row of 本", places=0),),
)
