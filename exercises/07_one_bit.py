"""Chapter 07, level 3: whether one weight survives, from its place and the seed."""

from itertools import product

from attn_core import Dropout
from exercises import Exercise, Field, change, truth


def parameters(seed):
    return {"p": (0.5, 0.4, 0.3, 0.7)[seed % 4], "seed": 7 + 1000 * (seed % 2**40)}


def checks(names, parameters):
    answer = names["survives_at"]

    def agrees(p, seed, batches, heads, rows, cols):
        wanted = Dropout(p, seed).survives(batches, heads, rows, cols).flatten().tolist()

        def is_right(place, survives):
            return truth(answer(p, seed, *place)) is survives

        return all(map(is_right, product(batches, heads, rows, cols), wanted))

    p, seed, first, later = parameters["p"], parameters["seed"], range(1), range(1, 3)
    return [
        (
            "the first eight columns of the first row agree with the library",
            agrees(p, seed, first, first, first, range(8)),
        ),
        ("five columns of two more rows agree", agrees(p, seed, first, first, later, range(5))),
        ("other heads agree", agrees(p, seed, first, later, first, range(6))),
        ("other sequences of a batch agree", agrees(p, seed, later, first, first, range(6))),
        (
            "the bits agree for a seed above 2**32",
            agrees(0.5, 2**40 + 3, first, first, range(2), range(8)),
        ),
    ]


EXERCISE = Exercise(
    id="07-one-bit",
    chapter="07",
    title="One bit",
    level=3,
    points=3,
    text="""\
Write `survives_at(p, seed, batch, head, row, column)`, which says whether one weight survives, by
the library's rule: use the words that `philox` returns, as the library's `Dropout` does.
`philox`{% if not chapter %}, from attn_core.dropout,{% endif %} takes a tuple of four tensors, such
as `torch.tensor(5)`, and a tuple of two whole numbers. Try it {% if chapter %}on the weights worked
out above{% else %}with `survives_at(p, seed, 0, 0, 0, 3)` {%- endif %}. *Expected: three or four
lines in the function. For the key, remember that a seed can be larger than a word.*""",
    starter="""\
def survives_at(p, seed, batch, head, row, column):
    return ...""",
    solution="""\
import math

import torch

from attn_core.dropout import philox


def survives_at(p, seed, batch, head, row, column):
    counter = tuple(torch.tensor(word) for word in (column // 4, row, head, batch))
    words = philox(counter, (seed % 2**32, seed // 2**32))
    return bool(words[column % 4] >= math.floor(p * 2**32))""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "words[column % 4] >=",
            "words[column % 4] <",
            hint="This is the wrong way round: below the threshold, a weight is dropped.",
        ),
        change(
            ("column // 4", "column"),
            ("words[column % 4]", "words[0]"),
            hint=(
                "These are random bits, but not the right ones: four columns share one counter, "
                "column // 4, and take one word each."
            ),
        ),
        change(
            "(column // 4, row, head, batch)",
            "(batch, head, row, column // 4)",
            hint="The four words of the counter are in this order: column // 4, row, head, batch.",
        ),
        change(
            "seed // 2**32",
            "0",
            hint=(
                "This is right for small seeds. The part of the seed beyond 32 bits is the "
                "second word of the key."
            ),
        ),
    ),
    probes=lambda parameters: [(0.25, parameters["seed"], 3, 5, 11, 17), (0.0, 1, 0, 0, 0, 1)],
    fields=(Field("[int(survives_at(0.5, 7, 0, 0, 5, j)) for j in range(8)]", places=0),),
)
