"""Chapter 14, level 2: four wrong tables of weights, and the names of what went wrong."""

import torch

from exercises import Clue, Draws, Exercise, Mistake, change, listed

NAMES = ("no-scale", "scale-after-softmax", "softmax-over-queries", "divided-by-sum")


def wrong_weights(scores, d_k):
    """The weights of each mistake, by its name."""
    scale = d_k**-0.5
    return {
        "no-scale": torch.softmax(scores, dim=-1),
        "scale-after-softmax": torch.softmax(scores, dim=-1) * scale,
        "softmax-over-queries": torch.softmax(scores * scale, dim=-2),
        "divided-by-sum": scores / scores.sum(dim=-1, keepdim=True),
    }


def parameters(seed):
    draw = Draws(seed)
    while True:
        scores = draw.integers(-2, 6, 3, 3).float()
        columns = torch.softmax(scores / 2, dim=-2).sum(dim=-1)
        sums = scores.sum(dim=-1, keepdim=True)
        if sums.abs().min() > 1 and (scores / sums).min() < 0 and columns.std() > 0.1:
            break
    order = draw.order(4)
    while any(order[i] == i for i in range(4)):  # the order of the text hits no name
        order = draw.order(4)
    tables = wrong_weights(scores.double(), 4)
    return {
        "score_table": scores,
        "wrong_tables": torch.stack([tables[NAMES[i]] for i in order]).float(),
    }


def checks(names, parameters):
    right = wrong_weights(parameters["score_table"], 4)
    answer = listed(names.get("what_went_wrong")) or []
    given = len(answer) == 4 and all(isinstance(name, str) for name in answer)
    each_once = given and set(answer) == set(NAMES)
    named = zip(answer, parameters["wrong_tables"], strict=True) if each_once else []
    hits = {name: torch.allclose(right[name], table) for name, table in named}
    return [
        Clue("`what_went_wrong` is a list of the four names, each once", each_once),
        *(
            (
                f"`{first}` and `{second}` are in the right places",
                each_once and hits[first] and hits[second],
            )
            for first, second in (NAMES[:2], NAMES[2:])
        ),
    ]


EXERCISE = Exercise(
    id="14-name-the-mistake",
    chapter="14",
    title="Name the mistake",
    level=2,
    points=2,
    text="""\
`wrong_tables` holds four tables of weights. All are computed from the same `score_table`, with d_k
= 4 and without a mask, and each is wrong in a different way: `"no-scale"`, `"scale-after-softmax"`,
`"softmax-over-queries"` or `"divided-by-sum"`. Look at the signs and at the sums, and write the
names into the list `what_went_wrong`, in the order of the tables. {%- if chapter %} The scores and
the tables are shown above.{% endif %} *Expected: three sums and one look.*""",
    starter="what_went_wrong = ...",
    solution="""\
import torch


def name_of(table):
    if (table < 0).any():
        return "divided-by-sum"
    row_sums = table.sum(dim=-1)
    if torch.allclose(row_sums, torch.ones(3)):
        return "no-scale"
    if torch.allclose(row_sums, torch.full((3,), 0.5)):
        return "scale-after-softmax"
    return "softmax-over-queries"


what_went_wrong = [name_of(table) for table in wrong_tables]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ('"no-scale"', '"scale-after-softmax"'),
            ('"scale-after-softmax"', '"no-scale"'),
            hint=(
                "You swapped the two tables that are too sharp. If the scale comes after softmax, "
                "the rows no longer add up to 1."
            ),
        ),
        change(
            ('"divided-by-sum"', '"softmax-over-queries"'),
            ('"softmax-over-queries"', '"divided-by-sum"'),
            hint=(
                "A softmax, along whichever axis, is never "
                "negative. Where do the columns add up to 1?"
            ),
        ),
        Mistake(
            'what_went_wrong = ["no-scale", "scale-after-softmax", "softmax-over-queries", '
            '"divided-by-sum"]',
            "That is the order in the text. The tables come in a different order.",
        ),
    ),
)
