"""Chapter 13, level 1: by hand, what comes back to the scores of one row, in fractions."""

import torch

from exercises import Draws, Exercise, Field, change, near

SHARES = ([1, 1, 2], [2, 1, 1], [1, 2, 1], [1, 1, 6], [5, 2, 1], [1, 4, 3])


def parameters(seed):
    if seed == 0:
        return {"row_weights": [0.25, 0.25, 0.5], "row_values": [2.0, 6.0, 0.0], "row_target": 4.0}
    draw = Draws(seed)
    while True:
        parts = draw.choice(SHARES)
        values = draw.integers(-3, 8, 3).tolist()
        weights = [part / sum(parts) for part in parts]
        output = sum(w * v for w, v in zip(weights, values, strict=True))
        target = draw.integer(-3, 8)
        far = min(abs(output - n) for n in (target, sum(values) / 3, 0))
        if len({*values}) == 3 and far > 0.2:
            break
    return {
        "row_weights": weights,
        "row_values": [float(value) for value in values],
        "row_target": float(target),
    }


def checks(names, parameters):
    weights, values = (
        torch.tensor(parameters[name], dtype=torch.float64)
        for name in ("row_weights", "row_values")
    )
    output = weights @ values
    error = output - parameters["row_target"]
    r = error * output
    return [
        (
            "`row_dP` is right: by how much the loss would grow with each weight",
            near(names.get("row_dP"), error * values),
        ),
        ("`row_r` is right: dO times the output", near(names.get("row_r"), r)),
        (
            "`row_dS` is right: the gradient of each score",
            near(names.get("row_dS"), weights * (error * values - r)),
        ),
    ]


EXERCISE = Exercise(
    id="13-a-row-back",
    chapter="13",
    title="One row, backwards",
    level=1,
    points=1,
    text="""\
A row of attention has the weights `row_weights` for three keys, whose values are the numbers
`row_values`. Its output should be `row_target`, and the loss is half the square of the error. Work
out on paper, in fractions, the gradients of the three weights, `row_dP`; the number `row_r`, which
is dO times the output; and the gradients of the three scores, `row_dS`. (Do the last three add up
to 0? Which score will rise?) You may give fractions (`from fractions import Fraction`) or decimals,
to two places or more. *Expected: three lines.*""",
    starter="row_dP = ...\nrow_r = ...\nrow_dS = ...",
    solution="""\
import torch

P, values = torch.tensor(row_weights), torch.tensor(row_values)
output = P @ values
dO = output - row_target
row_dP = dO * values
row_r = dO * output
row_dS = P * (row_dP - row_r)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "dO = output - row_target",
            "dO = row_target - output",
            hint="All signs are reversed: dO is the output minus the target.",
        ),
        change(
            "P * (row_dP - row_r)",
            "P * row_dP",
            hint="You left r out of the gradients of the scores, so they do not add up to 0.",
        ),
        change(
            "P * (row_dP - row_r)",
            "row_dP - row_r",
            hint="dP and r are right. But the gradient of each score has its weight as a factor.",
        ),
        change(
            "row_r = dO * output",
            "row_r = row_dP.mean()",
            hint="r is the mean of dP weighted by the attention weights, not the plain mean.",
        ),
    ),
    fields=(Field("row_dP"), Field("row_r"), Field("row_dS")),
)
