"""Chapter 02, level 1: by hand, what one raised score does to the other weights of its row."""

import torch

from exercises import Draws, Exercise, Field, Mistake, near


def parameters(seed):
    if seed == 0:
        return {"three_scores": [1.0, 0.5, 0.0], "raised_by": 2.0}
    draw = Draws(seed)
    scores = [float(draw.integer(0, 4)) for _ in range(2)]
    return {"three_scores": [*scores, 0.5], "raised_by": draw.choice((1.5, 2.0, 2.5))}


def checks(names, parameters):
    scores = torch.tensor(parameters["three_scores"])
    before = torch.softmax(scores, dim=0)
    scores[0] += parameters["raised_by"]
    return [
        ("`row_before` is right to two decimals", near(names.get("row_before"), before)),
        (
            "`row_after` is right to two decimals",
            near(names.get("row_after"), torch.softmax(scores, dim=0)),
        ),
    ]


EXERCISE = Exercise(
    id="02-nobody-alone",
    chapter="02",
    title="Nobody is alone in a row",
    level=1,
    points=1,
    text="""\
Find what is wrong, and show it: "The weight of each position is independent of the others." A query
has the scores in `three_scores`. Then the first score grows by `raised_by`, and the other two stay
the same. Give the three weights before and after, `row_before` and `row_after`, as lists, to two
decimals or more. How much have the last two weights lost, and to which one? What has stayed
the same, their ratio or their difference? *Expected: two lines.*""",
    starter="row_before = ...\nrow_after = ...",
    solution="""\
import torch

raised = [three_scores[0] + raised_by, *three_scores[1:]]
row_before = torch.softmax(torch.tensor(three_scores), dim=0)
row_after = torch.softmax(torch.tensor(raised), dim=0)
# The last two have lost weight to the first, and both have shrunk by the same factor.
# So their ratio has stayed the same, but their difference has not.""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch

row_before = torch.softmax(torch.tensor(three_scores), dim=0)
row_after = row_before.clone()
row_after[0] *= torch.exp(torch.tensor(raised_by))""",
            (
                "You left the last two weights as they were, so your row adds up to more than 1. "
                "Divide by the new sum, and they shrink."
            ),
        ),
        Mistake(
            """\
import torch

row_before = torch.exp(torch.tensor(three_scores))
row_after = torch.exp(torch.tensor([three_scores[0] + raised_by, *three_scores[1:]]))""",
            "These are the exponentials. You still have to divide each row by its sum.",
        ),
        Mistake(
            """\
import torch

row_before = torch.softmax(torch.tensor(three_scores), dim=0)
exps = torch.exp(torch.tensor(three_scores))
exps[0] += raised_by
row_after = exps / exps.sum()""",
            "You added to the exponential. The *score* grows, so its exponential is multiplied.",
        ),
        Mistake(
            """\
import torch

row_before = torch.tensor(three_scores) / sum(three_scores)
raised = torch.tensor([three_scores[0] + raised_by, *three_scores[1:]])
row_after = raised / raised.sum()""",
            "You divided the scores by their sum, without exp.",
            name="divided-by-sum",
        ),
    ),
    fields=(Field("row_before", places=3), Field("row_after", places=3)),
)
