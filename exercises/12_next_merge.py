"""Chapter 12, level 1: the pair of pieces that byte-pair encoding merges next."""

from itertools import pairwise

from exercises import Clue, Draws, Exercise, Field, Mistake, change, listed

# The chapter's words after their first merge.
MERGED = {
    ("t", "o", "m"): 5,
    ("t", "o", "m", "s"): 2,
    ("c", "at"): 6,
    ("c", "at", "s"): 3,
    ("m", "at"): 1,
}
OCCURS = (
    "(lambda words: sum(n * [*zip(w, w[1:])].count(tuple(next_merge(words)))"
    " for w, n in words.items()))"
)


def parameters(seed):
    if seed == 0:
        words = {"tom": 5, "toms": 2, "cat": 6, "cats": 3, "mat": 1}
        return {"words": {tuple(word): count for word, count in words.items()}}
    draw, words = Draws(seed), {}
    while len(words) < 5 or len({*counted(words).values()}) < 3:
        letters = [draw.choice("aeclst") for _ in range(draw.integer(2, 6))]
        words[tuple(letters)] = draw.integer(1, 10)
    return {"words": words}


def counted(words):
    counts = {}
    for pieces, count in words.items():
        for pair in pairwise(pieces):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def right(words):
    counts = counted(words)
    return [*max(counts, key=counts.get)]


def checks(names, parameters):
    words, answer = parameters["words"], names["next_merge"]

    def is_right(*cases):
        return all(listed(answer(case)) == right(case) for case in cases)

    pair = listed(answer(words))
    spelled = {("n", "o"): 3, ("g", "o"): 4, ("g", "o", "t"): 2}
    repeated = {("n", "a", "n", "a"): 2, ("t", "o"): 3}
    tied = {("u", "p"): 2, ("b", "y"): 2, ("a", "t"): 1}
    return [
        Clue(
            "`next_merge(words)` is a pair of neighbours",
            isinstance(pair, list) and pair in [[*known] for known in counted(words)],
        ),
        ("a pair counts as often as its words occur", is_right(words, spelled)),
        (
            "a pair that occurs twice in a word counts twice",
            is_right(repeated, {**repeated, **spelled}),
        ),
        (
            "of equally frequent pairs it is the first",
            is_right(tied, dict(reversed(tied.items()))),
        ),
        ("pieces of several letters are merged, too", is_right(MERGED, {("t", "he"): 2})),
    ]


EXERCISE = Exercise(
    id="12-next-merge",
    chapter="12",
    title="The next merge",
    level=1,
    points=1,
    text="""\
Write `next_merge(words)`, which returns the two neighbouring pieces that byte-pair encoding merges
next, the most frequent pair. `words` is a dict whose keys are the pieces of each word, and whose
values say how often the word occurs {%- if chapter %}; the toy text from above is one{% endif %}.
If several pairs are equally frequent, take the first one in `words`. Try it with
`next_merge(words)`. *Expected: five lines in the function. `zip(pieces, pieces[1:])` gives the
neighbours in a word.*""",
    starter="""\
def next_merge(words):
    return ...""",
    solution="""\
from collections import Counter


def next_merge(words):
    counts = Counter()
    for pieces, count in words.items():
        for pair in zip(pieces, pieces[1:]):
            counts[pair] += count
    return max(counts, key=counts.get)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "+= count",
            "+= 1",
            hint="You counted each word once. Its pairs occur as often as the word does.",
        ),
        change(
            "in zip(pieces, pieces[1:])",
            "in set(zip(pieces, pieces[1:]))",
            hint="A word can have the same pair twice. Both places count.",
        ),
        change(
            "max(counts, key=counts.get)",
            "max(reversed(counts), key=counts.get)",
            hint="Of several equally frequent pairs you took the last one. Take the first.",
        ),
        change(
            "zip(pieces, pieces[1:])",
            'zip("".join(pieces), "".join(pieces)[1:])',
            hint="You split the words into letters again. Merged letters stay one piece.",
        ),
        Mistake(
            """\
from collections import Counter


def next_merge(words):
    counts = Counter()
    for pieces, count in words.items():
        for piece in pieces:
            counts[piece] += count
    return tuple(piece for piece, _ in counts.most_common(2))""",
            "These are the two most frequent pieces. They need not be neighbours: count pairs.",
        ),
    ),
    probes=lambda parameters: [
        ({("a", "b"): 1},),
        ({pieces[::-1]: count for pieces, count in parameters["words"].items()},),
    ],
    fields=(
        Field(
            f"{OCCURS}(words)",
            label="how often the first pair to be merged occurs",
            places=0,
        ),
        Field(
            f"{OCCURS}({MERGED})",
            label="how often the second pair occurs, after the first merge",
            places=0,
        ),
    ),
)
