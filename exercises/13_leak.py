"""Chapter 13, level 3: which curves of losses are too good to be true."""

import math

from exercises import Clue, Draws, Exercise, Field, change, listed


def parameters(seed):
    if seed == 0:
        return {
            "runs": {
                "a": [2.2, 2.31, 2.05, 1.93],
                "b": [2.19, 1.5, 0.62, 0.04],
                "c": [2.2, 1.96, 1.84, 1.79],
                "d": [2.21, 1.64, 1.49, 1.74],
            },
            "count": 8,
            "size": 5,
        }
    draw = Draws(seed)
    count, size = draw.integer(7, 11), draw.integer(4, 6)
    floor = possible(count, size)
    top = math.log(count)
    ends = {
        "fair": floor + 0.6 * (top - floor),
        "close": floor + 0.2 * (top - floor),
        "leak": floor - 0.5,
        "dip": floor - 0.1,
    }
    runs = {}
    for name, place in zip("abcd", draw.order(4), strict=True):
        kind = [*ends][place]
        low = ends[kind]
        curve = [top + 0.1, top, low, low - 0.02 if kind != "dip" else floor + 0.05]
        runs[name] = [round(loss, 3) for loss in curve]
    return {"runs": runs, "count": count, "size": size}


def possible(letters, segment):
    return sum(math.log(letters - said) for said in range(1, segment)) / (segment - 1)


def right(runs, letters, segment):
    floor = possible(letters, segment)
    return [name for name, losses in runs.items() if min(losses) < floor]


def checks(names, parameters):
    runs, count, size = parameters.values()
    answer = names["leaking"]

    def is_right(*cases):
        return all(listed(answer(*case)) == right(*case) for case in cases)

    got = listed(answer(runs, count, size))
    turned = dict(reversed(runs.items()))
    fair = {"fair": [2 * possible(count, size), 1.01 * possible(count, size)]}
    return [
        Clue(
            "the result is a list of names from `runs`",
            isinstance(got, list) and len(got) > 0 and all(name in [*runs] for name in got),
        ),
        ("it names the runs that leak, and no others", is_right((runs, count, size))),
        (
            "it is right for other runs: the same in another order, longer ones, and a fair one",
            is_right((turned, count, size), ({**runs, **fair}, count, size))
            and is_right(({name: [*c, 3.0] for name, c in runs.items()}, count, size)),
        ),
    ]


EXERCISE = Exercise(
    id="13-leak",
    chapter="13",
    title="Find the leak in the curve",
    level=3,
    points=3,
    text="""\
Each text begins with `segment` different letters out of `letters`, all equally likely. Someone has
trained several models and shows a curve for each: the mean loss (with natural logarithms) over the
places that predict the second letter, the third, and so on to the last letter of the segment.
`runs` is a dict from the name of a model to its curve. Write `leaking(runs, letters, segment)`,
which returns, in the order of `runs`, the names of the models whose curve drops below what is
possible at any point. Try it with
{% if chapter %}`leaking({"a": [2.2, 2.31, 2.05, 1.93], "b": [2.19, 1.5, 0.62, 0.04]}, 8, 5)`
{%- else %}`leaking(runs, count, size)`{% endif %}. *Expected: two lines in the function. How many
letters are left after one, after two, …?*""",
    starter="""\
def leaking(runs, letters, segment):
    return ...""",
    solution="""\
import math


def leaking(runs, letters, segment):
    possible = sum(math.log(letters - said) for said in range(1, segment)) / (segment - 1)
    return [name for name, losses in runs.items() if min(losses) < possible]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "sum(math.log(letters - said) for said in range(1, segment)) / (segment - 1)",
            "math.log(letters)",
            hint="A model may know which letters have already come: fewer than `letters` are left.",
        ),
        change(
            "min(losses)",
            "losses[-1]",
            hint="One run leaks and then gets worse again. Look at the whole curve.",
        ),
        change(
            "sum(math.log(letters - said) for said in range(1, segment)) / (segment - 1)",
            "math.log(letters - segment)",
            hint=(
                "For every place, you used the number of letters that are left at the end. Take "
                "the mean over the places."
            ),
        ),
        change(
            "if min(losses) < possible",
            "if min(losses) > possible",
            hint="These are the fair models. The models that leak are those that are too good.",
        ),
    ),
    probes=lambda parameters: [
        ({"one": [1.0], "two": [9.0]}, 8, 4),
        (parameters["runs"], parameters["count"] + 1, parameters["size"]),
    ],
    fields=(
        Field(
            "sum(math.log(8 - said) for said in range(1, 5)) / 4",
            label="the lowest possible mean loss with five of eight letters",
        ),
    ),
)
