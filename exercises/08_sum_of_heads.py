"""Chapter 08, level 3: concatenation and out_proj as a sum over the heads."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    b, h, n, d = (1, 2, 3, 2) if seed == 0 else (1 + seed % 2, 2 + seed % 3, 4, 2 + seed % 2)
    draw = Draws(seed)
    return {
        "heads": draw.uniform(b, h, n, d),
        "weight": draw.uniform(h * d, h * d, low=-0.5, high=0.5),
        "bias": draw.uniform(h * d),
    }


def checks(names, parameters):
    heads, weight, bias = (parameters[name] for name in ("heads", "weight", "bias"))

    def ask(heads, bias):
        return names["sum_of_heads"](heads, weight, bias)

    def right(heads, bias):
        return torch.nn.functional.linear(heads.transpose(1, 2).flatten(2), weight, bias)

    got, wanted, nothing = ask(heads, bias), right(heads, bias), torch.zeros_like(bias)
    only_bias = bias.expand(wanted.shape)
    first = heads.clone()
    first[:, 1:] = 0
    return [
        Clue(
            "`sum_of_heads(heads, weight, bias)` has the shape [b, n, h·d]",
            has_shape(got, wanted.shape),
        ),
        (
            "with all heads but the first at zero, and no bias, it is right",
            same(ask(first, nothing), right(first, nothing)),
        ),
        (
            "with heads of zeros it is the bias, once; with other heads it is not",
            same(ask(torch.zeros_like(heads), bias), only_bias) and not same(got, only_bias),
        ),
        (
            "it equals `out_proj` of the heads side by side",
            same(got, wanted),
        ),
    ]


EXERCISE = Exercise(
    id="08-sum-of-heads",
    chapter="08",
    title="A sum of heads",
    level=3,
    points=3,
    text=(
        "Putting heads side by side and multiplying by one matrix is the same as multiplying "
        "each head by a separate matrix and *adding the results*. Write `sum_of_heads(heads, "
        "weight, bias)`, which does it the second way. `heads` is [b, h, n, d], `weight` and "
        "`bias` are those of `out_proj`, and the result is [b, n, h·d]. Do not merge the heads. "
        "Remember that `nn.Linear` computes x · weightᵀ + bias. *Expected: five lines in the "
        "function.*"
    ),
    starter="""\
def sum_of_heads(heads, weight, bias):
    return ...""",
    solution="""\
def sum_of_heads(heads, weight, bias):
    d = heads.shape[-1]
    total = bias
    for h in range(heads.shape[1]):
        total = total + heads[:, h] @ weight[:, h * d : (h + 1) * d].T
    return total""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "weight[:, h * d : (h + 1) * d].T",
            "weight[h * d : (h + 1) * d]",
            hint=(
                "You took rows of `weight`. It is stored transposed, so each head is multiplied "
                "by *columns* of it."
            ),
        ),
        change(
            ("total = bias", "total = 0"),
            (".T", ".T + bias"),
            hint="Add the bias once, not once for each head.",
        ),
        change(
            "h * d : (h + 1) * d",
            "h :: heads.shape[1]",
            hint=("You gave the columns to the heads in turn. Head h has columns h·d to (h+1)·d."),
        ),
    ),
    probes=lambda parameters: [
        (parameters["heads"][:, :, :1], parameters["weight"], parameters["bias"])
    ],
    fields=(
        Field(
            "sum_of_heads(torch.tensor([[[[1.0]], [[2.0]]]]), "
            "torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([10.0, 20.0]))[0, 0]",
            places=0,
        ),
    ),
)
