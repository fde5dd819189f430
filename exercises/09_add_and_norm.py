"""Chapter 09, level 1: by hand, a token through residual and norm."""

import torch

from exercises import Draws, Exercise, Field, Mistake, change, near


def parameters(seed):
    if seed == 0:
        return {"one_token": [1.0, 0.0, 4.0, 2.0], "from_sublayer": [1.0, 2.0, 2.0, 4.0]}
    draw = Draws(seed)
    while True:
        token, added = (draw.integers(0, 7, 4).float() for _ in range(2))
        spreads = [row.std().item() for row in (token, added, token + added)]
        if min(spreads) > 0.8:
            break
    return {"one_token": token.tolist(), "from_sublayer": added.tolist()}


def norm(row):
    return (row - row.mean()) / row.var(correction=0).sqrt()


def checks(names, parameters):
    token, added = (torch.tensor(numbers) for numbers in parameters.values())
    return [
        ("`sum_row` is right", near(names.get("sum_row"), token + added)),
        (
            "`normed_row` is right to two decimals",
            near(names.get("normed_row"), norm(token + added)),
        ),
    ]


EXERCISE = Exercise(
    id="09-add-and-norm",
    chapter="09",
    title="Add, then norm",
    level=1,
    points=1,
    text="""\
A token goes through a sublayer and its residual in the order of the paper: LayerNorm(x +
Sublayer(x)). `one_token` is x, and `from_sublayer` is the output of the sublayer. Give the input of
the norm, `sum_row`, and its output, `normed_row`, without gain, bias or eps, as lists, to two
decimals or more. *Expected: two or three lines; on paper the first row takes a minute.*""",
    starter="sum_row = ...\nnormed_row = ...",
    solution="""\
import torch

sum_row = torch.tensor(one_token) + torch.tensor(from_sublayer)
normed_row = (sum_row - sum_row.mean()) / sum_row.var(correction=0).sqrt()""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "var(correction=0).sqrt()",
            "std()",
            hint="You divided the squares by n − 1. Layer norm divides them by n.",
            name="layer-norm-n-minus-1",
        ),
        Mistake(
            """\
import torch

added = torch.tensor(from_sublayer)
sum_row = torch.tensor(one_token) + added
normed_row = torch.tensor(one_token) + (added - added.mean()) / added.var(correction=0).sqrt()""",
            (
                "You normalised the sublayer's output and then added. In the paper the sum is "
                "normalised."
            ),
        ),
        change(
            "torch.tensor(one_token) + ",
            "",
            hint=("The residual is missing: add the token itself to the sublayer's output."),
        ),
        change(".sqrt()", "", hint="You divided by the variance. Divide by its square root."),
    ),
    fields=(Field("sum_row", places=0), Field("normed_row")),
)
