"""Chapter 07, level 2: find p from a row before and after dropout."""

import torch

from exercises import Draws, Exercise, Field, Mistake, number, same


def parameters(seed):
    if seed == 0:  # the row of "with", whose last two keys are masked
        weights = torch.tensor([0.2758, 0.2460, 0.2462, 0.2319, 0.0, 0.0])
        survives = torch.tensor([True, False, True, True, True, False])
        p = 0.2
    else:
        draw, hidden = Draws(seed), 1 + seed % 3
        weights = torch.softmax(draw.uniform(5 + seed % 4), dim=0)
        weights = torch.cat([weights, torch.zeros(hidden)])
        survives = draw.uniform(len(weights)) < 0.5
        survives[1:3] = torch.tensor([False, True])
        p = (0.3, 0.1, 0.4)[seed % 3]
    return {"weights": weights, "dropped": weights * survives / (1 - p)}


def checks(names, parameters):
    given, after = parameters["weights"], parameters["dropped"]
    one = after.argmax()
    weights = torch.tensor([0.5, 0.25, 0.25, 0.0])
    rows = {
        "`rate(weights, dropped)` is p": (given, after, 1 - given[one] / after[one]),
        "also where all survive": (weights, weights / 0.9, 0.1),
        "also where only one survives": (weights, torch.tensor([0.0, 1.0, 0.0, 0.0]), 0.75),
    }
    return [
        (sentence, same(number(names["rate"](given, after)), wanted, atol=1e-4))
        for sentence, (given, after, wanted) in rows.items()
    ]


EXERCISE = Exercise(
    id="07-which-p",
    chapter="07",
    title="With which p?",
    level=2,
    points=2,
    text="""\
Someone shows a row of `weights`, and the same row `dropped`, and does not say which p was used.
Write `rate(weights, dropped)`, which finds it; at least one weight has survived. Some weights may
be 0 because a mask hides their key. *Expected: two lines in the function. One survivor is enough:
by what was it multiplied?*""",
    starter="""\
def rate(weights, dropped):
    return ...""",
    solution="""\
def rate(weights, dropped):
    one = dropped.argmax()
    return 1 - weights[one] / dropped[one]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def rate(weights, dropped):
    return (dropped == 0).float().mean()""",
            "You counted the zeros. How many fall is left to chance, and the mask makes zeros too.",
        ),
        Mistake(
            """\
def rate(weights, dropped):
    one = dropped.argmax()
    return weights[one] / dropped[one]""",
            "This is 1 − p, the chance to survive.",
        ),
        Mistake(
            """\
def rate(weights, dropped):
    return 1 - dropped.sum() / weights.sum()""",
            "The sum of a row stays the same on average only. A single survivor tells exactly.",
        ),
        Mistake(
            """\
def rate(weights, dropped):
    return 1 - weights[0] / dropped[0]""",
            "Right if the first weight has survived. Else it is a division by 0.",
        ),
    ),
    probes=lambda parameters: [(parameters["weights"], parameters["weights"] * 4)],
    fields=(Field("rate(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.625, 0.0, 0.25]))"),),
)
