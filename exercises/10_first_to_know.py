"""Chapter 10, level 2: the first station from which on a row says the right word."""

import torch

from exercises import Clue, Draws, Exercise, change


def parameters(seed):
    draw = Draws(seed)
    words, width = 3 + draw.integer(0, 3), 2 + draw.integer(0, 3)
    stations = [f"station {n}" for n in range(draw.integer(5, 8))]
    first = draw.integer(2, len(stations) - 1)
    score = draw.integers(-3, 4, words, width).double()
    while True:
        word, rows = draw.integer(0, words), {}
        for n, name in enumerate(stations):
            # Right by chance at station 0, lost again, and right for good from `first` on.
            wanted = n == 0 or n >= first
            for _ in range(200):
                row = draw.integers(-4, 5, width).double()
                top = (score @ row).sort(descending=True).values
                if top[0] > top[1] and (int((score @ row).argmax()) == word) == wanted:
                    rows[name] = row
                    break
        if len(rows) == len(stations):
            return {"rows": rows, "score": score, "word": word}
        score = draw.integers(-3, 4, words, width).double()


def right(rows, score, word):
    says = [int((score @ row).argmax()) == word for row in rows.values()]
    for n, name in enumerate(rows):
        if all(says[n:]):
            return name
    return None


def checks(names, parameters):
    rows, score, word = (parameters[name] for name in ("rows", "score", "word"))
    first = names["first_to_know"]
    wanted = right(rows, score, word)
    later = {name: row for name, row in rows.items() if name != wanted}
    never = dict(list(rows.items())[:2])
    return [
        Clue("`first_to_know` gives the name of a station", first(rows, score, word) in rows),
        ("it is the first from which on every row says the word", first(rows, score, word) == wanted),
        (
            "without that station it is the next one",
            first(later, score, word) == right(later, score, word),
        ),
        (
            "None where the last row does not say the word",
            first(rows, score, word) == wanted and first(never, score, word) is None,
        ),
    ]


EXERCISE = Exercise(
    id="10-first-to-know",
    chapter="10",
    title="The first to know",
    level=2,
    points=2,
    text="""\
Write `first_to_know(rows, score, word)`. `rows` holds a row of numbers for each station of a
model, by its name and in the model's order; `score` is the last matrix, [words, width]; `word` is
the number of a word. A row *says* the word whose score is highest. Give the name of the first
station from which on **every** row says `word`, and None if the last one does not. (A row that
says it by chance and loses it again does not know it yet.) {% if chapter %}Try it on the decoder's
rows of the chapter: `{name: done.value(name)[0, 1] for name in stops}`, the matrix
`model.words_out.weight.detach()` and `CHINESE.index("追逐")`. {% endif %}*Expected: five lines in
the function.*""",
    starter="def first_to_know(rows, score, word):\n    return ...",
    solution="""\
def first_to_know(rows, score, word):
    known = None
    for name, row in rows.items():
        says = int((score @ row).argmax())
        if says != word:
            known = None
        elif known is None:
            known = name
    return known""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            """        if says != word:
            known = None
        elif known is None:""",
            "        if says == word and known is None:",
            hint="That station said the word by chance: a later one has lost it again.",
        ),
        change(
            "        elif known is None:",
            "        else:",
            hint="You give the last station that says the word. Asked for is the first.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["rows"], parameters["score"], n) for n in range(len(parameters["score"]))
    ],
)
