"""Chapter 01, level 2: how much of each word is left in a memory with a fixed rule."""

import torch

from exercises import Clue, Draws, Exercise, Field, Mistake, has_shape, in_shape, same


def parameters(seed):
    if seed == 0:
        words = [[8.0, 0.0], [0.0, 4.0], [4.0, 8.0]]
        return {"words": torch.tensor(words), "keep": 0.5}
    words = Draws(seed).uniform(3 + seed % 4, 2, high=8.0)
    return {"words": words, "keep": 0.5 + 0.1 * (seed % 4)}


def checks(names, parameters):
    words, keep, answer = parameters["words"], parameters["keep"], names["shares"]
    n = len(words)
    got, five, three = in_shape(answer(n, keep), (n,)), answer(5, 0.9), answer(3, 0.5)
    shaped = got is not None
    memory = torch.zeros(2)
    for word in words:
        memory = keep * memory + (1 - keep) * word
    return [
        Clue("`shares(n, keep)` has a number for each of the n words", shaped),
        ("the last word has the share 1 − keep", shaped and same(got[-1], 1 - keep)),
        (
            "each word has a share, `keep` times that of the word after it",
            shaped and bool(got.all()) and same(got[:-1], keep * got[1:]),
        ),
        (
            "the words mixed in these shares give the encoder's final memory",
            shaped and same(got @ words.double(), memory),
        ),
        (
            "after 5 words with keep = 0.9 the first word's share is 0.1 · 0.9⁴, "
            "after 3 with keep = 0.5 it is 0.5³",
            has_shape(five, (5,))
            and has_shape(three, (3,))
            and same(in_shape(five, (5,))[0], 0.1 * 0.9**4)
            and same(in_shape(three, (3,))[0], 0.5**3),
        ),
    ]


EXERCISE = Exercise(
    id="01-shares",
    chapter="01",
    title="What is left of a word",
    level=2,
    points=2,
    text=(
        "After each word, an encoder sets memory = keep · memory + (1 − keep) · "
        "word. Here keep = {{ keep }}. Write `shares(n, keep)`, which returns a tensor with "
        "the share of each of n words, first to last, in the final memory. Then find out how "
        "much of the first of 30 words is left with keep = 0.5, and with keep = 0.9. "
        "*Expected: one or two lines in the function. How many times has word number t been "
        "multiplied by keep?*"
    ),
    starter="""\
def shares(n, keep):
    return ...""",
    solution="""\
import torch


def shares(n, keep):
    words_after = torch.arange(n - 1, -1, -1)
    return (1 - keep) * keep**words_after


# Of the first of 30 words, 0.0000000009 is left with keep = 0.5, and 0.0047 with keep = 0.9.""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
import torch


def shares(n, keep):
    return (1 - keep) * keep ** torch.arange(n)""",
            "These are in reverse order: the *last* word was multiplied by keep the fewest times.",
        ),
        Mistake(
            """\
import torch


def shares(n, keep):
    return keep ** torch.arange(n, 0, -1)""",
            (
                "This is right only for keep = 0.5. A word comes in with a share of 1 − keep, "
                "not keep."
            ),
        ),
        Mistake(
            """\
import torch


def shares(n, keep):
    left = keep ** torch.arange(n - 1, -1, -1)
    return left / left.sum()""",
            (
                "The shares of a few words do not add up to 1. The rest is the share of the "
                "zeros that the memory began with."
            ),
        ),
    ),
    probes=lambda parameters: [(1, 0.5), (4, 0.25)],
    fields=(
        Field("shares(4, 0.9)", places=3),
        Field("shares(30, 0.9)[0]", places=4),
    ),
)
