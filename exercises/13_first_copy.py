"""Chapter 13, level 2: the first step of a film at which a head copies."""

import torch

from exercises import Clue, Draws, Exercise, change, whole

LETTERS = "ABCDEFGH"


def parameters(seed):
    draw = Draws(seed)
    segment = draw.integer(3, 5)
    order = draw.order(8)[:segment]
    letters = "".join(LETTERS[order[n % segment]] for n in range(2 * segment))
    first = draw.integer(4, 6)
    frames = [one_map(draw, letters, segment, kind_of(n, first)) for n in range(6)]
    every = draw.choice((10, 20, 50))
    return {
        "film": torch.stack(frames),
        "steps": [every * n for n in range(6)],
        "letters": letters,
    }


def kind_of(n, first):
    """At first nothing, then the letter before, the letter itself, one row of all, all rows."""
    if n >= first:
        return "copies"
    return "one" if n == first - 1 else ("even", "before", "itself")[min(n, 2)]


def one_map(draw, letters, segment, kind):
    """A causal map whose rows sum to 1; the largest weight of each is clear."""
    T = len(letters)
    scores = draw.uniform(T, T, low=0.0, high=0.5).double()
    rows = range(segment, T) if kind == "copies" else range(T - 1, T) if kind == "one" else ()
    for row in range(1, T):
        if row in rows:
            scores[row, row - segment + 1] += 2
        elif kind == "itself" and row >= segment:
            scores[row, row - segment] += 2
        elif kind == "even":
            scores[row, 0] += 1
        else:
            scores[row, row - 1] += 1
    if kind == "one":  # the last row copies, the one before it looks at its own letter
        scores[T - 2, T - 2 - segment] += 2
    keep = torch.ones(T, T).tril().bool()
    return torch.softmax(scores.masked_fill(~keep, -torch.inf), dim=-1).float()


def right(film, steps, letters):
    for step, weights in zip(steps, film, strict=True):
        rows = []
        for row, letter in enumerate(letters):
            after = [place + 1 for place in range(row) if letters[place] == letter]
            if after:
                rows.append(int(weights[row].argmax()) in after)
        if all(rows):
            return step
    return None


def checks(names, parameters):
    film, steps, letters = parameters.values()
    answer = names["first_copy"]
    wanted = right(film, steps, letters)
    place = steps.index(wanted)

    def is_right(*cases):
        return all(whole(answer(*case)) == right(*case) for case in cases)

    later = [step + 1000 for step in steps]
    return [
        Clue("the function returns one of the steps", whole(answer(film, steps, letters)) in steps),
        (
            "it is the first step at which all repeated letters are copied",
            is_right((film, steps, letters), (film[1:], later[1:], letters)),
        ),
        (
            "it is also right if the frame of that step is removed, or comes first",
            is_right(
                (
                    torch.cat([film[:place], film[place + 1 :], film[-1:]]),
                    [*steps[:place], *steps[place + 1 :], 999],
                    letters,
                ),
                (film[place:], steps[place:], letters),
            ),
        ),
    ]


EXERCISE = Exercise(
    id="13-first-copy",
    chapter="13",
    title="Which step first copies?",
    level=2,
    points=2,
    text="""\
Write `first_copy(film, steps, letters)`. `film` [frames, T, T] has the map of one head at each of
the `steps`, and `letters` is the text that it reads. A row is a repeat if its letter has occurred
before. A repeat *copies* if its largest weight is on a letter that came right after an earlier
occurrence of its own letter. Return the first step at which every repeat copies. There is such a
step.
{% if chapter %}Try it with
`first_copy(torch.stack([frames[step][1] for step in frames]), list(frames), text)`, where `text` is
`"".join(task.vocabulary[i] for i in longest.ids[0].tolist())`. {% else %}Try it with
`first_copy(film, steps, letters)`. {% endif %}*Expected: eight lines in the function.
`letters[place]` is a letter of the text.*""",
    starter="""\
def first_copy(film, steps, letters):
    return ...""",
    solution="""\
def first_copy(film, steps, letters):
    for step, weights in zip(steps, film):
        copies = []
        for row, letter in enumerate(letters):
            after = [place + 1 for place in range(row) if letters[place] == letter]
            if after:
                copies.append(int(weights[row].argmax()) in after)
        if all(copies):
            return step""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "[place + 1 for",
            "[place for",
            hint="That head finds the letter itself. To copy, look at what came *after* it.",
        ),
        change(
            "if all(copies)",
            "if any(copies)",
            hint="One row that copies is not enough: the row of each repeated letter must copy.",
        ),
        change(
            "    for step, weights in zip(steps, film):",
            "    for step, weights in enumerate(film):",
            hint="You returned the number of the frame, not its step.",
        ),
        change(
            "[place + 1 for place in range(row) if letters[place] == letter]",
            "[row - 1] if letter in letters[:row] else []",
            hint="You looked for a head that looks at the previous letter.",
        ),
    ),
    probes=lambda parameters: [
        (parameters["film"][-2:], parameters["steps"][-2:], parameters["letters"]),
        (parameters["film"][3:], [7, 8, 9], parameters["letters"]),
    ],
)
