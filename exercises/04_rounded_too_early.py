"""Chapter 04, level 1: by hand, what rounded weights do to an output."""

import torch

from exercises import Clue, Draws, Exercise, Field, change, near


def parameters(seed):
    values = [[1.0, 2.0, 3.0], [2.0, 8.0, 0.0], [2.0, 6.0, 3.0]]
    if seed == 0:
        return {"score_row": [2.0, 4.0, 4.0], "value_rows": values}
    draw = Draws(seed)
    while True:
        scores = [float(draw.integer(0, 5)) for _ in range(3)]
        weights, softer = (torch.softmax(torch.tensor(scores) / c, dim=0) for c in (1, 3**0.5))
        is_off = abs(float(weights.round(decimals=1).sum()) - 1) > 0.05
        if is_off and float((weights - softer).abs().max()) > 0.05:
            break
    return {"score_row": scores, "value_rows": [values[i] for i in draw.order(3)]}


def checks(names, parameters):
    values = torch.tensor(parameters["value_rows"])
    weights = torch.softmax(torch.tensor(parameters["score_row"]), dim=0)
    rounded = weights.round(decimals=1)
    has_sum = near(names.get("rounded_sum"), rounded.sum())
    has_row = near(names.get("rounded_row"), rounded @ values)
    return [
        ("`exact_row` is right to two decimals", near(names.get("exact_row"), weights @ values)),
        # What three rounded weights add up to is 0.9 or 1.1: a guess is right every other time.
        Clue("`rounded_sum` is what the rounded weights add up to", has_sum),
        (
            "`rounded_row` is the output that the rounded weights give, and `rounded_sum` is right",
            has_sum and has_row,
        ),
    ]


EXERCISE = Exercise(
    id="04-rounded-too-early",
    chapter="04",
    title="Rounded too early",
    level=1,
    points=2,
    text="""\
Find what is wrong, and show it: "For easy reading, the weights are rounded to one decimal; then the
output is worked out from them." Here are the scores of one query, `score_row`, which are used
without scaling, and `value_rows`, with a row for each key. Work out `exact_row`, the query's
output with the exact weights. Then round the three weights to one decimal: what do they add up to
(`rounded_sum`), and which output do they give (`rounded_row`)? Give the rows as lists, to two
decimals or more. *Expected: half a page on paper, or four lines in Python.*""",
    starter="exact_row = ...\nrounded_sum = ...\nrounded_row = ...",
    solution="""\
import torch

one_row = torch.softmax(torch.tensor(score_row), dim=0)
exact_row = one_row @ torch.tensor(value_rows)
rounded_sum = one_row.round(decimals=1).sum()
rounded_row = one_row.round(decimals=1) @ torch.tensor(value_rows)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ("dim=0)", "dim=0).round(decimals=1)"),
            ("one_row.round(decimals=1).sum()", "one_row.sum()"),
            ("one_row.round(decimals=1) @", "one_row @"),
            hint=(
                "You used rounded weights for `exact_row`. Round what you show, not what you use."
            ),
            name="rounded-weights",
        ),
        change(
            "one_row.round(decimals=1).sum()",
            "1.0",
            hint="Add the three rounded weights again: here they do not add up to 1.",
        ),
        change(
            "torch.tensor(score_row)",
            "torch.tensor(score_row) / 3**0.5",
            hint="This would be right with √3, but these scores are used without scaling.",
        ),
        change(
            "torch.softmax(torch.tensor(score_row), dim=0)",
            "torch.tensor(score_row) / sum(score_row)",
            hint="You divided the scores by their sum. Softmax first takes exp of each.",
            name="divided-by-sum",
        ),
    ),
    fields=(Field("exact_row"), Field("rounded_sum", places=1), Field("rounded_row", places=1)),
)
