"""Chapter 07, level 2: find p from a row before and after dropout."""

import torch

from exercises import Draws, Exercise, Field, Mistake, change, same


def parameters(seed):
    if seed == 0:  # the row of "with", whose last two keys are masked
        weights = torch.tensor([0.2758, 0.2460, 0.2462, 0.2319, 0.0, 0.0])
        survives = torch.tensor([True, False, True, True, True, False])
        p = 0.2
    else:
        draw, hidden = Draws(seed), 1 + seed % 3
        weights = torch.softmax(draw.uniform(5 + seed % 4).double(), dim=0).float()
        weights = torch.cat([weights, torch.zeros(hidden)])
        survives = draw.uniform(len(weights)) < 0.5
        survives[1:3] = torch.tensor([False, True])
        p = (0.3, 0.1, 0.4)[seed % 3]
    return {"weights": weights, "dropped": weights * survives / (1 - p)}


def checks(names, parameters):
    given, after = parameters["weights"], parameters["dropped"]
    largest = after.argmax()
    weights = torch.tensor([0.5, 0.25, 0.25, 0.0])
    last = torch.tensor([0.0, 0.0, 1.0, 0.0])

    def finds(*rows):
        return all(same(names["rate"](before, row), p, atol=1e-4) for before, row, p in rows)

    return [
        (
            "`rate(weights, dropped)` is p",
            finds((given, after, 1 - given[largest] / after[largest])),
        ),
        (
            "it is also right if all survive, with p = 0.1 or 0.4",
            finds((weights, weights / 0.9, 0.1), (weights, weights / 0.6, 0.4)),
        ),
        (
            "it is also right if only one survives, with p = 0.75 or 0.5",
            finds((weights, last, 0.75), (weights, last / 2, 0.5)),
        ),
    ]


EXERCISE = Exercise(
    id="07-which-p",
    chapter="07",
    title="With which p?",
    level=2,
    points=2,
    text="""\
Someone shows you a row of `weights` and the same row after dropout, `dropped`, but does not say
which p was used. Write `rate(weights, dropped)`, which finds p. At least one weight has survived.
Some weights may be 0 because a mask hides their key. *Expected: two lines in the function. One
survivor is enough: what was it multiplied by?*""",
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
            "You counted the zeros. But their number is random, and the mask makes zeros, too.",
        ),
        change("1 - weights", "weights", hint="This is 1 − p, the chance of survival."),
        Mistake(
            """\
def rate(weights, dropped):
    return 1 - dropped.sum() / weights.sum()""",
            "The sum of a row stays the same only on average. A single survivor gives p exactly.",
        ),
        change(
            "dropped.argmax()",
            "0",
            hint="This is right if the first weight has survived. Otherwise it divides by 0.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["weights"], parameters["weights"] * 4),
        (parameters["weights"], parameters["weights"] * 2),
    ],
    fields=(Field("rate(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.625, 0.0, 0.25]))"),),
)
