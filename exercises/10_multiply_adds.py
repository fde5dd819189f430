"""Chapter 10, level 1: the multiply-adds of one attention layer."""

from exercises import Draws, Exercise, Field, Mistake, whole


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
    return [
        ("`multiply_adds(n, d)` gives one whole number", whole(answer(10, 20)) is not None),
        ("twice the words: n² shows", whole(answer(20, 20)) == right(20, 20)),
        ("twice the width: d² shows", whole(answer(10, 40)) == right(10, 40)),
        ("it holds for another text and width, too", whole(answer(n, d)) == right(n, d)),
    ]


EXERCISE = Exercise(
    id="10-multiply-adds",
    chapter="10",
    title="A layer, alone",
    level=1,
    points=1,
    text=(
        "Write `multiply_adds(n, d)`: how many multiply-adds an attention layer does for n words "
        "of width d: the scores, the output, and the four matrices of d · d, each of which meets "
        "every word. Compare with the table below, where d is 512. *Expected: one line in the "
        "function.*"
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
        Mistake(
            """\
def multiply_adds(n, d):
    return 3 * n * d * d + 2 * n * n * d""",
            "Query, key, value: three. `out_proj` is the fourth matrix.",
        ),
        Mistake(
            """\
def multiply_adds(n, d):
    return 4 * n * d * d + n * n * d""",
            "One of the two large stages is missing: the scores take n · n · d, and the output "
            "takes as many again.",
        ),
        Mistake(
            """\
def multiply_adds(n, d):
    return 4 * d * d + 2 * n * n * d""",
            "You multiplied one word by the four matrices. Every word meets them.",
        ),
    ),
    probes=lambda parameters: [(1, 1), (131072, 64)],
    fields=(Field("multiply_adds(1000, 64)", places=0),),
)
