"""Chapter 03, level 1: one query's context vector, for any word."""

import torch

from attn_core import toy
from exercises import Draws, Exercise, Field, Mistake, has_shape, numbers, same


def parameters(seed):
    x = toy.journey().x
    if seed > 0:
        shape = (3 + seed % 4, 2 + seed % 3)
        x = Draws(seed).uniform(*shape, low=-0.5, high=1.5)
    return {"x": x}


def checks(names, parameters):
    x, answer = parameters["x"], names["context_vector"]
    before = x.clone()
    got = [numbers(answer(x, i)) for i in range(len(x))]
    shaped = all(has_shape(row, x.shape[1:]) for row in got)
    right = torch.softmax(x @ x.T, dim=-1) @ x
    low, high = x.amin(dim=0) - 1e-5, x.amax(dim=0) + 1e-5
    return [
        ("`context_vector(x, i)` has as many numbers as a word has", shaped),
        (
            "each of its numbers lies between the smallest and the largest of its column in `x`",
            shaped and all(((low <= row) & (row <= high)).all() for row in got),
        ),
        (
            "it is the mixture of the rows of `x` with the weights of word `i`",
            same(got, right),
        ),
        ("`x` is left as it was", shaped and torch.equal(x, before)),
    ]


EXERCISE = Exercise(
    id="03-context-vector",
    chapter="03",
    title="The row of any word",
    level=1,
    points=1,
    text=(
        "Write `context_vector(x, i)`: the context vector of word `i` of the sentence `x`, by "
        "scores, weights and mixture. Try it with `context_vector(x, 4)`, the word *one*. "
        "*Expected: three lines in the function, or a few more with a loop.*"
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
        Mistake(
            """\
def context_vector(x, i):
    scores = x @ x[i]
    return scores @ x""",
            "You mixed with the scores. They do not add up to 1: softmax makes them weights first.",
        ),
        Mistake(
            """\
def context_vector(x, i):
    scores = x @ x[i]
    weights = scores / scores.sum()
    return weights @ x""",
            "You divided the scores by their sum. The weights are their softmax: exp comes first.",
            name="divided-by-sum",
        ),
        Mistake(
            """\
import torch


def context_vector(x, i):
    scores = x @ x[i]
    weights = torch.softmax(scores, dim=0)
    return weights""",
            "These are the weights, a number for each word. One step is left: "
            "each weight times the vector of its own word, all added up.",
        ),
        Mistake(
            """\
import torch


def context_vector(x, i):
    weights = torch.softmax(x[i], dim=0)
    return weights * x[i]""",
            "You took the softmax of the word's own numbers. "
            "It belongs on the scores: the dot products of word `i` with every word.",
        ),
    ),
    probes=lambda parameters: [(parameters["x"][:1], 0), (-parameters["x"][:2], 1)],
    fields=(Field("context_vector(x, 4)", places=4),),
)
