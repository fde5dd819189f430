"""Chapter 05, level 1: one word's output, with three matrices."""

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, change, in_shape, same


def parameters(seed):
    if seed == 0:  # the three matrices that the chapter prints
        x = toy.journey().x
        w_query = [[0.296112, 0.516562], [0.251671, 0.688557], [0.073972, 0.866522]]
        w_key = [[0.136580, 0.102479], [0.184056, 0.726447], [0.315254, 0.687107]]
        w_value = [[0.075635, 0.196638], [0.316412, 0.401740], [0.118568, 0.827395]]
        matrices = [torch.tensor(rows) for rows in (w_query, w_key, w_value)]
    else:
        draw = Draws(seed)
        x = draw.uniform(3 + seed % 4, 4, low=-0.5, high=1.5)
        d_k, d_v = 2 + seed % 2, 2 + seed % 3
        matrices = [draw.uniform(4, width) for width in (d_k, d_k, d_v)]
    return {"x": x, **dict(zip(("w_query", "w_key", "w_value"), matrices, strict=True))}


def checks(names, parameters):
    x, w_query, w_key, w_value = (parameters[n] for n in ("x", "w_query", "w_key", "w_value"))
    answer = names["trained_row"]
    got = [
        in_shape(answer(x, w_query, w_key, w_value, i), w_value.shape[1:]) for i in range(len(x))
    ]
    shaped = all(row is not None for row in got)
    values = x @ w_value
    low, high = values.double().amin(dim=0), values.double().amax(dim=0)
    scaled = (x @ w_query) @ (x @ w_key).T / w_key.shape[1] ** 0.5
    return [
        Clue("`trained_row(…)` has as many numbers as a value has", shaped),
        Clue(
            "each of its numbers is between the smallest and the largest of its column of values",
            shaped and all(same(row.clamp(low, high), row) for row in got),
        ),
        (
            "it is the mixture of the values with the weights of word `i`",
            same(got, torch.softmax(scaled, dim=-1) @ values),
        ),
    ]


EXERCISE = Exercise(
    id="05-a-trained-row",
    chapter="05",
    title="The row of any word, with matrices",
    level=1,
    points=1,
    text="""\
Write `trained_row(x, w_query, w_key, w_value, i)`, which computes the output of word `i` from its
query, all keys and all values, with $\\sqrt{d_k}$. Try it with
`trained_row(x, w_query, w_key, w_value, 1)` {%- if chapter %}; the expected result is
above{% endif %}. *Expected: four lines in the function.*""",
    starter="""\
def trained_row(x, w_query, w_key, w_value, i):
    return ...""",
    solution="""\
import torch


def trained_row(x, w_query, w_key, w_value, i):
    query, keys, values = x[i] @ w_query, x @ w_key, x @ w_value
    scaled = keys @ query / keys.shape[-1] ** 0.5
    weights = torch.softmax(scaled, dim=0)
    return weights @ values""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            " / keys.shape[-1] ** 0.5",
            "",
            hint="The division by √d_k is missing. It comes before softmax.",
            name="no-scale",
        ),
        change(
            "keys.shape[-1]",
            "x.shape[-1]",
            hint="You divided by the square root of a word's width. Use the width of a key.",
            name="scale-by-model-width",
        ),
        change(
            "weights @ values",
            "weights @ x",
            hint="You mixed the words themselves. Mix their values.",
        ),
        change(
            ("query, keys, values", "queries, key, values"),
            ("x[i] @ w_query, x @ w_key", "x @ w_query, x[i] @ w_key"),
            ("keys @ query / keys.shape[-1]", "queries @ key / len(key)"),
            hint="Only the query comes from word `i`; the keys come from all words.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["x"][:1], *(parameters[n] for n in ("w_query", "w_key", "w_value")), 0)
    ],
)
