"""Chapter 02, level 2: the weights of a longer query, from the weights alone."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:
        scores, t = torch.tensor([-4.0, -2.0, -3.0]), 3.0
    else:
        draw = Draws(seed)
        scores = draw.uniform(3 + seed % 3, low=-1.0, high=2.0)
        t = draw.choice((0.5, 2.0, 2.5))
    return {"weights": torch.softmax(scores.double(), dim=0).float(), "t": t}


def checks(names, parameters):
    weights, t = parameters["weights"], parameters["t"]
    answer = names["sharpen"]
    got = in_shape(answer(weights, t), weights.shape)
    shaped = got is not None
    right = torch.softmax(t * weights.log(), dim=0)
    even = torch.full_like(weights, 1 / len(weights))
    return [
        Clue("`sharpen(weights, t)` has a number for each weight", shaped),
        Clue("they add up to 1", shaped and same(got.sum(), 1.0)),
        (
            "a query of zeros, t = 0, gives equal weights; t = 1 leaves them as they are",
            same(answer(weights, 0.0), even) and same(answer(weights, 1.0), weights),
        ),
        ("the weights are those of a query t times as long", same(got, right)),
    ]


EXERCISE = Exercise(
    id="02-sharpen",
    chapter="02",
    title="Softer and sharper",
    level=2,
    points=2,
    text=(
        "Someone kept the weights of one row but lost its query and its keys. Write "
        "`sharpen(weights, t)`, which returns the weights for a query t times as long. Try "
        "it with {% if chapter %}the row of 追逐 and t = 3, and compare with the table in "
        "*From soft to hard*{% else %}`sharpen(weights, t)`{% endif %}. *Expected: one or "
        "two lines in the function. What happens to exp(s) when s is multiplied by t?*"
    ),
    starter="""\
def sharpen(weights, t):
    return ...""",
    solution="""\
def sharpen(weights, t):
    powers = weights**t
    return powers / powers.sum()""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "weights**t",
            "t * weights",
            hint=(
                "Here t cancels, so these are the old weights. You have to multiply the *scores* "
                "by t, inside exp."
            ),
        ),
        Mistake(
            """\
import torch


def sharpen(weights, t):
    return torch.softmax(t * weights, dim=0)""",
            "Softmax takes scores, and these are weights. A second softmax only flattens them.",
        ),
        change(
            " / powers.sum()",
            "",
            hint="The ratios are right. Turn them into shares again: divide by their sum.",
        ),
    ),
    probes=lambda parameters: [(parameters["weights"], 1.0), (parameters["weights"].flip(0), 0.25)],
    fields=(Field("sharpen(weights, 3)", label="`sharpen(…, 3)` for the row of 追逐", places=4),),
)
