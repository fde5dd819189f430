"""Chapter 01, level 1: by hand, how far each word moves the memory that a sentence ends in."""

from exercises import Draws, Exercise, Field, Mistake, change, near


def parameters(seed):
    if seed == 0:
        return {"n_words": 3, "kept_share": 0.8}
    draw = Draws(seed)
    return {"n_words": draw.integer(3, 8), "kept_share": draw.integer(11, 20) / 20}


def checks(names, parameters):
    n, kept = parameters["n_words"], parameters["kept_share"]
    return [
        ("`by_last` is right", near(names.get("by_last"), 1 - kept, places=3)),
        (
            "`by_first` is right",
            near(names.get("by_first"), (1 - kept) * kept ** (n - 1), places=3),
        ),
    ]


EXERCISE = Exercise(
    id="01-same-influence",
    chapter="01",
    title="The same influence?",
    level=1,
    points=1,
    text="""\
Find what is wrong, and show it: "All words go into the same vector c, so each word has the same
influence on it." An encoder reads `n_words` words. After each one, memory = `kept_share` · memory +
(1 − `kept_share`) · word. If one number of the *last* word grows by 1, by how much does that number
of the final memory grow (`by_last`)? And if the number belongs to the *first* word (`by_first`)?
Give both to three decimals or more. *Expected: two lines, on paper or in Python.*""",
    starter="by_last = ...\nby_first = ...",
    solution="""\
by_last = 1 - kept_share
by_first = (1 - kept_share) * kept_share ** (n_words - 1)""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        Mistake(
            """\
by_last = 1 / n_words
by_first = 1 / n_words""",
            "That would be an average, in which all words count the same. This encoder forgets.",
        ),
        change(
            "(1 - kept_share) * ",
            "",
            hint="The first word, too, came in with a share of only 1 − kept_share.",
        ),
        change(
            "kept_share ** (n_words - 1)",
            "kept_share**n_words",
            hint=(
                "You multiplied once too often: n_words − 1 other words come after the first, "
                "not n_words."
            ),
        ),
        change(
            ("by_last", "by_first"),
            ("by_first", "by_last"),
            hint="It is the other way round: the word that came last has been forgotten least.",
        ),
    ),
    fields=(Field("by_last", places=3), Field("by_first", places=3)),
)
