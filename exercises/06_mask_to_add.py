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
            "it adds 0 to what is kept, and not to what is hidden",
            shaped and bool(zeros[keep].all() and not zeros[~keep].any()),
        ),
        (
            "it adds −∞ to what is hidden, and not to what is kept",
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
Find what is wrong, and mend it: "The mask is a triangle of ones and zeros, and it is *added* to the
scores." A mask can be added, but not this one. Write `to_add(keep)`: from a bool tensor, True
keeps, the tensor of floats that `scaled + to_add(keep)` needs, so that softmax gives the masked
weights. Mind 0 · ∞. *Expected: one or two lines in the function.*""",
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
            "Ones and zeros hide nothing: what is kept weighs e times as much, and that is all.",
            name="mask-added",
        ),
        Mistake(
            """\
def to_add(keep):
    return (~keep).float() * -1e9""",
            "−1e9 hides as well as −∞ while a key is kept. In a row that keeps none it gives equal "
            "weights to all that is forbidden.",
            name="minus-1e9",
        ),
        change(
            "torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)",
            "(~keep).float() * -torch.inf",
            hint=(
                "0 · −∞ is `nan`, and it stands wherever "
                "something is kept. Fill instead of multiply."
            ),
        ),
        change(
            "~keep",
            "keep",
            hint="Turned round: you hid what True keeps.",
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
