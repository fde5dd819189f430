"""Chapter 08, level 2: from the wrong view back to the right heads."""

import torch

from exercises import Clue, Exercise, Field, change, in_shape, same


def parameters(seed):
    b, n, h, d = (1, 3, 2, 2) if seed == 0 else (1 + seed % 2, 3 + seed % 4, 2, 3 + seed % 3)
    return {"wrong": torch.arange(b * n * h * d).view(b, h, n, d)}


def checks(names, parameters):
    wrong = parameters["wrong"]
    b, h, n, d = wrong.shape
    got = in_shape(names["mend"](wrong), wrong.shape)
    shaped = got is not None
    strip = torch.arange(wrong.numel())
    return [
        Clue("`mend(wrong)` has the shape of `wrong`", shaped),
        Clue("no number is lost", shaped and same(got.flatten().sort()[0], strip)),
        (
            "each head has its numbers of every word",
            same(got, strip.view(b, n, h, d).transpose(1, 2)),
        ),
    ]


EXERCISE = Exercise(
    id="08-mend",
    chapter="08",
    title="Mend the wrong view",
    level=2,
    points=2,
    text=(
        "Someone split the heads with `.view(b, h, n, d)` and threw the projection away; "
        "only `wrong` is left. No number is lost. Write `mend(wrong)`, which returns what "
        "`.view(b, n, h, d).transpose(1, 2)` would have given. Try it with {% if chapter "
        "%}the `wrong` of this chapter{% else %}`mend(wrong)`{% endif %}. *Expected: two "
        "lines in the function.*"
    ),
    starter="""\
def mend(wrong):
    return ...""",
    solution="""\
def mend(wrong):
    b, h, n, d = wrong.shape
    return wrong.reshape(b, n, h, d).transpose(1, 2)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "reshape(b, n, h, d).transpose(1, 2)",
            "transpose(1, 2).reshape(b, h, n, d)",
            hint=(
                "You swapped the axes first. First go back to the strip: a view moves no number, "
                "so another view undoes it."
            ),
        ),
        change(
            ".reshape(b, n, h, d)",
            "",
            hint=(
                "This only swaps the two axes. In the wrong split they are not word and head at "
                "all. First view the strip again with the right shape."
            ),
        ),
        change(
            ".transpose(1, 2)",
            ".reshape(b, h, n, d)",
            hint=("The second `reshape` undoes the first. To swap two axes you need `transpose`."),
        ),
    ),
    probes=lambda parameters: [
        (torch.arange(24).view(1, 3, 4, 2),),
        (torch.arange(30).view(1, 2, 5, 3),),
    ],
    fields=(Field("mend(torch.arange(12).view(1, 2, 3, 2))[0, 0]", places=0),),
)
