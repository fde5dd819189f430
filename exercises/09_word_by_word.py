"""Chapter 09, level 3: writing word by word, from scores for the next word."""

import torch

from exercises import Draws, Exercise, Handed, change, same

DECODER = """\
import torch


def decoder(table, most):
    steps = 0

    def decode(ids):
        nonlocal steps
        steps += 1
        if steps > most:
            raise RuntimeError("it does not stop")
        ids = torch.as_tensor(ids)
        mix = (ids.cumsum(0) + torch.arange(len(ids))) % len(table)
        scores = table[mix].clone()
        scores[:, 0] = -1.0  # the start mark is never written
        return scores

    return decode
"""


def decoder(table):
    """Scores after each word, from the word, how many there are, and the sum of all so far."""
    return Handed(DECODER, "decoder", table, 200)


def parameters(seed):
    draw = Draws(seed)
    table = draw.uniform(9, 9, places=3)
    # One word again and again hides a mistake.
    while len(set(written(decoder(table), 0, -1, 6))) < 3 or repeats(table):
        table = draw.uniform(9, 9, places=3)
    return {"table": table}


def repeats(table):
    """True if the first word, read alone, is followed by itself."""
    (first,) = written(decoder(table), 0, -1, 1)
    return written(decoder(table), first, -1, 1) == [first]


def written(decode, start, end, longest):
    ids = [start]
    while len(ids) <= longest and (len(ids) == 1 or ids[-1] != end):
        ids.append(int(decode(torch.tensor(ids))[-1].argmax()))
    return ids[1:]


def checks(names, parameters):
    table = parameters["table"]
    decode = decoder(table)
    # An end mark that comes soon, and one that never comes.
    soon, never = written(decode, 0, -1, 3)[-1], len(table)

    def writes(end, longest):
        return same(
            names["write"](decoder(table), 0, end, longest), written(decode, 0, end, longest)
        )

    return [
        ("the first word is the most likely one after the start mark", writes(never, 1)),
        (
            "the function stops at the end mark, which is the last word of the list",
            writes(soon, 20),
        ),
        ("without an end mark it stops at `longest` words", writes(never, 6)),
    ]


EXERCISE = Exercise(
    id="09-word-by-word",
    chapter="09",
    title="Word by word",
    level=3,
    points=3,
    text=(
        "Write `write(decode, start, end, longest)`. `decode(ids)` takes the ids so far, a "
        "tensor that begins with `start`, and returns a row of scores *for each of them*: "
        "row i has the scores for the word after word i. Return the list of ids that were "
        "written, without `start`. Stop after `end`, which is then the last id in the list, or "
        "after `longest` words. Try it: {% if chapter %}`decode = lambda ids: "
        "model.decode(ids[None], memory)[0]`, then `write(decode, 1, 2, 20)` should give the "
        "ids of 汤姆 追逐 杰瑞 and the end mark, `[3, 17, 4, 2]`{% else %}`lambda ids: "
        "torch.eye(30)[ids + 1]` gives the highest score, after each word, to the word with the "
        "next number; so `write(lambda ids: torch.eye(30)[ids + 1], 1, 4, 20)` should give "
        "`[2, 3, 4]`{% endif %}. *Expected: six lines in the function.*"
    ),
    starter="""\
def write(decode, start, end, longest):
    return ...""",
    solution="""\
import torch


def write(decode, start, end, longest):
    ids = [start]
    while len(ids) <= longest:
        scores = decode(torch.tensor(ids))
        ids.append(int(scores[-1].argmax()))
        if ids[-1] == end:
            break
    return ids[1:]""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "torch.tensor(ids)",
            "torch.tensor(ids[-1:])",
            hint=(
                "You gave the decoder only the last word. It keeps nothing between calls, so "
                "each time it needs all the words so far."
            ),
        ),
        change(
            "scores[-1]",
            "scores[0]",
            hint=(
                "Row 0 always has the scores for the word after the start mark. Take the last "
                "row, which belongs to the newest word."
            ),
        ),
        change(
            "        if ids[-1] == end:\n            break\n",
            "",
            hint="Your loop does not stop at the end mark.",
        ),
        change(
            "len(ids) <= longest",
            "ids[-1] != end",
            hint="A decoder may never choose the end mark. So stop after `longest` words, too.",
        ),
    ),
    probes=lambda parameters: [(decoder(parameters["table"]), 2, len(parameters["table"]), 9)],
)
