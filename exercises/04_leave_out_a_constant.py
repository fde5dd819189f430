"""A constant that may be left out, and one that may not."""

import torch

from exercises import Clue, Exercise, Mistake, numbers


def parameters(seed):
    return {"d_k": (5, 3, 4, 8, 16, 6)[seed % 6]}


def scores(value):
    """The reader's row of scores, or None if it is none."""
    got = numbers(value)
    if got is not None and got.ndim == 2 and len(got) == 1:
        got = got[0]
    is_row = got is not None and got.ndim == 1 and len(got) and got.isfinite().all()
    return got if is_row else None


def checks(names, parameters):
    root = parameters["d_k"] ** 0.5
    row, other = scores(names.get("row")), scores(names.get("other_row"))
    given = row is not None
    both = given and other is not None and other.shape == row.shape
    with_root = given and bool(torch.softmax(row / root, dim=-1).max() < 0.5)
    without = given and bool(torch.softmax(row, dim=-1).max() > 0.9)
    return [
        Clue("with √d_k the largest weight of `row` is below 0.5", with_root),
        Clue("without √d_k it is above 0.9", without),
        ("`row` does both at once", with_root and without),
        (
            "`other_row` has different numbers but the same weights, with √d_k and without it; "
            "in each of the two rows the numbers are not all equal",
            both
            and not torch.allclose(row, other)
            and bool((row - row[0]).any())
            and all(
                torch.allclose(torch.softmax(row / c, -1), torch.softmax(other / c, -1))
                for c in (1, root)
            ),
        ),
    ]


EXERCISE = Exercise(
    id="04-leave-out-a-constant",
    chapter="04",
    title="Find what is wrong, and show it",
    level=2,
    points=2,
    text="""\
"Leave √d_k aside for now, it is a constant." Show with numbers that this constant can change
everything: find a `row` of scores whose largest weight is below 0.5 with √d_k and above 0.9
without it. (How many keys do you need? Three are too few.) Then show what you may leave out: find
`other_row`, different scores that give the same weights as `row`, with √d_k and without it.
{% if chapter %}In the chapter{% else %}Here{% endif %} `d_k` is {{ d_k }}. *Expected: two
lines.*""",
    starter="row = ...\nother_row = ...",
    solution="""\
import torch

row = torch.tensor([7.0] + [0.0] * 99)
other_row = row + 1
# If d_k is 5, seven keys are enough: row = [4.0] + [0.0] * 6, other_row = [5.0] + [1.0] * 6.
# Six are not. Call the large exp 1: without √d_k the five small ones add up to less than 1/9.
# With √d_k each is raised to the power 1/√5. Their sum is then largest if all five are equal:
# 5 * (1/45) ** (1/√5), about 0.91. But a largest weight below 0.5 needs a sum above 1.""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
row = [1.5, 0.0, 0.0]
other_row = [2.5, 1.0, 1.0]""",
            "No row of three keys can do this. Let the large score compete with many small ones.",
        ),
        Mistake(
            """\
import torch

row = torch.tensor([7.0] + [0.0] * 99)
other_row = 2 * row""",
            "Doubling the scores doubles the differences. What leaves the differences unchanged?",
        ),
        Mistake(
            """\
import torch

row = torch.tensor([7.0] + [0.0] * 99)
other_row = row / d_k**0.5""",
            "This is exactly the constant that you may not leave out: the weights change.",
        ),
    ),
)
