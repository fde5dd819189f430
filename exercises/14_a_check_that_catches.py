"""Chapter 14, level 3: one check of a table of weights that catches five mistakes."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, truth


def parameters(seed):
    T = 24 + seed % 8
    scaled = Draws(seed).uniform(T, T, low=-2.0, high=2.0)
    keep = torch.ones(T, T).tril().bool()
    return {
        "good_weights": torch.softmax(scaled.masked_fill(~keep, -torch.inf), dim=-1),
        "keep": keep,
        "scaled": scaled,
    }


def wrong_weights(scaled, keep):
    """Wrong weights, each behind what is said of them."""
    hidden = scaled.masked_fill(~keep, -torch.inf)
    zeroed = scaled.masked_fill(~keep, 0.0)
    shares = (scaled + 1) * keep
    return [
        ("a mask after softmax is caught", torch.softmax(scaled, dim=-1) * keep),
        ("a mask multiplied in is caught", torch.softmax(zeroed, dim=-1)),
        ("a missing mask is caught", torch.softmax(scaled, dim=-1)),
        ("softmax over queries is caught", torch.softmax(hidden, dim=-2)),
        ("division by the sum is caught", shares / shares.sum(dim=-1, keepdim=True)),
        ("`nan` is caught", torch.full_like(scaled, torch.nan)),
    ]


def checks(names, parameters):
    good, keep, scaled = parameters.values()

    def says(weights):
        return truth(names["is_sound"](weights, keep))

    is_sound = says(good) is True
    return [
        Clue("right weights are sound", is_sound),
        *((text, is_sound and says(table) is False) for text, table in wrong_weights(scaled, keep)),
    ]


EXERCISE = Exercise(
    id="14-a-check-that-catches",
    chapter="14",
    title="A check that catches",
    level=3,
    points=3,
    text="""\
Write `is_sound(weights, keep)`, which returns True if `weights` can be a table of weights under
this mask, and False otherwise. The function gets no scores, so it cannot tell whether the weights
are *right*. But it must accept right weights, and catch a mask after softmax, a mask multiplied in,
a missing mask, softmax over queries, division by the sum, and `nan`. Here every query keeps a key.
Your function may also accept a query that keeps none, whose weights are all 0. *Expected: three or
four lines in the function. Sums of floats are rarely exactly 1.*""",
    starter="""\
def is_sound(weights, keep):
    return ...""",
    solution="""\
def is_sound(weights, keep):
    whole = keep.any(dim=-1).float()  # 0 for a query that keeps nothing
    adds_up = ((weights.sum(dim=-1) - whole).abs() < 1e-5).all()
    hides = (weights[~keep] == 0).all()
    return bool(adds_up and hides and (weights >= 0).all())""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
def is_sound(weights, keep):
    return bool(((weights.sum(dim=-1) - 1).abs() < 1e-5).all() and (weights >= 0).all())""",
            "The rows add up to 1, but a query may still look ahead. Check the hidden keys, too.",
        ),
        Mistake(
            """\
def is_sound(weights, keep):
    return bool((weights[~keep] == 0).all() and (weights >= 0).all())""",
            "You rightly check that hidden keys get no weight. But the weights of the other keys "
            "must also add up to 1 in every row.",
        ),
        Mistake(
            """\
def is_sound(weights, keep):
    adds_up = (weights.sum(dim=-1) == 1).all()
    return bool(adds_up and (weights[~keep] == 0).all() and (weights >= 0).all())""",
            (
                "Right weights fail your check: a sum of floats is 1 only up to rounding. Allow "
                "for this."
            ),
        ),
        Mistake(
            """\
def is_sound(weights, keep):
    adds_up = ((weights.sum(dim=-1) - 1).abs() < 1e-5).all()
    return bool(adds_up and (weights[~keep] == 0).all())""",
            "Positive and negative shares can add up to 1, too. Check the signs.",
        ),
    ),
    fields=(
        Field(
            "[int(is_sound(torch.tensor([row]), torch.tensor([[True, True, False]]))) for row in "
            "([0.5, 0.5, 0.0], [0.4, 0.4, 0.2], [1.5, -0.5, 0.0], [0.5, 0.4, 0.0])]",
            label=(
                "`is_sound` of four rows, 1 for True, where the mask keeps two keys of three: "
                "(0.5, 0.5, 0), (0.4, 0.4, 0.2), (1.5, −0.5, 0), (0.5, 0.4, 0)"
            ),
            places=0,
        ),
    ),
    probes=lambda parameters: [
        (torch.ones(1, 1), torch.ones(1, 1).bool()),
        (torch.tensor([[1.5, -0.5]]), torch.ones(1, 2).bool()),
        (torch.tensor([[0.75, 0.75, -0.5]]), torch.ones(1, 3).bool()),
    ],
)
