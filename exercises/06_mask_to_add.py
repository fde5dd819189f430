"""Chapter 06, level 2: from a mask that keeps to a mask that is added."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same, tensor


def parameters(seed):
    T = 4 if seed == 0 else 3 + seed % 4
    keep = torch.ones(T, T).tril().bool()
    scaled = torch.tensor([[0.5, 1.0, -0.5, 2.0]] * 4)
    if seed:
        draw = Draws(seed)
        scaled = draw.uniform(T, T, low=-2.0, high=2.0)
        keep = (draw.uniform(T, T) < 0.6) | torch.eye(T).bool()
        keep[0, -1], keep[1, 0] = False, True
    return {"keep": keep, "scaled": scaled}


def checks(names, parameters):
    keep, scaled = parameters["keep"], parameters["scaled"]
    said = names["to_add"](keep)
    got = in_shape(said, keep.shape)
    shaped = got is not None and tensor(said).is_floating_point()
    zeros, infinite = (got == 0, got == -torch.inf) if shaped else (None, None)
    right = torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1)
    return [
        Clue("`to_add(keep)` has the shape of `keep`, and its numbers are floats", shaped),
        (
            "it adds 0 to what is kept, but not to what is hidden",
            shaped and bool(zeros[keep].all() and not zeros[~keep].any()),
        ),
        (
            "it adds −∞ to what is hidden, but not to what is kept",
            shaped and bool(infinite[~keep].all() and not infinite[keep].any()),
        ),
        (
            "the weights of `scaled + to_add(keep)` are the masked weights",
            shaped and same(torch.softmax(scaled + got, dim=-1), right),
        ),
    ]


EXERCISE = Exercise(
    id="06-mask-to-add",
    chapter="06",
    title="A mask to add",
    level=2,
    points=2,
    text="""\
Find what is wrong, and correct it: "The mask is a triangle of ones and zeros, and it is *added* to
the scores." A mask can be added, but not this one. Write `to_add(keep)`, which turns a bool tensor,
in which True keeps, into a tensor of floats, so that the softmax of `scaled + to_add(keep)` gives
the masked weights. Beware of 0 · ∞. *Expected: one or two lines in the function.*""",
    starter="""\
def to_add(keep):
    return ...""",
    solution="""\
import torch


def to_add(keep):
    return torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def to_add(keep):
    return keep.float()""",
            (
                "Ones and zeros hide nothing. They only make the exponential of a kept score e "
                "times as large."
            ),
            name="mask-added",
        ),
        Mistake(
            """\
def to_add(keep):
    return (~keep).float() * -1e9""",
            (
                "−1e9 hides as well as −∞ if the row keeps a key. In a row that keeps none, it "
                "gives equal weights to all hidden keys."
            ),
            name="minus-1e9",
        ),
        change(
            "torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)",
            "(~keep).float() * -torch.inf",
            hint=(
                "0 · −∞ is `nan`, and this happens wherever a key is kept. Fill instead of "
                "multiplying."
            ),
        ),
        change(
            "~keep",
            "keep",
            hint="Your mask is inverted: you hid what True keeps.",
            name="mask-turned",
        ),
    ),
    probes=lambda parameters: [(parameters["keep"][None, None],), (parameters["keep"] & False,)],
    fields=(
        Field(
            "torch.softmax(scaled + to_add(keep), dim=-1)[1]",
            label="row 1 (the second) of softmax of [0.5, 1.0, −0.5, 2.0] under the causal mask",
        ),
    ),
)
