"""Chapter 05, level 2: scores and weights tell by what somebody divided."""

import math

import torch

from exercises import Clue, Draws, Exercise, Field, change, number, same


def parameters(seed):
    scores = Draws(seed).uniform(6, low=-1.0, high=3.0, dtype=torch.float64)
    divisor = (math.sqrt(3), 8.0, math.sqrt(2), math.sqrt(5), math.sqrt(512), 2.5)[seed % 6]
    return {"scores": scores, "weights": torch.softmax(scores / divisor, dim=0)}


def checks(names, parameters):
    scores, weights = parameters["scores"], parameters["weights"]
    got = names["divisor"](scores, weights)
    positive = number(got) is not None and number(got) > 0
    spread = (scores.amax() - scores.amin()) / (weights.log().amax() - weights.log().amin())
    return [
        Clue("`divisor(scores, weights)` is one positive number", positive),
        (
            "dividing the scores by it and taking softmax gives the weights",
            positive and same(got, spread),
        ),
    ]


EXERCISE = Exercise(
    id="05-which-divisor",
    chapter="05",
    title="What did they divide by?",
    level=2,
    points=2,
    text="""\
Someone prints a row of `scores` and its `weights`, but does not say what the scores were divided
by. Was it $\\sqrt{d_k}$ or $\\sqrt{d_{model}}$? Write `divisor(scores, weights)`, which finds the
number. *Expected: one or two lines in the function. Two keys are enough: softmax sees only
differences, and the inverse of exp is* `torch.log`.""",
    starter="""\
def divisor(scores, weights):
    return ...""",
    solution="""\
import torch


def divisor(scores, weights):
    logs = torch.log(weights)
    return (scores[0] - scores[1]) / (logs[0] - logs[1])""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "(scores[0] - scores[1]) / (logs[0] - logs[1])",
            "scores[0] / logs[0]",
            hint=(
                "The log of a weight is the scaled score minus a number that is the same for the "
                "whole row. In the difference of two logs, this number cancels."
            ),
        ),
        change(
            "torch.log(weights)",
            "weights",
            hint=(
                "A difference of scores becomes a *ratio* of weights. The log turns it back into "
                "a difference."
            ),
        ),
        change(
            "(scores[0] - scores[1]) / (logs[0] - logs[1])",
            "(logs[0] - logs[1]) / (scores[0] - scores[1])",
            hint="This is upside down: it is the number that the scores were multiplied by.",
        ),
    ),
    probes=lambda parameters: [(parameters["scores"].flip(0), parameters["weights"].flip(0))],
    fields=(Field("divisor(torch.tensor([2.0, 0.0]), torch.tensor([0.75, 0.25]))"),),
)
