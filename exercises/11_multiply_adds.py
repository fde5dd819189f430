"""Chapter 11, level 1: the multiply-adds of one attention layer."""

from exercises import Clue, Draws, Exercise, Field, change, whole


def parameters(seed):
    if seed == 0:
        return {"n": 6, "d": 3}
    draw = Draws(seed)
    return {"n": draw.integer(10, 2000), "d": draw.integer(4, 800)}


def right(n, d):
    return 4 * n * d * d + 2 * n * n * d


def checks(names, parameters):
    answer = names["multiply_adds"]
    n, d = parameters["n"], parameters["d"]

    def is_right(*sizes):
        return all(whole(answer(n, d)) == right(n, d) for n, d in sizes)

    return [
        Clue("`multiply_adds(n, d)` gives one whole number", whole(answer(10, 20)) is not None),
        ("it grows correctly from 10 to 20 words, with n²", is_right((10, 20), (20, 20))),
        ("it grows correctly from a width of 20 to 40, with d²", is_right((10, 20), (10, 40))),
        ("it is right for another text and width, too", is_right((n, d), (d, n))),
    ]


EXERCISE = Exercise(
    id="11-multiply-adds",
    chapter="11",
    title="A single layer",
    level=1,
    points=1,
    text=(
        "Write `multiply_adds(n, d)`, which returns how many multiply-adds an attention "
        "layer does for n words of width d. Count the scores, the output, and the four "
        "matrices of d · d, each of which multiplies every word. {% if chapter %}In the "
        "table below, where d is 512, it is the sum of *four matrices* and *scores, "
        "output*.{% else %}Try `multiply_adds(n, d)`, then twice the words, then twice the "
        "width.{% endif %} *Expected: one line in the function.*"
    ),
    starter="""\
def multiply_adds(n, d):
    return ...""",
    solution="""\
def multiply_adds(n, d):
    return 4 * n * d * d + 2 * n * n * d""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "4 * n * d * d",
            "3 * n * d * d",
            hint="You counted three matrices, for query, key and value. `out_proj` is the fourth.",
        ),
        change(
            "2 * n * n * d",
            "n * n * d",
            hint=(
                "One of the two large stages is missing: the scores "
                "take n · n · d, and the output takes as many again."
            ),
        ),
        change(
            "4 * n * d * d",
            "4 * d * d",
            hint=(
                "You multiplied only one word by the four matrices. Every word is multiplied by "
                "them."
            ),
        ),
    ),
    probes=lambda parameters: [(1, 1), (131072, 64)],
    fields=(Field("multiply_adds(1000, 64)", places=0),),
)
