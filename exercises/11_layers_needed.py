"""Chapter 11, level 2: how many convolution layers until both ends of a text meet."""

from math import ceil

from exercises import Draws, Exercise, Field, change, whole


def parameters(seed):
    if seed == 0:
        return {"n": 6, "k": 3}
    draw = Draws(seed)
    return {"n": draw.integer(7, 400), "k": draw.choice((3, 5, 7, 9))}


def right(n, k):
    return ceil((n - 1) / (k - 1))


def checks(names, parameters):
    answer = names["layers_needed"]
    n, k = parameters["n"], parameters["k"]
    threes = {m: whole(answer(m, 3)) for m in (6, 7, 12, 24, 48)}
    wider = {(m, w): whole(answer(m, w)) for m in (48, 49, 50, 101) for w in (5, 7)}
    return [
        (
            "the function is right for kernels of three, for 6, 7, 12, 24 and 48 words",
            all(layers == right(m, 3) for m, layers in threes.items()),
        ),
        ("it is right for wider kernels", all(wider[m, w] == right(m, w) for m, w in wider)),
        ("it is right for another text and kernel, too", whole(answer(n, k)) == right(n, k)),
    ]


EXERCISE = Exercise(
    id="11-layers-needed",
    chapter="11",
    title="How many layers?",
    level=2,
    points=2,
    text=(
        "A kernel of k words, k odd, reads the same number of neighbours on each side. Write "
        "`layers_needed(n, k)`, which returns how many layers it takes until some place sees "
        "both the first and the last of n words. For k = 3 it must give {% if chapter %}the "
        "last column of the table above: 3, 6, 12, 24{% else %}3, 6, 12 and 24 layers for 6, "
        "12, 24 and 48 words: try `layers_needed(6, 3)`{% endif %}. *Expected: one line in "
        "the function; `math.ceil` rounds up.*"
    ),
    starter="""\
def layers_needed(n, k):
    return ...""",
    solution="""\
from math import ceil


def layers_needed(n, k):
    return ceil((n - 1) / (k - 1))""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "ceil((n - 1) / (k - 1))",
            "ceil(n / k)",
            hint=(
                "A layer adds k − 1 places to the field, not k, because the middle place is "
                "already in it. And the field begins with one place."
            ),
        ),
        change(
            "ceil((n - 1) / (k - 1))",
            "(n - 1) // (k - 1)",
            hint=(
                "If the division has a remainder, you round down, and the last word is not yet "
                "in the field."
            ),
        ),
        change(
            "ceil((n - 1) / (k - 1))",
            "n - 1",
            hint=(
                "That is how many layers it takes to get from one end to the *other end*, and "
                "only for kernels of three. But the two ends meet in the middle."
            ),
        ),
    ),
    probes=lambda parameters: [(2, 3), (1025, 9), (1026, 9)],
    fields=(Field("layers_needed(100, 7)", places=0),),
)
