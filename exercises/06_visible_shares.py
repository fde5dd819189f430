"""Chapter 06, level 1: the weights of a table of scores under a causal mask."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:
        scaled = torch.tensor([[0.0, 200.0, 1.0], [0.0, 1.0, 200.0], [2.0, 1.0, 0.0]])
    else:
        T = 3 + seed % 3
        scaled = Draws(seed).uniform(T, T, low=-2.0, high=2.0)
        scaled[1, 2] += 200.0
    return {"scaled": scaled}


def checks(names, parameters):
    scaled, answer = parameters["scaled"], names["causal_weights"]
    got = in_shape(answer(scaled), scaled.shape)
    shaped = got is not None
    lower = torch.ones_like(scaled).tril().bool()

    def is_right(table):
        wanted = torch.softmax(table.masked_fill(~lower, -torch.inf), dim=-1)
        return same(answer(table), wanted)

    return [
        Clue("`causal_weights(scaled)` has the shape of `scaled`", shaped),
        Clue("it contains no `nan`", shaped and not bool(got.isnan().any())),
        Clue("later words have the weight 0", shaped and not bool(got[~lower].any())),
        Clue("every row adds up to 1", shaped and same(got.sum(dim=-1), torch.ones(len(got)))),
        ("the weights are right if all scores are small", is_right(scaled.clamp(-2.0, 2.0))),
        ("the weights are right", is_right(scaled)),
    ]


EXERCISE = Exercise(
    id="06-visible-shares",
    chapter="06",
    title="Shares of what can be seen",
    level=1,
    points=1,
    text="""\
Write `causal_weights(scaled)`, which computes the weights under a causal mask from the table of
scaled scores of any sentence. You need only torch. The function must work for {% if chapter -%}
`scaled = torch.tensor([[0.0, 200.0, 1.0], [0.0, 1.0, 200.0], [2.0, 1.0, 0.0]])`{% else -%}
`scaled`, too, where one score is far above the others: try `causal_weights(scaled)`{% endif %}.
*Expected: two lines in the function.*""",
    starter="""\
def causal_weights(scaled):
    return ...""",
    solution="""\
import torch


def causal_weights(scaled):
    hidden = torch.ones_like(scaled).triu(diagonal=1).bool()
    return torch.softmax(scaled.masked_fill(hidden, -torch.inf), dim=-1)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def causal_weights(scaled):
    return torch.softmax(scaled, dim=-1).tril()""",
            "The rows no longer add up to 1: the shares of the hidden keys are missing.",
            name="mask-after-softmax",
        ),
        Mistake(
            """\
import torch


def causal_weights(scaled):
    zeroed = torch.softmax(scaled, dim=-1).tril()
    return zeroed / zeroed.sum(dim=-1, keepdim=True)""",
            "This is right on paper, but a large hidden score leaves 0/0. Mask before softmax.",
        ),
        Mistake(
            """\
import torch


def causal_weights(scaled):
    return torch.softmax(scaled.tril(), dim=-1)""",
            "You made the hidden *scores* 0, and exp(0) = 1. They must be −∞.",
            name="mask-multiplied",
        ),
        change(
            "triu(diagonal=1)",
            "triu()",
            hint=(
                "You hid the diagonal, too, but a word sees itself. Your first row has no key left."
            ),
        ),
        change(
            "triu(diagonal=1)",
            "tril()",
            hint="Your mask is inverted: you hid the past and kept the future.",
            name="upper-triangle-kept",
        ),
    ),
    probes=lambda parameters: [(parameters["scaled"][:1, :1],), (-parameters["scaled"],)],
    fields=(Field("causal_weights(scaled)", places=3),),
)
