"""Chapter 07, level 1: one row of weights through dropout."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:  # the row of "step" and the printed tosses of the chapter
        row = torch.tensor([0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529])
        survives = torch.tensor([False, True, False, False, False, False])
        return {"row": row, "survives": survives, "p": 0.5}
    draw, count = Draws(seed), 4 + seed % 5
    row = torch.softmax(draw.uniform(count).double(), dim=0).float()
    survives = draw.uniform(count) < 0.6
    survives[:2] = torch.tensor([True, False])
    return {"row": row, "survives": survives, "p": (0.1, 0.2, 0.3)[seed % 3]}


def checks(names, parameters):
    row, survives, p = parameters["row"], parameters["survives"], parameters["p"]
    answer = names["dropped_row"]
    got = in_shape(answer(row, survives, p), row.shape)
    shaped = got is not None
    return [
        Clue("`dropped_row(…)` has a number for each weight", shaped),
        Clue("weights that do not survive are 0", shaped and bool((got[~survives] == 0).all())),
        (
            "weights that survive are multiplied by 1/(1 − p)",
            shaped and same(got[survives], row[survives] / (1 - p)),
        ),
        (
            "this also holds with p = 0.2, and all other weights are 0",
            same(answer(row, survives, 0.2), torch.where(survives, row * 1.25, 0.0)),
        ),
    ]


EXERCISE = Exercise(
    id="07-a-dropped-row",
    chapter="07",
    title="A row through dropout",
    level=1,
    points=1,
    text="""\
Write `dropped_row(row, survives, p)`, which returns a row of weights after dropout. `survives` is a
row of True and False, and p is the probability of being dropped. Try it with {% if chapter -%} the
row of *step*: in the chapter `dropped_row(weights[5], printed[5] > 0, 0.5)`, in the exercise
notebook {% endif %}`dropped_row(row, survives, p)`. *Expected: one line in the function. True
counts as 1.*""",
    starter="""\
def dropped_row(row, survives, p):
    return ...""",
    solution="""\
def dropped_row(row, survives, p):
    return row * survives / (1 - p)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "(1 - p)",
            "p",
            hint=(
                "You divided by p. That is the same only at p = 0.5; the chance of survival is 1 "
                "− p."
            ),
            name="dropout-over-p",
        ),
        change(
            " / (1 - p)",
            "",
            hint="The survivors have to grow by a factor of 1/(1 − p), or the average shrinks.",
            name="dropout-not-rescaled",
        ),
        Mistake(
            """\
def dropped_row(row, survives, p):
    left = row * survives
    return left / left.sum()""",
            (
                "You made the row add up to 1 again. In every row, every survivor grows by the "
                "same factor 1/(1 − p), so the sum is random."
            ),
        ),
        change(
            "row * survives",
            "row * ~survives",
            hint="This is the wrong way round: `survives` is True where a weight stays.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["row"], parameters["survives"] | True, 0.75),
        (parameters["row"], parameters["survives"], 0.0),
    ],
    fields=(
        Field(
            "dropped_row(row, survives, 0.2)",
            label="`dropped_row(weights[5], printed[5] > 0, 0.2)`",
            places=4,
        ),
    ),
)
