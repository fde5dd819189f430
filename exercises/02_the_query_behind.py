"""Chapter 02, level 3: find the query that gives the wanted weights."""

import torch

from attn_core import toy
from exercises import Clue, Draws, Exercise, Field, Mistake, change, in_shape, same


def parameters(seed):
    if seed == 0:
        return {"wanted": torch.tensor([0.8, 0.1, 0.1]), "keys": toy.tom_and_jerry().states}
    draw = Draws(seed)
    shares = draw.uniform(3, low=0.1, high=1.1).double()
    keys = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    return {"wanted": (shares / shares.sum()).float(), "keys": keys + draw.uniform(2)}


def checks(names, parameters):
    wanted, keys = parameters["wanted"], parameters["keys"]
    answer = names["query_behind"]
    got = in_shape(answer(wanted, keys), keys.shape[1:])
    shaped = got is not None
    even = torch.full((3,), 1 / 3)
    return [
        Clue("`query_behind(wanted, keys)` has as many numbers as a key", shaped),
        (
            "for equal weights it is a query of zeros, for other weights it is not",
            shaped and not same(got, torch.zeros(2)) and same(answer(even, keys), torch.zeros(2)),
        ),
        (
            "the query gives the wanted weights",
            shaped and same(torch.softmax(keys.double() @ got, 0), wanted, atol=1e-4),
        ),
    ]


EXERCISE = Exercise(
    id="02-the-query-behind",
    chapter="02",
    title="The query behind the weights",
    level=3,
    points=3,
    text=(
        "{% if chapter %}In chapter 01 the weights for 汤姆 were given as 0.8, 0.1 and 0.1.{% "
        "else %}Someone gives you the weights `wanted` for one word.{% endif %} Which query "
        "gives these weights? Write `query_behind(wanted, keys)` for three keys of two "
        "numbers each, the corners of a triangle. Try {% if chapter "
        "%}`query_behind(torch.tensor([0.8, 0.1, 0.1]), states)`{% else "
        "%}`query_behind(wanted, keys)`{% endif %}, and check the query with the three "
        "stages. *Expected: three lines in the function. The ratio of two weights is exp of "
        "the difference of their scores. This gives two equations in two unknowns, and "
        "`torch.linalg.solve(A, b)` finds the q with A @ q = b.*"
    ),
    starter="""\
def query_behind(wanted, keys):
    return ...""",
    solution="""\
import torch


def query_behind(wanted, keys):
    key_differences = keys[1:] - keys[0]
    score_differences = torch.log(wanted[1:] / wanted[0])
    return torch.linalg.solve(key_differences, score_differences)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def query_behind(wanted, keys):
    return torch.linalg.lstsq(keys, wanted[:, None]).solution[:, 0]""",
            (
                "You looked for scores that equal the weights. But softmax comes between scores "
                "and weights."
            ),
        ),
        Mistake(
            """\
import torch


def query_behind(wanted, keys):
    return torch.linalg.lstsq(keys, wanted.log()[:, None]).solution[:, 0]""",
            (
                "You have three equations in two unknowns: in general no query has the scores "
                "log(weight). Only the two *differences* of the scores are fixed."
            ),
        ),
        change(
            "torch.log(wanted[1:] / wanted[0])",
            "wanted[1:] - wanted[0]",
            hint=(
                "Differences of scores correspond to *ratios* of weights, not to their differences."
            ),
        ),
        Mistake(
            """\
def query_behind(wanted, keys):
    return wanted @ keys""",
            (
                "This is the context computed from the weights. You need to go the other way, "
                "from the weights to the query."
            ),
        ),
    ),
    probes=lambda parameters: [(parameters["wanted"].flip(0), parameters["keys"])],
    fields=(
        Field(
            "query_behind(wanted, keys)",
            label="`query_behind(torch.tensor([0.8, 0.1, 0.1]), states)`",
        ),
    ),
)
