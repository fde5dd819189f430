"""Chapter 14, level 1: by hand, the numbers by which three wrong masks are told apart."""

import math

from exercises import Draws, Exercise, Field, Mistake, change, near


def marks(scores):
    """What each wrong mask leaves, where the last key is hidden."""
    parts = [math.exp(score) for score in scores]
    added = [math.e * part for part in parts[:-1]] + parts[-1:]
    multiplied = [*parts[:-1], 1.0]
    return {
        "if_added": added[-1] / sum(added),
        "if_multiplied": multiplied[-1] / sum(multiplied),
        "if_after": sum(parts[:-1]) / sum(parts),
    }


def parameters(seed):
    if seed == 0:
        return {"row_scores": [1.0, 0.0, 2.0]}
    draw = Draws(seed)
    while True:
        scores = draw.integers(-2, 4, 3).double().tolist()
        seen = list(marks(scores).values())
        apart = min(abs(a - b) for a in seen for b in seen if a is not b)
        if scores[-1] and all(0.03 < mark < 0.97 for mark in seen) and apart > 0.03:
            return {"row_scores": scores}


def checks(names, parameters):
    wanted = marks(parameters["row_scores"])
    return [
        (f"`{name}` is right to two decimals", near(names.get(name), number))
        for name, number in wanted.items()
    ]


EXERCISE = Exercise(
    id="14-the-mark-it-leaves",
    chapter="14",
    title="The mark it leaves",
    level=1,
    points=1,
    text="""\
A query has the scaled scores `row_scores`, and the last key is hidden from it. The mask is written
as 1 for a key that stays and 0 for one that is hidden. Three people use it in three wrong ways:

- The first adds it to the scores before softmax. What weight does the hidden key get (`if_added`)?
- The second multiplies the scores by it. What weight does the hidden key get now (`if_multiplied`)?
- The third multiplies the weights by it, after softmax. What does the row add up to (`if_after`)?

Give each to two decimals or more. *Expected: three sums of three exponentials.*""",
    starter="if_added = ...\nif_multiplied = ...\nif_after = ...",
    solution="""\
from math import e, exp

one, two, hidden = (exp(score) for score in row_scores)
if_added = hidden / (e * one + e * two + hidden)
if_multiplied = 1 / (one + two + 1)
if_after = (one + two) / (one + two + hidden)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            "if_added = 0.0\nif_multiplied = 0.0\nif_after = 1.0",
            (
                "That is what a correct mask gives. What weight does each of these three wrong "
                "ways give to the hidden key?"
            ),
        ),
        change(
            "1 / (one + two + 1)",
            "0.0",
            hint="A *score* of 0 is not a weight of 0: exp(0) = 1. Look at `if_multiplied` again.",
        ),
        change(
            "e * one + e * two + hidden",
            "one + two + hidden",
            hint=(
                "In your `if_added` the mask does nothing. It should add 1 to the scores that stay."
            ),
        ),
        change(
            "(one + two) / (one + two + hidden)",
            "1.0",
            hint=(
                "After softmax nothing is divided again, so the weight of the hidden key is "
                "missing from the row."
            ),
        ),
    ),
    fields=(
        Field("if_added", label="the hidden key's weight, mask added"),
        Field("if_multiplied", label="the hidden key's weight, scores multiplied"),
        Field("if_after", label="what the row adds up to, mask after softmax"),
    ),
)
