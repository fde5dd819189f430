"""Chapter 03, level 3: what a shuffle of the words does to the weights and to the output."""

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, Field, Mistake, change, numbers, parts, same


def parameters(seed):
    if seed == 0:
        x, order = toy.journey().x, [3, 5, 1, 0, 4, 2]
    else:
        draw = Draws(seed)
        T = 4 + seed % 4
        x = draw.uniform(T, 3, low=-0.5, high=1.5)
        order = draw.order(T)
        while [order[i] for i in order] == list(range(T)):  # undoes itself, and hides a mistake
            order = draw.order(T)
    x = x.double()
    weights = torch.softmax(x @ x.T, dim=-1)
    return {"weights": weights.float(), "output": (weights @ x).float(), "order": order}


def checks(names, parameters):
    weights, output, order = (parameters[name] for name in ("weights", "output", "order"))
    both = parts(names["shuffled_attention"](weights, output, order), ("weights", "output"))
    got_weights, got_output = both or (None, None)
    rows = numbers(got_weights)
    return [
        Clue(
            "the function returns two tensors, weights and output",
            rows is not None and numbers(got_output) is not None,
        ),
        Clue(
            "each row of the new weights adds up to 1",
            rows is not None and rows.ndim > 1 and same(rows.sum(dim=-1), torch.ones(len(order))),
        ),
        ("the new output is that of the shuffled sentence", same(got_output, output[order])),
        (
            "the new weights are those of the shuffled sentence",
            same(got_weights, weights[order][:, order]),
        ),
    ]


EXERCISE = Exercise(
    id="03-shuffled-weights",
    chapter="03",
    title="Shuffle without computing",
    level=3,
    points=3,
    text=(
        "Someone has thrown `x` away and kept only `weights` and `output`. Now the words are "
        "shuffled: word number `order[i]` moves to place `i`. Write "
        "`shuffled_attention(weights, output, order)`, which returns the weights and the "
        "output of the shuffled sentence, as two tensors. You need neither a multiplication "
        "nor a softmax. *Expected: one line in the function. What does a row of the weights "
        "belong to, and what does a column?*"
    ),
    starter="""\
def shuffled_attention(weights, output, order):
    return ...""",
    solution="""\
def shuffled_attention(weights, output, order):
    return weights[order][:, order], output[order]""",
    parameters=parameters,
    checks=checks,
    parts=("weights", "output"),
    mistakes=(
        change(
            "weights[order][:, order]",
            "weights[order]",
            hint=(
                "The output is right. In the weights you moved the queries but not the keys: the "
                "columns are words, too."
            ),
        ),
        change(
            "weights[order][:, order]",
            "weights[:, order]",
            hint=(
                "The output is right. In the weights you moved the keys but not the queries: the "
                "rows are words, too."
            ),
        ),
        change(
            "output[order]",
            "output[order][:, [2, 1, 0]]",
            hint=(
                "The columns of the output are the numbers of a vector, not words, so they must "
                "stay in place."
            ),
        ),
        Mistake(
            """\
import torch


def shuffled_attention(weights, output, order):
    back = torch.argsort(torch.tensor(order))
    return weights[back][:, back], output[back]""",
            (
                "You reversed the shuffle: `order[i]` says which word moves to place `i`, and "
                "indexing with `[order]` does just that."
            ),
        ),
    ),
    probes=lambda parameters: [
        (
            parameters["weights"],
            parameters["output"],
            [*range(1, len(parameters["order"])), 0],
        )
    ],
    fields=(
        Field(
            "shuffled_attention(weights, output, order)[0][0]",
            label="row 0 of the new weights, for `order = [3, 5, 1, 0, 4, 2]`",
            places=4,
        ),
        Field(
            "shuffled_attention(weights, output, order)[1][0]",
            label="row 0 of the new output",
            places=4,
        ),
    ),
)
