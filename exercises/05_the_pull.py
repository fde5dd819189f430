"""Chapter 05, level 3: the gradient of the loss at the scores, without backward."""

import math

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    draw = Draws(seed)
    scores = draw.uniform(4 + seed % 4, low=-1.0, high=3.0, dtype=torch.float64)
    return {"scores": scores, "d_k": (2, 64, 16, 5)[seed % 4], "target": seed % 3}


def checks(names, parameters):
    scores, d_k, target = (parameters[name] for name in ("scores", "d_k", "target"))
    got = in_shape(names["pull"](scores, d_k, target), scores.shape)
    shaped = got is not None
    is_target = torch.arange(len(scores)) == target
    free = scores.clone().requires_grad_()
    loss = -torch.log_softmax(free / math.sqrt(d_k), dim=0)[target]
    (right,) = torch.autograd.grad(loss, free)
    return [
        Clue("`pull(…)` has a number for each score", shaped),
        Clue("its numbers add up to 0", shaped and same(got.sum(), 0.0)),
        (
            "the target's number is below 0, so its score will grow; the others are above 0",
            shaped and bool((got[is_target] < 0).all() and (got[~is_target] > 0).all()),
        ),
        ("the numbers are the gradients of the loss", same(got, right)),
    ]


EXERCISE = Exercise(
    id="05-the-pull",
    chapter="05",
    title="The pull on each score",
    level=3,
    points=3,
    text="""\
The loss is −log of the weight of key `target`, in a row of `scores` that are divided by
$\\sqrt{d_k}$. Write `pull(scores, d_k, target)`, which computes the gradient of the loss for each
score by a rule that needs no `backward`. First make up a row, nudge its scores, and guess the rule
from the numbers: how does the loss pull on the target's score, and on the others? *Expected:
three lines in the function, one softmax.*""",
    starter="""\
def pull(scores, d_k, target):
    return ...""",
    solution="""\
import torch


def pull(scores, d_k, target):
    gradient = torch.softmax(scores / d_k**0.5, dim=0)
    gradient[target] -= 1
    return gradient / d_k**0.5""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "gradient / d_k**0.5",
            "gradient",
            hint=(
                "This is right for the *scaled* scores. A nudge to a score is divided by √d_k "
                "before it reaches the scaled score."
            ),
        ),
        change(
            ("gradient = torch", "gradient = -torch"),
            ("-= 1", "+= 1"),
            hint=(
                "The signs are reversed. A higher score for the target lowers the loss, so its "
                "gradient must be negative."
            ),
        ),
        change(
            "    gradient[target] -= 1\n",
            "",
            hint=(
                "This is right for all keys except the target, whose score is pulled the other way."
            ),
        ),
        Mistake(
            """\
import torch


def pull(scores, d_k, target):
    weight = torch.softmax(scores / d_k**0.5, dim=0)[target]
    gradient = torch.zeros_like(scores)
    gradient[target] = (weight - 1) / d_k**0.5
    return gradient""",
            (
                "This is right for the target. But the other scores are in the same sum, so the "
                "loss pulls on them, too."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["scores"].flip(0), 4, len(parameters["scores"]) - 1)],
    fields=(Field("pull(torch.tensor([2.0, 0.0, -1.0]), 4, 0)", places=3),),
)
