"""Chapter 03, level 1: one query's context vector, for any word."""

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, Field, change, in_shape, same


def parameters(seed):
    x = toy.journey().x
    if seed > 0:
        shape = (3 + seed % 4, 2 + seed % 3)
        x = Draws(seed).uniform(*shape, low=-0.5, high=1.5)
    return {"x": x}


def checks(names, parameters):
    x, answer = parameters["x"], names["context_vector"]
    got = [in_shape(answer(x, i), x.shape[1:]) for i in range(len(x))]
    shaped = all(row is not None for row in got)
    low, high = x.double().amin(dim=0), x.double().amax(dim=0)
    return [
        Clue("`context_vector(x, i)` has as many numbers as a word has", shaped),
        Clue(
            "each of its numbers is between the smallest and the largest of its column in `x`",
            shaped and all(same(row.clamp(low, high), row) for row in got),
        ),
        (
            "it is the mixture of the rows of `x` with the weights of word `i`",
            same(got, torch.softmax(x @ x.T, dim=-1) @ x),
        ),
    ]


EXERCISE = Exercise(
    id="03-context-vector",
    chapter="03",
    title="The row of any word",
    level=1,
    points=1,
    text=(
        "Write `context_vector(x, i)`, which computes the scores, the weights and finally the "
        "context vector of word `i` in the sentence `x`. Try it with {% if chapter "
        "%}`context_vector(x, 4)`, the word *one*{% else %}`context_vector(x, 0)`, the first "
        "word{% endif %}. *Expected: three lines in the function, or a few more with a "
        "loop.*"
    ),
    starter="""\
def context_vector(x, i):
    return ...""",
    solution="""\
import torch


def context_vector(x, i):
    scores = x @ x[i]
    weights = torch.softmax(scores, dim=0)
    return weights @ x""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "weights @ x",
            "scores @ x",
            hint=(
                "You used the scores to mix the words, but scores do not add up to 1. Softmax has "
                "to turn them into weights first."
            ),
        ),
        change(
            "torch.softmax(scores, dim=0)",
            "scores / scores.sum()",
            hint=(
                "You divided the scores by their sum. The weights are the softmax of the scores: "
                "exp comes first."
            ),
            name="divided-by-sum",
        ),
        change(
            "weights @ x",
            "weights",
            hint=(
                "These are the weights, one for each word. One step is left: multiply each "
                "word's vector by its weight, and add up the results."
            ),
        ),
        change(
            ("x @ x[i]", "x[i]"),
            ("weights @ x", "weights * x[i]"),
            hint=(
                "You took the softmax of the word's own numbers. Take the softmax of its scores "
                "instead: the dot products of word `i` with every word."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["x"][:1], 0), (-parameters["x"][:2], 1)],
    fields=(Field("context_vector(x, 4)", places=4),),
)
