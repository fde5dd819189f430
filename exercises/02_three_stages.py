"""Chapter 02, level 1: one context by score, weight and mixture, keys and values apart."""

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, Field, Mistake, change, has_shape, same


def parameters(seed):
    if seed == 0:
        _, queries, _, states = toy.tom_and_jerry()
        return {"query": queries[2], "keys": states, "values": states.clone()}
    draw = Draws(seed)
    S = 3 + seed % 3
    query = draw.uniform(2, low=-1.0)
    keys = draw.uniform(S, 2, low=-1.0, high=2.0)
    return {"query": query, "keys": keys, "values": draw.uniform(S, 3)}


def checks(names, parameters):
    query, keys, values = (parameters[name] for name in ("query", "keys", "values"))
    answer = names["context"]
    got = answer(query, keys, values)
    other_values = torch.arange(12.0).reshape(3, 4)
    other_keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]])
    ask = torch.tensor([1.0, -1.0])
    return [
        Clue(
            "`context(query, keys, values)` has as many numbers as a value",
            has_shape(got, values.shape[1:]),
        ),
        (
            "a query of zeros gets the plain average of the values, another query does not",
            same(answer(0 * query, keys, values), values.mean(0)) and not same(got, values.mean(0)),
        ),
        (
            "the result is the sum of the values, each times the weight of its key",
            same(got, torch.softmax(keys @ query, 0) @ values)
            and same(
                answer(ask, other_keys, other_values),
                torch.softmax(other_keys @ ask, 0) @ other_values,
            ),
        ),
    ]


EXERCISE = Exercise(
    id="02-three-stages",
    chapter="02",
    title="Three stages, one function",
    level=1,
    points=1,
    text=(
        "Write `context(query, keys, values)`, the three stages for one query. Try it with "
        "{% if chapter %}`context(queries[2], states, states)`, which is $c_3${% else "
        "%}`context(query, keys, values)`{% endif %}. The values may differ from the keys, "
        "and may be wider. *Expected: three lines in the function, one for each stage.*"
    ),
    starter="""\
def context(query, keys, values):
    return ...""",
    solution="""\
import torch


def context(query, keys, values):
    scores = keys @ query
    weights = torch.softmax(scores, dim=0)
    return weights @ values""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "torch.softmax(scores, dim=0)",
            "scores / scores.sum()",
            hint=(
                "You divided the scores by their sum, without exp. With a score below 0 the "
                "results are not shares, and a query of zeros gives 0/0."
            ),
            name="divided-by-sum",
        ),
        change(
            "weights @ values",
            "weights @ keys",
            hint=(
                "This is right only if keys and values are the same. The keys are compared; the "
                "values are mixed."
            ),
        ),
        Mistake(
            """\
def context(query, keys, values):
    return values[(keys @ query).argmax()]""",
            (
                "That is a look-up: it returns only the value of the best key. The others "
                "contribute their shares, too."
            ),
        ),
        change(
            "weights @ values",
            "weights",
            hint="These are the weights. One stage is left: the weighted sum of the values.",
        ),
    ),
    probes=lambda parameters: [
        (-parameters["query"], parameters["keys"], parameters["values"][:, :1]),
        (parameters["query"], parameters["keys"][:1], parameters["values"][:1]),
    ],
    fields=(Field("context(query, keys, values)", label="`context(queries[2], states, states)`"),),
)
