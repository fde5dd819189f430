"""Chapter 10, level 2: the first station from which on a row says the right word."""

import torch

from exercises import Clue, Draws, Exercise, change, whole


def parameters(seed):
    """Rows of which row 0 says the word by chance, loses it, and a later one has it for good."""
    draw = Draws(seed)
    count, words, width = draw.integer(5, 8), draw.integer(3, 6), draw.integer(2, 5)
    first = draw.integer(2, count - 1)
    while True:
        score, word = draw.integers(-3, 4, words, width).double(), draw.integer(0, words)
        drawn = [one_row(draw, score, word, n == 0 or n >= first) for n in range(count)]
        rows = [row for row in drawn if row is not None]
        if len(rows) == count:
            return {"rows": torch.stack(rows), "score": score, "word": word}


def one_row(draw, score, word, says):
    """A row that says the word or does not, and leaves no doubt; None if none was found."""
    for _ in range(200):
        row = draw.integers(-4, 5, score.shape[1]).double()
        top = (score @ row).sort(descending=True).values
        if top[0] > top[1] and (int((score @ row).argmax()) == word) == says:
            return row
    return None


def right(rows, score, word):
    says = [int((score @ row).argmax()) == word for row in rows]
    return next((n for n in range(len(rows)) if all(says[n:])), None)


def checks(names, parameters):
    rows, score, word = (parameters[name] for name in ("rows", "score", "word"))
    first = names["first_to_know"]
    wanted = right(rows, score, word)
    is_right = whole(first(rows, score, word)) == wanted
    later = torch.cat([rows[1:wanted], rows[wanted + 1 :]])
    return [
        Clue(
            "the function returns the number of a row",
            whole(first(rows, score, word)) in range(len(rows)),
        ),
        ("every row from that one on says the word, and the row before it does not", is_right),
        (
            "it is also right without the first row, and without the row that it returned",
            whole(first(later, score, word)) == right(later, score, word),
        ),
        (
            "it returns None if the last row does not say the word",
            is_right and first(rows[:2], score, word) is None,
        ),
    ]


EXERCISE = Exercise(
    id="10-first-to-know",
    chapter="10",
    title="The first to know",
    level=2,
    points=2,
    text="""\
Write `first_to_know(rows, score, word)`. `rows`, [stations, width], holds one row of numbers for
each station of a model, in the model's order; `score` is the last matrix, [words, width]; `word` is
the number of a word. A row *says* the word whose score, `score @ row`, is highest. Return the
number, counted from 0, of the first row such that it and **every** row after it say `word`, or None
if the last row does not say it. (If a row says it by chance and a later row loses it again, the
earlier row does not know it yet.) {% if chapter %}Try it on the decoder's rows of this chapter:
`torch.stack([done.value(name)[0, 1] for name in stops])`, the matrix
`model.words_out.weight.detach()` and `CHINESE.index("追逐")`. {% endif %}*Expected: seven lines in
the function.*""",
    starter="def first_to_know(rows, score, word):\n    return ...",
    solution="""\
def first_to_know(rows, score, word):
    known = None
    for n, row in enumerate(rows):
        says = int((score @ row).argmax())
        if says != word:
            known = None
        elif known is None:
            known = n
    return known""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            """        if says != word:
            known = None
        elif known is None:""",
            "        if says == word and known is None:",
            hint="That row said the word by chance: a later one has lost it again.",
        ),
        change(
            "        elif known is None:",
            "        else:",
            hint="You return the last row that says the word. Return the first.",
        ),
        change(
            "            known = None\n        elif",
            "            known = n\n        elif",
            hint="You return the last row that says another word. Return the row after it.",
        ),
        change(
            "    return known",
            "    return n if known is None else known",
            hint="If the last row does not say the word, no row knows it: return None.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["rows"], parameters["score"], n) for n in range(len(parameters["score"]))
    ],
)
