"""Chapter 13, level 1: the gradient of cross-entropy at the scores, for several rows at once."""

import math

import torch

from exercises import Clue, Draws, Exercise, Field, change, has_shape, same


def parameters(seed):
    if seed == 0:
        return {
            # torch's float32 logarithm differs in its last bit between processors.
            "word_scores": torch.tensor([[*map(math.log, row)] for row in ([9, 4, 1], [1, 1, 2])]),
            "right_words": torch.tensor([1, 2]),
        }
    draw, rows, words = Draws(seed), 2 + seed % 2, 4 + seed % 3
    return {
        "word_scores": draw.uniform(rows, words, low=-2.0, high=2.0, places=1),
        "right_words": torch.tensor([draw.integer(0, words) for _ in range(rows)]),
    }


def right(scores, words):
    grad = torch.softmax(scores.double(), dim=-1)
    grad[torch.arange(len(words)), words] -= 1
    return grad / len(words)


def checks(names, parameters):
    (scores, words), answer = parameters.values(), names["grad_scores"]

    def is_right(*cases):
        return all(same(answer(*case), right(*case)) for case in cases)

    return [
        Clue(
            "`grad_scores(scores, right)` is a table like `scores`",
            has_shape(answer(scores, words), scores.shape),
        ),
        ("for one row it is p, minus 1 at the right word", is_right((scores[:1], words[:1]))),
        (
            "for several rows the loss is the mean over the rows",
            is_right((scores, words), (scores.flip(0), words), (scores.flip(1), words)),
        ),
        (
            "scores in the thousands cause no overflow",
            is_right((1000 + scores, words), (scores - 1000, words.flip(0))),
        ),
    ]


EXERCISE = Exercise(
    id="13-p-minus-onehot",
    chapter="13",
    title="What a loss sends back",
    level=1,
    points=1,
    text="""\
Write `grad_scores(scores, right)`, which computes the gradient of the cross-entropy with respect
to `scores`, [N, words]. Row n has a score for each word, the right word of row n is number
`right[n]`, and the loss is the mean over the N rows. It must also work for scores in the thousands.
{% if chapter %}Compare with torch: for the table
`word_scores = torch.tensor([[9.0, 4.0, 1.0], [1.0, 1.0, 2.0]]).log()` and the right words
`torch.tensor([1, 2])`, the gradient's first row is (9, −10, 1)/28.{% else %}Try it with
`grad_scores(word_scores, right_words)`.{% endif %} *Expected: three lines in the function.*""",
    starter="""\
def grad_scores(scores, right):
    return ...""",
    solution="""\
import torch


def grad_scores(scores, right):
    gradient = torch.softmax(scores, dim=-1)
    gradient[torch.arange(len(right)), right] -= 1
    return gradient / len(right)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            " / len(right)",
            "",
            hint="That is the gradient of the sum of the losses. The loss is their mean.",
        ),
        change(
            "return gradient / len(right)",
            "return -gradient / len(right)",
            hint="The signs are reversed: the score of the right word must rise in a step.",
        ),
        change(
            "torch.softmax(scores, dim=-1)",
            "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            hint=(
                "This is right on paper, but exp(1000) is `inf`: use a numerically stable softmax."
            ),
        ),
        change(
            "    gradient[torch.arange(len(right)), right] -= 1\n",
            "",
            hint="Those are the probabilities. Subtract 1 at the right word.",
        ),
        change(
            "torch.softmax(scores, dim=-1)",
            "scores.clone()",
            hint=(
                "You subtracted 1 from the scores. Softmax has to turn them into probabilities "
                "first."
            ),
        ),
        change(
            "dim=-1",
            "dim=0",
            hint="Softmax goes along the words of a row, not along the rows.",
        ),
    ),
    probes=lambda parameters: [
        (torch.zeros(3, 4), torch.tensor([0, 3, 1])),
        (parameters["word_scores"] * 2, parameters["right_words"]),
    ],
    fields=(
        Field(
            "grad_scores(torch.tensor([[3.0, 1.0, 4.0]]).log(), torch.tensor([0]))[0]",
            label="the gradients of a row whose probabilities are 3/8, 1/8 and 4/8, if the first "
            "word is right",
            places=3,
        ),
    ),
)
