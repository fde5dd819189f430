"""Chapter 10, level 1: by hand, which share of a row came from where."""

import torch

from exercises import Draws, Exercise, Field, change, near, number


def parameters(seed):
    if seed == 0:
        return {"word": [2.0, 0.0, 1.0], "added": [1.0, -1.0, 1.0]}
    draw = Draws(seed)
    while True:
        word, added = (draw.integers(-3, 4, 3).double() for _ in range(2))
        if tells(word, added):
            return {"word": word.tolist(), "added": added.tolist()}


def tells(word, added):
    """Whether the share of the word is none of what a slip makes of it."""
    row = word + added
    whole, own, product = (float(n) for n in (row @ row, word @ word, word @ row))
    if not (whole and own and product):
        return False
    sums = float(word.sum() / row.sum().clamp(min=1))
    said = [product / whole, sums, own / whole, product / (own * whole) ** 0.5, product / own, 0.5]
    return all(abs(a - b) > 0.05 for n, a in enumerate(said) for b in said[:n])


def checks(names, parameters):
    word, added = (torch.tensor(numbers, dtype=torch.float64) for numbers in parameters.values())
    row = word + added
    shares = [float(part @ row / (row @ row)) for part in (word, added)]
    got = [number(names.get(name)) for name in ("share_of_word", "share_of_added")]
    return [
        ("`share_of_word` is right to two decimals", near(got[0], shares[0])),
        ("`share_of_added` is right to two decimals", near(got[1], shares[1])),
    ]


EXERCISE = Exercise(
    id="10-shares-of-a-row",
    chapter="10",
    title="Shares of a row",
    level=1,
    points=1,
    text="""\
A residual connection adds `added` = {{ added }}, the output of a sublayer, to `word` = {{ word }},
its input. What share of the sum came from the word, and what share from the sublayer? Give
`share_of_word` and `share_of_added` to two decimals or more{% if chapter %}, as in the
chapter{% endif %}: the dot product of each part with the sum, divided by that of the sum with
itself. *Expected: three lines, or a minute on paper.*""",
    starter="share_of_word = ...\nshare_of_added = ...",
    solution="""\
import torch

row = torch.tensor(word) + torch.tensor(added)
share_of_word = (torch.tensor(word) @ row / (row @ row)).item()
share_of_added = (torch.tensor(added) @ row / (row @ row)).item()""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "torch.tensor(word) @ row / (row @ row)",
            "torch.tensor(word).sum() / row.sum().clamp(min=1)",
            hint="Sums of numbers say nothing about a direction: take dot products with the sum.",
        ),
        change(
            "torch.tensor(word) @ row / (row @ row)",
            "torch.tensor(word) @ torch.tensor(word) / (row @ row)",
            hint="You took the word's product with itself. The share is its product with the sum.",
        ),
        change(
            "torch.tensor(word) @ row / (row @ row)",
            "torch.cosine_similarity(torch.tensor(word), row, dim=0)",
            hint="That is the cosine. A share is divided by the sum's product with itself.",
        ),
        change(
            "torch.tensor(word) @ row / (row @ row)",
            "torch.tensor(word) @ row / (torch.tensor(word) @ torch.tensor(word))",
            hint=(
                "You divided by the word's product with itself. Divide by the sum's product with "
                "itself."
            ),
        ),
    ),
    fields=(Field("share_of_word"), Field("share_of_added")),
)
