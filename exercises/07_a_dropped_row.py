"""Chapter 07, level 1: one row of weights through dropout."""

import torch

from exercises import Draws, Exercise, Field, Mistake


def parameters(seed):
    if seed == 0:  # the row of "step" and the printed tosses of the chapter
        weights = torch.tensor([0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529])
        survives = torch.tensor([False, True, False, False, False, False])
        return {"weights": weights, "survives": survives, "p": 0.5}
    draw, count = Draws(seed), 4 + seed % 5
    weights = torch.softmax(draw.uniform(count), dim=0)
    survives = draw.uniform(count) < 0.6
    survives[:2] = torch.tensor([True, False])
    return {"weights": weights, "survives": survives, "p": (0.1, 0.2, 0.3)[seed % 3]}


def checks(names, parameters):
    weights, survives, p = parameters["weights"], parameters["survives"], parameters["p"]
    answer = names.get("dropped_row")
    before = weights.clone()
    got = answer(weights, survives, p) if callable(answer) else None
    shaped = isinstance(got, torch.Tensor) and got.shape == weights.shape
    fifth = answer(weights, survives, 0.2) if shaped else None
    return [
        ("`dropped_row(…)` has a number for each weight", shaped),
        ("what does not survive is 0", shaped and bool((got[~survives] == 0).all())),
        (
            "what survives is 1/(1 − p) times the weight",
            shaped and torch.allclose(got[survives], weights[survives] / (1 - p)),
        ),
        (
            "with p = 0.2, too",
            shaped and torch.allclose(fifth, torch.where(survives, weights * 1.25, 0.0)),
        ),
        ("`weights` is left as it was", shaped and torch.equal(weights, before)),
    ]


EXERCISE = Exercise(
    id="07-a-dropped-row",
    chapter="07",
    title="A row through dropout",
    level=1,
    points=1,
    text="""\
Write `dropped_row(weights, survives, p)`: a row of weights after dropout. `survives` is a row of
True and False, p the probability of being dropped. Try it with the row of *step*:
`dropped_row(weights[5], printed[5] > 0, 0.5)`. *Expected: one line in the function. True counts
as 1.*""",
    starter="""\
def dropped_row(weights, survives, p):
    return ...""",
    solution="""\
def dropped_row(weights, survives, p):
    return weights * survives / (1 - p)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def dropped_row(weights, survives, p):
    return weights * survives / p""",
            "Divided by p. That is the same at p = 0.5 only; the chance to survive is 1 − p.",
            name="dropout-over-p",
        ),
        Mistake(
            """\
def dropped_row(weights, survives, p):
    return weights * survives""",
            "The survivors have to grow by 1/(1 − p), or the average shrinks.",
            name="dropout-not-rescaled",
        ),
        Mistake(
            """\
def dropped_row(weights, survives, p):
    left = weights * survives
    return left / left.sum()""",
            "You made the row sum to 1 again. Every survivor grows by the same 1/(1 − p), in "
            "every row; what the sum becomes is left to chance.",
        ),
        Mistake(
            """\
def dropped_row(weights, survives, p):
    return weights * ~survives / (1 - p)""",
            "The wrong way round: `survives` is True where a weight stays.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["weights"], parameters["survives"] | True, 0.75),
        (parameters["weights"], parameters["survives"], 0.0),
    ],
    fields=(
        Field(
            "dropped_row(weights, survives, 0.2)",
            label="`dropped_row(weights[5], printed[5] > 0, 0.2)`",
            places=4,
        ),
    ),
)
