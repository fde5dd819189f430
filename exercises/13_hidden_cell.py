"""Chapter 13, level 2: the gradients of a head's scores under a mask, rows that see nothing too."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    draw, T = Draws(seed), 4 + seed % 2
    scaled = draw.uniform(T, T, low=-2.0, high=2.0, places=1)
    v = draw.uniform(T, 2, low=-2.0, high=2.0, places=1)
    grad_output = draw.uniform(T, 2, low=-1.0, high=1.0, places=1)
    # The first word is padding: nobody sees it, and its own row sees nothing.
    keep = torch.ones(T, T).tril().bool()
    keep[:, 0] = False
    return {"scaled": scaled, "keep": keep, "v": v, "grad_output": grad_output}


def right(scaled, keep, v, grad_output):
    scaled, v, grad_output = scaled.double(), v.double(), grad_output.double()
    weights = torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1).nan_to_num(0)
    back = grad_output @ v.T
    return weights * (back - (weights * back).sum(dim=-1, keepdim=True))


def checks(names, parameters):
    scaled, keep, v, grad_output = parameters.values()
    answer = names["grad_scaled"]
    everything = torch.ones_like(keep)
    causal = everything.tril()

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    return [
        Clue(
            "`grad_scaled(scaled, keep, v, grad_output)` is a table like `scaled`",
            has_shape(answer(scaled, keep, v, grad_output), scaled.shape),
        ),
        ("it is right if nothing is hidden", is_right((scaled, everything, v, grad_output))),
        (
            "it is right under a causal mask",
            is_right((scaled, causal, v, grad_output), (scaled.flip(0), causal, v, grad_output)),
        ),
        (
            "a row that sees nothing gets 0, not `nan`",
            is_right((scaled, keep, v, grad_output), (scaled, keep, v + 1, grad_output.flip(0))),
        ),
    ]


EXERCISE = Exercise(
    id="13-hidden-cell",
    chapter="13",
    title="What a hidden cell gets",
    level=2,
    points=2,
    text="""\
Write `grad_scaled(scaled, keep, v, grad_output)`, which computes the gradient of the scaled scores
[T, T] of one head from its values `v` [T, Dv] and the gradient of its outputs `grad_output` [T,
Dv]. `keep` [T, T] is True where a query sees a key. A hidden cell gets 0, and so does a whole row
that sees nothing, such as the row of a padding token. Try it with {% if chapter %}the table
`scaled = torch.tensor([[0.0, 0.0], [0.0, 0.0]])`, the mask
`keep = torch.tensor([[False, False], [False, True]])`, `v` from above and
`grad_output = torch.ones(2, 1).double()`: all four gradients are 0
{%- else %}`grad_scaled(scaled, keep, v, grad_output)`{% endif %}. *Expected: four lines in the
function.*""",
    starter="""\
def grad_scaled(scaled, keep, v, grad_output):
    return ...""",
    solution="""\
import torch


def grad_scaled(scaled, keep, v, grad_output):
    weights = torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1)
    weights = weights.masked_fill(~keep, 0)
    grad_weights = grad_output @ v.mT
    return weights * (grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True))""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "    weights = weights.masked_fill(~keep, 0)\n",
            "",
            hint=(
                "In softmax, a row with nothing but −∞ is 0/0. Set the weights of hidden cells "
                "to 0."
            ),
        ),
        change(
            ("-torch.inf", "-1e9"),
            ("    weights = weights.masked_fill(~keep, 0)\n", ""),
            hint=(
                "In a row that sees nothing, −1e9 everywhere gives equal weights, and therefore "
                "gradients that are not 0."
            ),
        ),
        change(
            " - (weights * grad_weights).sum(dim=-1, keepdim=True)",
            "",
            hint=(
                "You left out r, the mean of dP weighted by the attention weights: subtract it "
                "from each row."
            ),
        ),
        change(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "grad_weights.mean(dim=-1, keepdim=True)",
            hint=(
                "r is the mean weighted by the attention weights, not the plain mean over all keys."
            ),
        ),
        change(
            "(weights * grad_weights).sum(dim=-1, keepdim=True)",
            "(weights * grad_weights).sum(dim=0, keepdim=True)",
            hint="You took r along the columns. Each query has one r, and a query is a row.",
        ),
        change(
            "weights * (grad_weights",
            "keep * (grad_weights",
            hint="Each difference has to be multiplied by its weight, not only by the mask.",
        ),
    ),
    probes=lambda parameters: [
        (torch.zeros(3, 3), torch.eye(3).bool(), torch.ones(3, 2), torch.ones(3, 2)),
        (
            parameters["scaled"].flip(1),
            parameters["keep"],
            parameters["v"].flip(0),
            parameters["grad_output"],
        ),
    ],
    fields=(
        Field(
            "grad_scaled(torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[True, True, False]]), "
            "torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([[2.0]]))[0]",
            label=(
                "the gradients in the row of a query that sees the first two of three keys, when "
                "all scores are equal, the values are 1, 3 and 5, and dO is 2"
            ),
        ),
    ),
)
