"""Chapter 09, level 1: layer norm from mean and variance."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:
        x = torch.tensor([[2.0, 2.0, 6.0, 6.0], [0.0, 4.0, 4.0, 8.0], [7.0, 5.0, 5.0, 7.0]])
    else:
        x = Draws(seed).uniform(3, 4 + seed % 3, high=5.0)
    return {"x": x}


def checks(names, parameters):
    x, answer = parameters["x"], names["layer_norm"]

    def is_right(x, atol=1e-4):
        return same(answer(x), torch.nn.functional.layer_norm(x, x.shape[-1:]), atol=atol)

    got = in_shape(answer(x), x.shape)
    shaped = got is not None
    equal = torch.full((2, 4), 3.0)
    return [
        Clue("`layer_norm(x)` has the shape of `x`", shaped),
        Clue("the mean of each row is 0", shaped and same(got.mean(-1), torch.zeros(3), 1e-4)),
        Clue("a row of equal numbers gives zeros", is_right(equal)),
        ("it equals torch's layer norm", is_right(x)),
        (
            "eps is under the root: rows that hardly vary, and rows of equal numbers, are "
            "right, too",
            is_right(x / 1000, atol=1e-3) and is_right(equal),
        ),
    ]


EXERCISE = Exercise(
    id="09-layer-norm",
    chapter="09",
    title="Layer norm",
    level=1,
    points=1,
    text=(
        "Write `layer_norm(x)`, which brings each row of a table to mean 0 and variance 1, "
        "with `eps = 1e-5` under the root, and without gain and bias. Use only means and a "
        "square root. (You can compare it with torch's own function.) Try it with {% if chapter "
        "%}`layer_norm(rows)`, the three rows from above{% else %}`layer_norm(x)`{% endif "
        "%}. *Expected: three lines in the function.*"
    ),
    starter="""\
def layer_norm(x):
    return ...""",
    solution="""\
import torch


def layer_norm(x):
    distance = x - x.mean(dim=-1, keepdim=True)
    variance = (distance**2).mean(dim=-1, keepdim=True)
    return distance / torch.sqrt(variance + 1e-5)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def layer_norm(x):
    return (x - x.mean(dim=-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + 1e-5)""",
            "`std` divides by n − 1. Layer norm divides by n, and its eps is under the root.",
            name="layer-norm-n-minus-1",
        ),
        change(
            "torch.sqrt(variance + 1e-5)",
            "(variance.sqrt() + 1e-5)",
            hint="eps belongs under the root: for rows that hardly vary, the result is different.",
        ),
        change(
            "torch.sqrt(variance + 1e-5)",
            "(variance + 1e-5)",
            hint="You divided by the variance. Divide by its square root.",
        ),
        change(
            ("x.mean(dim=-1", "x.mean(dim=0"),
            ("(distance**2).mean(dim=-1", "(distance**2).mean(dim=0"),
            hint=(
                "You averaged over the tokens, column by column. Each token needs a separate "
                "mean: dim=-1."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["x"][:1] * 100,), (parameters["x"].T,)],
    fields=(Field("layer_norm(torch.tensor([[1.0, 3.0, 3.0, 5.0]]))"),),
)
