"""Chapter 14, level 2: layer norm with n − 1, an erratum of the from-scratch note."""

import math
import statistics

from exercises import Draws, Exercise, Field, change, near, whole


def firsts(features):
    """The first number of the normalised row: with `std`, and right."""
    off = features[0] - statistics.fmean(features)
    return off / statistics.stdev(features), off / statistics.pstdev(features)


def narrowest(error):
    """The smallest width at which √((n − 1)/n) is at most `error` below 1."""
    n = 2
    while 1 - math.sqrt((n - 1) / n) > error:
        n += 1
    return n


def parameters(seed):
    if seed == 0:
        return {"features": [1.0, 2.0, 3.0, 6.0], "largest_error": 0.01}
    draw = Draws(seed)
    while True:
        features = draw.integers(0, 10, draw.integer(3, 6)).double().tolist()
        if features[0] != statistics.fmean(features):
            with_std, right = firsts(features)
            if abs(right - with_std) > 0.05:
                break
    return {"features": features, "largest_error": draw.integer(4, 33) / 1000}


def checks(names, parameters):
    with_std, right = firsts(parameters["features"])
    width = whole(names.get("wide_enough"))
    return [
        ("`std_first` is right to two decimals", near(names.get("std_first"), with_std)),
        ("`right_first` is right to two decimals", near(names.get("right_first"), right)),
        ("`wide_enough` is right", width == narrowest(parameters["largest_error"])),
    ]


EXERCISE = Exercise(
    id="14-one-too-few",
    chapter="14",
    title="One too few",
    level=2,
    points=2,
    text="""\
Find what is wrong, and show it. A layer norm normalises a row `X` of n numbers like this:
`(X - X.mean(-1, keepdim=True)) / X.std(-1, keepdim=True)`. But torch's `std` divides by n − 1. Take
the row `features`. What is the first number of this result (`std_first`), and what should it be,
without the small eps (`right_first`)? Then show where this mistake is hard to notice: how
many numbers must a row have, at least, for the result to be too small by no more than the share
`largest_error` (`wide_enough`, a whole number)? *Expected: about seven lines, or a pencil. The
ratio of the two depends only on n.*""",
    starter="std_first = ...\nright_first = ...\nwide_enough = ...",
    solution="""\
from math import sqrt

n = len(features)
off = features[0] - sum(features) / n
squares = sum((number - sum(features) / n) ** 2 for number in features)
std_first, right_first = off / sqrt(squares / (n - 1)), off / sqrt(squares / n)
wide_enough = 2
while 1 - sqrt((wide_enough - 1) / wide_enough) > largest_error:
    wide_enough += 1""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "std_first, right_first",
            "right_first, std_first",
            hint=(
                "You swapped the two. Layer norm divides the squares by n, because a row is "
                "everything there is, not a sample."
            ),
        ),
        change(
            ("sqrt(squares / (n - 1))", "(squares / (n - 1))"),
            ("sqrt(squares / n)", "(squares / n)"),
            hint="You divided by the variance. Divide by its square root.",
        ),
        change(
            "1 - sqrt((wide_enough - 1) / wide_enough)",
            "1 / wide_enough",
            hint=(
                "The first two are right. 1/n is the error of the *variance*; the error of its "
                "square root is smaller."
            ),
        ),
    ),
    fields=(
        Field("std_first", label="the first number, with `std`"),
        Field("right_first", label="the first number in layer norm"),
        Field("wide_enough", places=0),
    ),
)
