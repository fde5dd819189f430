"""Chapter 07, level 2: how probable it is that dropout drops exactly its share."""

import math

from exercises import Draws, Exercise, Field, Mistake, change, near


def parameters(seed):
    if seed == 0:
        return {"n_weights": 6, "drop_p": 0.5, "n_zeros": 3}
    draw = Draws(seed)
    n = draw.integer(5, 10)
    return {"n_weights": n, "drop_p": draw.choice((0.25, 0.3, 0.4)), "n_zeros": draw.integer(2, 4)}


def checks(names, parameters):
    n, p, zeros = parameters.values()
    exactly = math.comb(n, zeros) * p**zeros * (1 - p) ** (n - zeros)
    return [
        (
            "`all_stay` is right to three decimals",
            near(names.get("all_stay"), (1 - p) ** n, places=3),
        ),
        (
            "`exactly` is right to three decimals",
            near(names.get("exactly"), exactly, places=3),
        ),
    ]


EXERCISE = Exercise(
    id="07-exactly-half",
    chapter="07",
    title="Half of them?",
    level=2,
    points=2,
    text="""\
Find what is wrong, and show it: "With p = 0.5, half of the weights are set to zero." Each
weight gets a separate toss. A row has `n_weights` weights, each dropped with probability
`drop_p`. How probable is it that all of them survive (`all_stay`)? How probable is it that exactly
`n_zeros` are dropped, no more and no less (`exactly`)? Give both to three decimals or more.
*Expected: two lines. `math.comb(n, k)` counts the ways to choose k of n.*""",
    starter="all_stay = ...\nexactly = ...",
    solution="""\
import math

all_stay = (1 - drop_p) ** n_weights
ways_to_choose = math.comb(n_weights, n_zeros)
exactly = ways_to_choose * drop_p**n_zeros * (1 - drop_p) ** (n_weights - n_zeros)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
all_stay = 0.0
exactly = 1.0""",
            (
                "You assume that the same number is dropped every time. But the tosses are "
                "independent."
            ),
        ),
        change(
            "ways_to_choose * ",
            "",
            hint="This is the probability of *one* choice of dropped weights. Count the choices.",
        ),
        change(
            "(1 - drop_p) ** n_weights\n",
            "1 - drop_p\n",
            hint=(
                "`exactly` is right. 1 − p is the chance that one weight survives; here all of "
                "them must survive."
            ),
        ),
    ),
    fields=(Field("all_stay", places=3), Field("exactly", places=3)),
)
