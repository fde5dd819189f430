"""Chapter 12, level 2: top-p sampling cuts the tail of a distribution."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, in_shape, same


def parameters(seed):
    if seed == 0:
        return {"probabilities": torch.tensor([0.14, 0.34, 0.1, 0.22, 0.2]), "p": 0.7}
    draw = Draws(seed)
    while True:
        shares = draw.uniform(5 + seed % 3, low=0.1, high=1.0).double()
        probabilities, p = shares / shares.sum(), draw.choice((0.5, 0.6, 0.7, 0.8))
        if is_clear(probabilities, p):
            return {"probabilities": probabilities.float(), "p": p}


def is_clear(probabilities, p):
    """Whether neither a rounding nor the order of the tokens decides what is kept."""
    ordered, order = probabilities.sort(descending=True)
    sums = ordered.cumsum(dim=-1)
    kept = int((sums < p).sum()) + 1
    return (
        float(-ordered.diff().max()) > 0.005
        and min(float((sums - bound).abs().min()) for bound in (p, 0.3, 0.9)) > 0.01
        and 1 < kept < len(sums) - 1
        and sorted(order[:kept].tolist()) != list(range(kept))
    )


def right(probabilities, p):
    ordered, order = probabilities.double().sort(descending=True)
    kept = torch.zeros_like(ordered)
    kept[order] = ordered * (ordered.cumsum(dim=-1) - ordered < p)
    return kept / kept.sum()


def checks(names, parameters):
    (probabilities, p), answer = parameters.values(), names["top_p"]
    got = in_shape(answer(probabilities, p), probabilities.shape)
    shaped = got is not None

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    return [
        Clue("`top_p(probabilities, p)` has a number for each token", shaped),
        Clue("they add up to 1", shaped and same(got.sum(), 1.0)),
        (
            "as few of the most likely tokens as possible are kept, with a sum of `p` or more; "
            "all others are 0",
            shaped and same((got > 0).double(), (right(probabilities, p) > 0).double()),
        ),
        ("each token has its own new probability", is_right((probabilities, p))),
        (
            "it is right for other values of p and for tokens in another order",
            is_right((probabilities, 0.3), (probabilities, 0.9), (probabilities.flip(0), p)),
        ),
    ]


EXERCISE = Exercise(
    id="12-top-p",
    chapter="12",
    title="Cut the tail",
    level=2,
    points=2,
    text="""\
Write `top_p(probabilities, p)`, which applies top-p sampling to the probabilities of the next
token, one for each token of the vocabulary. It keeps the most likely tokens, but only as many as
it takes for their sum to reach `p`. All other probabilities become 0, and those that are kept are
divided by their sum. Every token stays in its place. Try it with
{% if chapter %}`probabilities = torch.tensor([0.14, 0.34, 0.1, 0.22, 0.2])` and p = {{ p }}
{%- else %}`top_p(probabilities, p)`{% endif %}. *Expected: five lines in the function.
`probabilities.sort(descending=True)` gives the sorted numbers and their places.*""",
    starter="""\
def top_p(probabilities, p):
    return ...""",
    solution="""\
import torch


def top_p(probabilities, p):
    ordered, places = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities)
    kept[places] = ordered * (before < p)
    return kept / kept.sum()""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "(before < p)",
            "(ordered.cumsum(dim=-1) <= p)",
            hint=(
                "One token is missing: the sum of yours is below p. Keep the token with which the "
                "sum reaches p, too."
            ),
        ),
        change(
            " / kept.sum()",
            "",
            hint=(
                "You kept the right tokens, but their probabilities no longer add up to 1: "
                "divide by their sum."
            ),
        ),
        change(
            "kept[places]",
            "kept[:]",
            hint="Your probabilities are still sorted. Put each back in the place of its token.",
        ),
        change(
            "(before < p)",
            "(ordered >= 1 - p)",
            hint=(
                "You looked at each probability alone. Add them up, beginning with the most "
                "likely token."
            ),
        ),
        change(
            "(before < p)",
            "(ordered >= p * ordered[0])",
            hint=(
                "That is min-p, which compares each token with the most likely one. Top-p adds "
                "the probabilities up."
            ),
        ),
        change(
            "probabilities.sort(descending=True)",
            "(probabilities, torch.arange(len(probabilities)))",
            hint=(
                "You added up the probabilities in their given order. Sort them first, and begin "
                "with the largest."
            ),
        ),
    ),
    probes=lambda parameters: [
        (parameters["probabilities"], 0.01),
        (torch.tensor([0.19, 0.22, 0.18, 0.21, 0.2]), 0.7),
    ],
    fields=(Field("top_p(probabilities, p)"),),
)
