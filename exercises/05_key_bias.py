"""Chapter 05, level 1: by hand, what a bias of the keys does to a row of weights."""

import torch

from exercises import Draws, Exercise, Field, change, near


def parameters(seed):
    if seed == 0:
        return {
            "one_query": [1.0, 2.0],
            "three_keys": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            "key_bias": [3.0, -1.0],
        }
    draw = Draws(seed)
    while True:
        query, bias = (draw.integers(-2, 4, 2).tolist() for _ in range(2))
        keys = draw.integers(-1, 3, 3, 2)
        scores = keys @ torch.tensor(query)
        weights, sharper = (torch.softmax(scores / c, dim=0) for c in (2**0.5, 1))
        differ = float((weights - sharper).abs().max()) > 0.05
        shift = query[0] * bias[0] + query[1] * bias[1]
        if differ and shift and sum(bias) not in (0, shift):
            break
    return {
        "one_query": [float(number) for number in query],
        "three_keys": keys.float().tolist(),
        "key_bias": [float(number) for number in bias],
    }


def checks(names, parameters):
    query, keys, bias = (torch.tensor(numbers) for numbers in parameters.values())
    before = torch.softmax(keys @ query / 2**0.5, dim=0)
    return [
        (
            "`scores_with` is right: the scores with the bias",
            near(names.get("scores_with"), (keys + bias) @ query),
        ),
        (
            "`added_to_each` is the one number that the bias adds to every score",
            near(names.get("added_to_each"), bias @ query),
        ),
        ("`weights_with` is right to two decimals", near(names.get("weights_with"), before)),
    ]


EXERCISE = Exercise(
    id="05-key-bias",
    chapter="05",
    title="A parameter that does nothing",
    level=1,
    points=1,
    text="""\
Find what is wrong, and show it: "Training adjusts every parameter, including the bias of the keys."
Here are `one_query`, `three_keys` of two numbers each, and `key_bias`, which is added to every key.
Work out on paper the three scores with the bias, `scores_with`; the number that the bias adds to
each of them, `added_to_each`; and the three weights with the bias and √d_k, `weights_with`, to two
decimals or more. Then work out the weights without the bias, and compare: what has the bias
changed? *Expected: three lines.*""",
    starter="scores_with = ...\nadded_to_each = ...\nweights_with = ...",
    solution="""\
import torch

query_row, key_rows, bias_row = map(torch.tensor, (one_query, three_keys, key_bias))
scores_with = (key_rows + bias_row) @ query_row
added_to_each = bias_row @ query_row
weights_with = torch.softmax(scores_with / 2**0.5, dim=0)
# Without the bias the weights are the same: it has changed all scores by the same number.""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            ("(key_rows + bias_row) @ query_row", "key_rows @ query_row + bias_row.sum()"),
            ("bias_row @ query_row", "bias_row.sum()"),
            hint=(
                "You added the bias to the scores. It belongs to the keys, so it is multiplied by "
                "the query, too."
            ),
        ),
        change(
            "scores_with / 2**0.5",
            "scores_with",
            hint="The scores are right. Before softmax, divide them by √d_k, where d_k is 2.",
            name="no-scale",
        ),
        change(
            ("(key_rows + bias_row) @ query_row", "key_rows @ query_row"),
            ("bias_row @ query_row", "0.0"),
            hint="The *weights* do not change, and yours are right. But the scores do change.",
        ),
    ),
    fields=(
        Field("scores_with", places=0),
        Field("added_to_each", places=0),
        Field("weights_with", places=3),
    ),
)
