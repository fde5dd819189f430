"""One more query on paper: its scores, its weights with √3, its output."""

import torch

from attn_core import toy
from exercises import Draws, Exercise, Field, change, near, same


def parameters(seed):
    sentence = toy.three_tokens()
    token = torch.tensor([0.0, 1.0, 1.0, 0.0])
    if seed:
        draw = Draws(seed)
        while True:
            token = draw.integers(0, 3, 4).float()
            if 0 < token.sum() < 4:
                break
    return {
        "token": token,
        "w_query": sentence.w_query,
        "keys": sentence.x @ sentence.w_key,
        "values": sentence.x @ sentence.w_value,
    }


def checks(names, parameters):
    query = parameters["token"] @ parameters["w_query"]
    scores = parameters["keys"] @ query
    weights = torch.softmax(scores / 3**0.5, dim=-1)
    return [
        ("`query` is right", same(names.get("query"), query)),
        (
            "`scores` is right: one whole number for each key",
            same(names.get("scores"), scores),
        ),
        ("`weights` is right to two decimals", near(names.get("weights"), weights)),
        (
            "`output` is right to two decimals",
            near(names.get("output"), weights @ parameters["values"]),
        ),
    ]


EXERCISE = Exercise(
    id="04-a-fourth-character",
    chapter="04",
    title="A fourth character asks",
    level=1,
    points=2,
    text="""\
The question word 吗 joins 爱学习, with `token` = {{ token }}. It adds only a query; the keys and
values are still those of 爱, 学 and 习. On paper, work out its `query`, its three `scores`,
its three `weights` (divide the scores by √3), and its `output`. Then type in your numbers as lists,
to two decimals or more, or let torch work them out from `token`, `w_query`, `keys` and `values`.
*Expected: four lines.*""",
    starter="query = ...\nscores = ...\nweights = ...\noutput = ...",
    solution="""\
import torch
query = token @ w_query
scores = keys @ query
weights = torch.softmax(scores / 3**0.5, dim=-1)
output = weights @ values""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "scores / 3**0.5",
            "scores",
            hint="The division by √3 is missing. It comes before the exponential, on the scores.",
            name="no-scale",
        ),
        change(
            "torch.softmax(scores / 3**0.5, dim=-1)",
            "torch.softmax(scores, dim=-1) / 3**0.5",
            hint="Divide the scores by √3, not the weights: your weights no longer add up to 1.",
            name="scale-after-softmax",
        ),
        change(
            "torch.softmax(scores / 3**0.5, dim=-1)",
            "torch.round(torch.softmax(scores / 3**0.5, dim=-1), decimals=1)",
            hint=(
                "You rounded the weights before you used "
                "them. Round what you show, not what you use."
            ),
            name="rounded-weights",
        ),
    ),
    fields=(
        Field("query", places=0),
        Field("scores", places=0),
        Field("weights"),
        Field("output"),
    ),
)
